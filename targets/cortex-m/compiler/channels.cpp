#include "channels.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace intarsia::targets::cortex_m {
namespace {

using operators::Multiplier;

constexpr int64_t kLargestInput = 128;             // magnitude of an int8
constexpr int64_t kQuickLimit = int64_t{1} << 30;  // of sums: they are doubled
constexpr int kLargestQuickShift = 22;  // half of the last bit and the zero point stay small

void append(std::vector<uint8_t>& bytes, int64_t value) {
  for (int byte = 0; byte < 4; ++byte)
    bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
}

// Of the quick arithmetic: half of the last bit and the zero point.
int64_t rounding(Multiplier m, int64_t out_zero) {
  const int64_t last_bit = int64_t{1} << -m.shift;
  return last_bit / 2 + out_zero * last_bit;
}

struct Sum {
  int64_t start;  // bias with the zero point's share
  int64_t most;   // no partial sum is larger in magnitude
};

template <typename T>
Sum sum_of(int64_t bias, int64_t zero_point, const std::vector<T>& row) {
  int64_t weights = 0, magnitudes = 0;
  for (const T weight : row) weights += weight, magnitudes += std::abs(static_cast<int>(weight));
  const int64_t start = bias - zero_point * weights;
  return {start, std::abs(start) + magnitudes * kLargestInput};
}

int64_t requantized(int64_t value, Multiplier m) {
  if (m.shift > 0) value = value * (int64_t{1} << m.shift);
  const int64_t scaled = (value * m.value + (int64_t{1} << 30)) >> 31;
  if (m.shift >= 0) return scaled;
  const int64_t half = int64_t{1} << (-m.shift - 1);
  return (scaled + half - (scaled < 0)) >> -m.shift;
}

// Channels whose weights are all zero come with scales of any size; so do some whose results never
// leave the zero point. They get numbers in the middle of the range that give the same results.
Channel without_extremes(Channel channel, const Sum& sum, int64_t out_zero) {
  const Multiplier m = channel.multiplier;
  const bool constant = sum.most == std::abs(sum.start);
  if (constant && std::abs(sum.start) < (int64_t{1} << 31 >> std::max(m.shift, 0))) {
    const int64_t result =
        std::clamp<int64_t>(requantized(sum.start, m), -128 - out_zero, 127 - out_zero);
    return {4 * result, {1 << 30, -1}};
  }
  // The sum times a multiplier below one, halved more often than it has bits, rounds to zero.
  const bool vanishes = m.shift < -kLargestQuickShift && sum.most < (int64_t{1} << (-m.shift - 1));
  if (vanishes) return {channel.bias, {0, -1}};
  return channel;
}

template <typename T>
std::optional<Channels> channels_of(const OpView& view, const std::vector<std::vector<T>>& rows,
                                    const std::vector<Multiplier>& multipliers) {
  const int64_t in_zero = view.in(0).quantization.zero_point[0];
  const auto count = static_cast<size_t>(view.out().shape.back());
  const std::vector<int64_t> bias = view.has(2) ? view.values(2) : std::vector<int64_t>(count, 0);
  Channels channels{{}, view.out().quantization.zero_point[0], true};
  for (size_t c = 0; c < rows.size(); ++c) {
    const size_t channel_of_row = c % count;
    const Sum sum = sum_of(bias[channel_of_row], in_zero, rows[c]);
    if (sum.most > std::numeric_limits<int32_t>::max()) return std::nullopt;
    const Channel channel =
        without_extremes({sum.start, multipliers[multipliers.size() == 1 ? 0 : channel_of_row]},
                         sum, channels.out_zero);
    const int shift = channel.multiplier.shift;
    const int64_t most = sum.most - std::abs(sum.start) + std::abs(channel.bias);
    channels.quick &= most < kQuickLimit && shift <= -1 && shift >= -kLargestQuickShift;
    channels.list.push_back(channel);
  }
  return channels;
}

}  // namespace

std::vector<int64_t> blocks_of(int64_t channels, int64_t lanes) {
  std::vector<int64_t> blocks;
  for (int64_t next = 0; next < channels; next += lanes)
    blocks.push_back(std::min(next, channels - lanes));
  return blocks;
}

