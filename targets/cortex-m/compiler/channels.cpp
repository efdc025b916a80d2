#include "channels.h"

#include <cstdlib>
#include <limits>

namespace intarsia::targets::cortex_m {
namespace {

using standard_lowering::Multiplier;

constexpr int64_t kLargestInput = 128;              // magnitude of an int8
constexpr int64_t kQuickLimit = int64_t{1} << 30;  // of sums: they are doubled
constexpr int kLargestQuickShift = 22;              // half of the last bit and the zero point stay small

void append(std::vector<uint8_t>& bytes, int64_t value) {
  for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
}

struct Sum {
  int64_t start;  // bias with the zero point's share
  int64_t most;   // no partial sum is larger in magnitude
};

Sum sum_of(int64_t bias, int64_t zero_point, const std::vector<int8_t>& row) {
  int64_t weights = 0, magnitudes = 0;
  for (const int8_t weight : row) weights += weight, magnitudes += std::abs(static_cast<int>(weight));
  const int64_t start = bias - zero_point * weights;
  return {start, std::abs(start) + magnitudes * kLargestInput};
}

}  // namespace

std::optional<Channels> make_channels(const OpView& view, const WeightRows& rows,
                                      const std::vector<Multiplier>& multipliers) {
  const int64_t in_zero = view.in(0).quantization.zero_point[0];
  const int64_t out_zero = view.out().quantization.zero_point[0];
  const std::vector<int64_t> bias =
      view.has(2) ? view.values(2) : std::vector<int64_t>(rows.size(), 0);
  std::vector<Sum> sums;
  bool quick = true;
  for (size_t c = 0; c < rows.size(); ++c) {
    sums.push_back(sum_of(bias[c], in_zero, rows[c]));
    const Multiplier m = multipliers[multipliers.size() == 1 ? 0 : c];
    if (sums.back().most > std::numeric_limits<int32_t>::max()) return std::nullopt;
    quick &= sums.back().most < kQuickLimit && m.shift <= -1 && m.shift >= -kLargestQuickShift;
  }
  Channels channels{quick, {}};
  for (size_t c = 0; c < rows.size(); ++c) {
    const Multiplier m = multipliers[multipliers.size() == 1 ? 0 : c];
    append(channels.bytes, sums[c].start);
    append(channels.bytes, m.value);
    append(channels.bytes, quick ? (int64_t{1} << (-m.shift - 1)) + out_zero * (int64_t{1} << -m.shift) : out_zero);
    append(channels.bytes, quick ? -m.shift : m.shift);
  }
  return channels;
}

bool is_int8_dot_product(const OpView& view) {
  return view.in(0).type == DataType::Int8 && view.out().type == DataType::Int8 && view.is_constant(1) &&
         view.in(1).type == DataType::Int8 && !view.is_constant(0) &&
         (!view.has(2) || (view.is_constant(2) && view.in(2).type == DataType::Int32));
}

standard_lowering::Range output_range(const OpView& view, graph::Activation activation) {
  const graph::Quantization& out = view.out().quantization;
  return standard_lowering::activation_range(activation, DataType::Int8, out.scale[0], out.zero_point[0]);
}

}  // namespace intarsia::targets::cortex_m
