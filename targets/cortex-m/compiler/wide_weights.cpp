#include "wide_weights.h"

#include <cstdlib>
#include <limits>
#include <numeric>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

// Elements of a group in the order they lie in.
const std::vector<size_t>& group_order(CoreClass core) {
  static const std::vector<size_t> dsp = {0, 2, 1, 3}, mve = {0, 1, 2, 3, 4, 5, 6, 7};
  return core == CoreClass::Mve ? mve : dsp;
}

// Rows by blocks of four, of each group of elements those of one row after the other; what there is not is zero.
std::vector<uint8_t> by_fours(const WeightRows& rows, const std::vector<size_t>& order) {
  std::vector<uint8_t> bytes;
  const size_t count = rows.at(0).size();
  for (size_t first = 0; first < rows.size(); first += kWideLanes)
    for (size_t group = 0; group < count; group += order.size())
      for (size_t channel = first; channel < first + kWideLanes; ++channel)
        for (const size_t element : order) {
          const bool is_there = channel < rows.size() && group + element < count;
          bytes.push_back(is_there ? static_cast<uint8_t>(rows[channel][group + element])
                                   : uint8_t{0});
        }
  return bytes;
}

int64_t bytes_together(CoreClass core) {
  return core == CoreClass::Mve ? 16 : 4;
}

}  // namespace

std::string wide_prefix(CoreClass core) {
  return core == CoreClass::Mve ? "intarsia_mve_" : "intarsia_dsp_";
}

bool has_wide_kernels(CoreClass core) {
  return core == CoreClass::Dsp || core == CoreClass::Mve;
}

int64_t wide_run(CoreClass core, int64_t count) {
  const auto group = static_cast<int64_t>(group_order(core).size());
  return round_up(count, group);
}

std::vector<uint8_t> wide_weights(CoreClass core, const WeightRows& rows) {
  return by_fours(rows, group_order(core));
}

int64_t byte_run(CoreClass core, int64_t count) {
  return round_up(count, bytes_together(core));
}

std::vector<uint8_t> byte_weights(CoreClass core, const WeightRows& rows) {
  std::vector<size_t> order(static_cast<size_t>(bytes_together(core)));
  std::iota(order.begin(), order.end(), size_t{0});
  return by_fours(rows, order);
}

int64_t zero_point_share(const std::vector<int8_t>& row, int64_t zero_point) {
  return -zero_point * std::accumulate(row.begin(), row.end(), int64_t{0});
}

WeightRows weight_rows(const OpView& view, size_t input, int64_t rows) {
  const std::vector<int64_t> values = view.values(input);
  const size_t row = values.size() / static_cast<size_t>(rows);
  WeightRows result(static_cast<size_t>(rows), std::vector<int8_t>(row));
  for (size_t i = 0; i < values.size(); ++i)
    result[i / row][i % row] = static_cast<int8_t>(values[i]);
  return result;
}

void append_word(std::vector<uint8_t>& bytes, int64_t value) {
  for (int byte = 0; byte < 4; ++byte)
    bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
}

void append_wide(std::vector<uint8_t>& bytes, int64_t value) {
  append_word(bytes, value);
  append_word(bytes, static_cast<int64_t>(static_cast<uint64_t>(value) >> 32));
}

bool is_wide_product(const OpView& v) {
  const auto at_zero = [](const graph::Tensor& tensor) {
    return tensor.quantization.zero_point[0] == 0;
  };
  return v.in(0).type == DataType::Int16 && v.out().type == DataType::Int16 && !v.is_constant(0) &&
         v.is_constant(1) && v.stored_type(1) == DataType::Int8 && at_zero(v.in(0)) &&
         at_zero(v.out()) &&
         (!v.has(2) || (v.is_constant(2) &&
                        (v.in(2).type == DataType::Int64 || v.in(2).type == DataType::Int32)));
}

std::optional<std::vector<WideChannel>> short_channels(const OpView& v, const WeightRows& rows,
                                                       const std::vector<Multiplier>& multipliers) {
  constexpr int64_t kMostSum = std::numeric_limits<int32_t>::max();
  constexpr int32_t kLeastShift = 17, kMostShift = 16 + 31;
  if (v.has(2) && v.in(2).type == DataType::Int32) return std::nullopt;  // modulo 2^32
  const std::vector<int64_t> bias = v.has(2) ? v.values(2) : std::vector<int64_t>(rows.size(), 0);
  std::vector<WideChannel> channels;
  for (size_t c = 0; c < rows.size(); ++c) {
    int64_t most = 0;
    for (const int8_t weight : rows[c]) most += std::abs(int64_t{weight}) * 32768;
    const int64_t start = bias[c % bias.size()];
    const bool fits = start >= -kMostSum && start <= kMostSum && std::abs(start) + most <= kMostSum;
    const WideMultiplier m = wide_multiplier(multipliers[c % multipliers.size()]);
    if (!fits || m.shift < kLeastShift || m.shift > kMostShift) return std::nullopt;
    channels.push_back({start, int64_t{m.value} * 65536, 16 - m.shift});
  }
  return channels;
}

ConvConstants dsp_wide_conv_constants(const WideConv& conv) {
  const Window& w = conv.window;
  const int64_t row = w.kernel_w * w.in_c, filled = round_up(row, 2),
                run = round_up(w.kernel_h * filled, 4), rows = round_up(w.out_c, 2);
  ConvConstants made;
  const auto weight = [&](int64_t channel, int64_t at) {
    const int64_t ky = at / filled, element = at % filled;
    return channel < w.out_c && ky < w.kernel_h && element < row
               ? conv.rows[static_cast<size_t>(channel)][static_cast<size_t>(ky * row + element)]
               : int8_t{0};
  };
  for (int64_t first = 0; first < rows; first += 2)
    for (int64_t element = 0; element < run; ++element)
      for (const int64_t channel : {first, first + 1})
        made.weights.push_back(static_cast<uint8_t>(weight(channel, element)));
  for (int64_t c = 0; c < rows; ++c) {
    const WideChannel channel =
        c < w.out_c ? conv.channels[static_cast<size_t>(c)] : WideChannel{0, 0, -1};
    append_channel(made.channels, channel);
  }
  return made;
}

void append_channel(std::vector<uint8_t>& bytes, const WideChannel& channel) {
  append_word(bytes, channel.bias), append_word(bytes, channel.multiplier);
  append_word(bytes, int64_t{1} << (-channel.shift - 1));
  append_word(bytes, -channel.shift);
}

}  // namespace intarsia::targets::cortex_m
