#include <gtest/gtest.h>

#include "operations.h"

namespace intarsia::test::ethos_u {
namespace {

__extension__ typedef __int128 Wide;

Wide floor_divide(Wide value, Wide by) {
  const Wide quotient = value / by;
  return quotient * by > value ? quotient - 1 : quotient;
}
Wide nearest_half_up(Wide value, Wide by) {
  return floor_divide(2 * value + by, 2 * by);
}
Wide nearest_half_away(Wide value, Wide by) {
  return value < 0 ? -nearest_half_up(-value, by) : nearest_half_up(value, by);
}

}  // namespace

int64_t plain_scale(int64_t value, const sim::Scale& scale, sim::Rounding rounding) {
  const Wide product = Wide{value} * scale.multiplier;
  const Wide whole = Wide{1} << scale.shift;
  switch (rounding) {
    case sim::Rounding::Natural:
      return static_cast<int64_t>(nearest_half_up(product, whole));
    case sim::Rounding::Truncate:
      return static_cast<int64_t>(product / whole);
    case sim::Rounding::Tfl:
      break;
  }
  if (scale.shift <= 31) return static_cast<int64_t>(nearest_half_up(product, whole));
  const Wide high = nearest_half_up(product, Wide{1} << 31);
  return static_cast<int64_t>(nearest_half_away(high, Wide{1} << (scale.shift - 31)));
}

int64_t plain_output(const sim::Operation& op, int64_t scaled) {
  if (op.ofm.type == sim::ElementType::S32)
    return std::clamp<int64_t>(scaled, INT32_MIN, INT32_MAX);
  const int64_t low = std::max<int64_t>(op.activation.minimum, sim::lowest(op.ofm.type));
  const int64_t high = std::min<int64_t>(op.activation.maximum, sim::highest(op.ofm.type));
  return std::clamp(scaled + op.ofm.zero_point, low, high);
}

}  // namespace intarsia::test::ethos_u
