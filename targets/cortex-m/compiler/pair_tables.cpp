// Comparisons and quotients of two activations of int8: device/pair_tables.h.
#include <algorithm>
#include <limits>

#include "intarsia/plugin/every_result.h"
#include "kernels.h"
#include "repeats.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kLowest = -128, kHighest = 127, kValues = 256;

// Results of all pairs, [a + 128][b + 128].
struct Pairs {
  std::vector<uint8_t> results;
  uint8_t at(int64_t a, int64_t b) const {
    return results[static_cast<size_t>((a - kLowest) * kValues + b - kLowest)];
  }
};

// As the kernels look elements up: 0 to 127, then -128 to -1.
int64_t element_of(int64_t place) {
  return place <= kHighest ? place : place - kValues;
}

void append_half(std::vector<uint8_t>& bytes, int64_t value) {
  for (int byte = 0; byte < 2; ++byte) bytes.push_back(static_cast<uint8_t>(value >> 8 * byte));
}

// The bytes of all bounds, and whether ones are below them; none where results change more than once, or with `two` twice.
struct Bounds {
  std::vector<uint8_t> first, second;
  bool inverted;
};
std::optional<Bounds> bounds_of(const Pairs& pairs, bool inverted, bool two) {
  Bounds made{{}, {}, inverted};
  for (int64_t place = 0; place < kValues; ++place) {
    const int64_t a = element_of(place);
    const auto within = [&](int64_t b) { return (pairs.at(a, b) != 0) != inverted; };
    int64_t b = kLowest;
    while (b <= kHighest && !within(b)) ++b;
    append_half(made.first, b - 1);
    while (b <= kHighest && within(b)) ++b;
    append_half(made.second, b - 1);
    if (!two && b <= kHighest) return std::nullopt;
    while (b <= kHighest && !within(b)) ++b;
    if (b <= kHighest) return std::nullopt;
  }
  return made;
}

constexpr int64_t kFraction = 13, kBelow = 9;  // device/pair_tables.h

// A slope that makes the quotients by b of every a: between the least and the greatest that each of them allows.
std::optional<int64_t> slope_of(const Pairs& pairs, int64_t b, int64_t a_zero, int64_t out_zero) {
  int64_t least = std::numeric_limits<int32_t>::min(),
          greatest = std::numeric_limits<int32_t>::max();
  const auto divide = [](int64_t value, int64_t by) {  // rounded down
    return value >= 0 ? value / by : -((-value + by - 1) / by);
  };
  for (int64_t a = kLowest; a <= kHighest; ++a) {
    const int64_t result = static_cast<int8_t>(pairs.at(a, b)), difference = a - a_zero;
    // (difference * slope) / 2^9 is from `from` on, and below `to`.
    const int64_t from = ((result - out_zero) << kFraction) - (1 << (kFraction - 1)),
                  to = from + (1 << kFraction);
    const bool is_low = result == kLowest, is_high = result == kHighest;
    if (difference == 0) {
      if ((!is_low && from > 0) || (!is_high && to <= 0)) return std::nullopt;
      continue;
    }
    const int64_t size = std::abs(difference);
    const int64_t first = from << kBelow, last = (to << kBelow) - 1;
    if (difference > 0) {
      if (!is_low) least = std::max(least, -divide(-first, size));
      if (!is_high) greatest = std::min(greatest, divide(last, size));
    } else {
      if (!is_low) greatest = std::min(greatest, divide(-first, size));
      if (!is_high) least = std::max(least, -divide(last, size));
    }
  }
  if (least > greatest) return std::nullopt;
  return least + (greatest - least) / 2;
}

// Two activations of int8, and enough of them.
bool has_pairs(CoreClass core, const OpView& view) {
  const auto is_plain = [](const graph::Tensor& tensor) {
    return tensor.type == DataType::Int8 && tensor.quantization.scale.size() == 1;
  };
  return core != CoreClass::Lanes && is_plain(view.in(0)) && is_plain(view.in(1)) &&
         view.node.inputs[0] != view.node.inputs[1] &&
         element_count(view.out().shape) >= kWorthATable;
}

LowerKernel by_table_rows(CoreClass core, const OpView& view, RowKernel kernel) {
  const auto axes = repeated_axes(view.in(0).shape, view.in(1).shape, view.out().shape);
  if (!axes) return nullptr;
  return [=](OpLowering& op) { return call_by_rows(core, op, kernel, *axes); };
}

}  // namespace

LowerKernel comparison_kernel(CoreClass core, const OpView& view) {
  if (!has_pairs(core, view)) return nullptr;
  const Pairs pairs{results_of_every_int8_pair(view)};
  std::optional<Bounds> bounds = bounds_of(pairs, /*inverted=*/false, /*two=*/false);
  if (!bounds) bounds = bounds_of(pairs, /*inverted=*/true, /*two=*/false);
  const bool two = !bounds.has_value();
  if (!bounds) bounds = bounds_of(pairs, /*inverted=*/false, /*two=*/true);
  if (!bounds) bounds = bounds_of(pairs, /*inverted=*/true, /*two=*/true);
  if (!bounds) return nullptr;
  std::vector<uint8_t> table = bounds->first;
  if (two) table.insert(table.end(), bounds->second.begin(), bounds->second.end());
  const int64_t inverted = bounds->inverted ? 1 : 0;
  return by_table_rows(core, view,
                       {two ? "intarsia_each_between_s8" : "intarsia_each_above_s8",
                        [inverted](int64_t count) {
                          return std::vector<int64_t>{count, inverted};
                        },
                        std::move(table), DataType::Int16});
}

LowerKernel quotient_kernel(CoreClass core, const OpView& view) {
  const graph::Tensor& out = view.out();
  if (!has_pairs(core, view) || out.type != DataType::Int8 || out.quantization.scale.size() != 1)
    return nullptr;
  const int64_t a_zero = zero_point(view.in(0)), out_zero = zero_point(out);
  const Pairs pairs{results_of_every_int8_pair(view)};
  std::vector<int64_t> constants;
  if (view.is_constant(1)) constants = view.values(1);
  std::vector<uint8_t> table;
  for (int64_t place = 0; place < kValues; ++place) {
    const int64_t b = element_of(place);
    const bool is_met =
        !view.is_constant(1) || std::find(constants.begin(), constants.end(), b) != constants.end();
    const std::optional<int64_t> slope = is_met ? slope_of(pairs, b, a_zero, out_zero) : 0;
    if (!slope) return nullptr;
    append_word(table, *slope);
  }
  const int64_t round = (out_zero << kFraction) + (1 << (kFraction - 1));
  return by_table_rows(core, view,
                       {"intarsia_each_quotient_s8",
                        [a_zero, round](int64_t count) {
                          return std::vector<int64_t>{count, a_zero, round};
                        },
                        std::move(table), DataType::Int32});
}

}  // namespace intarsia::targets::cortex_m