std::optional<Channels> make_channels(const OpView& view, const WeightRows& rows,
                                      const std::vector<Multiplier>& multipliers) {
  return channels_of(view, rows, multipliers);
}
std::optional<Channels> make_channels(const OpView& view,
                                      const std::vector<std::vector<int16_t>>& rows,
                                      const std::vector<Multiplier>& multipliers) {
  return channels_of(view, rows, multipliers);
}

std::vector<uint8_t> filled_rows(const WeightRows& rows, int64_t run) {
  std::vector<uint8_t> bytes;
  for (const std::vector<int8_t>& row : rows) {
    for (const int8_t weight : row) bytes.push_back(static_cast<uint8_t>(weight));
    bytes.resize(bytes.size() + static_cast<size_t>(run) - row.size());
  }
  return bytes;
}

std::vector<uint8_t> Channels::table() const {
  std::vector<uint8_t> bytes;
  for (const auto& [bias, multiplier] : list) {
    append(bytes, bias);
    append(bytes, multiplier.value);
    append(bytes, quick ? rounding(multiplier, out_zero) : out_zero);
    append(bytes, quick ? -multiplier.shift : multiplier.shift);
  }
  return bytes;
}

std::vector<uint8_t> Channels::scalar_table() const {
  std::vector<uint8_t> bytes;
  for (const auto& [bias, multiplier] : list) {
    append(bytes, multiplier.value);
    append(bytes, 24 + multiplier.shift);
    append(bytes, bias);
    append(bytes, rounding(multiplier, out_zero));
  }
  return bytes;
}

std::vector<uint8_t> Channels::block_table(const std::vector<size_t>& order) const {
  std::vector<uint8_t> bytes;
  for (size_t first = 0; first < list.size(); first += order.size()) {
    const auto number = [&](size_t lane, const auto& of) {
      append(bytes, first + lane < list.size() ? of(list[first + lane]) : 0);
    };
    for (size_t lane = 0; lane < order.size(); ++lane)
      number(lane, [](const Channel& c) { return c.bias; });
    for (const size_t lane : order)
      number(lane, [](const Channel& c) { return int64_t{c.multiplier.value}; });
    for (const size_t lane : order)
      number(lane, [&](const Channel& c) { return rounding(c.multiplier, out_zero); });
    for (const size_t lane : order)
      number(lane, [](const Channel& c) { return int64_t{24 + c.multiplier.shift}; });
  }
  return bytes;
}

std::optional<std::vector<uint8_t>> Channels::shared_table(size_t block) const {
  const Multiplier& first = list.front().multiplier;
  std::vector<uint8_t> bytes;
  append(bytes, first.value);
  append(bytes, rounding(first, out_zero));
  append(bytes, 24 + first.shift);
  for (const auto& [bias, multiplier] : list) {
    if (multiplier.value != first.value || multiplier.shift != first.shift) return std::nullopt;
    append(bytes, bias);
  }
  for (size_t filled = list.size(); filled % block != 0; ++filled) append(bytes, 0);
  return bytes;
}

std::string kernel_for(const std::string& family, const Channels& channels, const Window& window) {
  if (!channels.quick) return family + "_any_s8";
  return family +
         (!channels.shared && window.low == -128 && window.high == 127 ? "_s8" : "_limited_s8");
}

std::string dsp_kernel_for(const std::string& family, const Channels& channels,
                           const Window& window) {
  const bool rectified = channels.quick && !channels.shared && window.low == -128 &&
                         window.high == 127 && window.out_zero == -128;
  return rectified ? family + "_rectified_s8" : kernel_for(family, channels, window);
}

bool is_int8_dot_product(const OpView& view, DataType weights) {
  return view.in(0).type == DataType::Int8 && view.out().type == DataType::Int8 &&
         view.is_constant(1) && view.in(1).type == weights && !view.is_constant(0) &&
         (!view.has(2) || (view.is_constant(2) && view.in(2).type == DataType::Int32));
}

operators::Range output_range(const OpView& view, graph::Activation activation) {
  const graph::Quantization& out = view.out().quantization;
  return operators::activation_range(activation, DataType::Int8, out.scale[0], out.zero_point[0]);
}

}  // namespace intarsia::targets::cortex_m
