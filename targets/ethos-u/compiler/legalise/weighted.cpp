#include "legalise/weighted.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int64_t kMostWeight = 255;  // of the 9 bits that the hardware's weights have

// 64-bit accumulators, as TFLite has them for int16 without a 32-bit bias.
bool is_wide(const Site& site) {
  return site.in(0).type == DataType::Int16 && !(site.has(2) && site.in(2).type == DataType::Int32);
}

double factor_of(const Site& site, size_t channel) {
  const graph::Tensor &in = site.in(0), &weights = site.in(1), &out = site.out();
  return graph::sum_scale(in.quantization, weights.quantization, channel) / scale_of(out);
}

std::optional<ChannelScale> scale_of_channel(const Site& site, size_t channel) {
  const double factor = factor_of(site, channel);
  return is_wide(site) ? reduced_channel_scale(factor) : channel_scale(factor);
}

std::vector<int64_t> read_bias(const Site& site, size_t channels) {
  std::vector<int64_t> bias(channels, 0);
  if (!site.has(2)) return bias;
  const graph::Tensor& tensor = site.in(2);
  const uint8_t* bytes = site.module.constant(tensor.constant).bytes.data();
  for (size_t i = 0; i < channels; ++i) {
    if (tensor.type == DataType::Int64) {
      std::memcpy(&bias[i], bytes + 8 * i, 8);
    } else {
      int32_t value = 0;
      std::memcpy(&value, bytes + 4 * i, 4);
      bias[i] = value;
    }
  }
  return bias;
}

}  // namespace

Weights read_weights(const Site& site) {
  const graph::Tensor& tensor = site.in(1);
  const std::vector<uint8_t>& bytes = site.module.constant(tensor.constant).bytes;
  Weights weights(static_cast<size_t>(element_count(tensor.shape)));
  if (tensor.type == DataType::Int16) {
    INTARSIA_CHECK(bytes.size() >= sizeof(int16_t) * weights.size(), "constants have their size");
    std::memcpy(weights.data(), bytes.data(), sizeof(int16_t) * weights.size());
    return weights;
  }
  const bool nibbles = tensor.type == DataType::Int4;
  for (size_t i = 0; nibbles && i < weights.size(); ++i) {
    const int nibble = i % 2 == 0 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4;
    weights[i] = static_cast<int16_t>(nibble < 8 ? nibble : nibble - 16);
  }
  if (!nibbles)
    std::transform(bytes.begin(), bytes.begin() + std::ssize(weights), weights.begin(),
                   [](uint8_t byte) { return static_cast<int8_t>(byte); });
  return weights;
}

std::vector<ChannelScale> channel_scales(const Site& site, size_t channels) {
  const std::vector<int64_t> bias = read_bias(site, channels);
  std::vector<ChannelScale> scales(channels);
  for (size_t i = 0; i < channels; ++i) {
    scales[i] = *scale_of_channel(site, i);
    scales[i].bias = bias[i];
  }
  return scales;
}

Reason check_weights(const Site& site, size_t channels, size_t per_channel, size_t channel_stride,
                     size_t stride) {
  if (!site.in(1).constant.valid()) return std::string("the weights are not constant");
  if (site.has(2) && !site.in(2).constant.valid()) return std::string("the bias is not constant");
  for (size_t i = 0; i < channels; ++i)
    if (!scale_of_channel(site, i))
      return fmt::format("channel {} is scaled by {}, more than 2^31", i, factor_of(site, i));
  const std::vector<int64_t> bias = read_bias(site, channels);
  for (size_t i = 0; i < channels; ++i)
    if (bias[i] < -(int64_t{1} << 39) || bias[i] >= int64_t{1} << 39)
      return fmt::format("the bias {} of channel {} does not fit into 40 bits", bias[i], i);
  const bool has_zero_points = site.in(1).type == DataType::Int16;  // that are subtracted already
  const int64_t most = has_zero_points ? kMostWeight : 128;
  if (static_cast<int64_t>(per_channel) * most <= kMostWeightSum && !has_zero_points)
    return std::nullopt;
  const Weights weights = read_weights(site);
  for (const int16_t weight : weights)
    if (std::abs(weight) > most)
      return fmt::format("a weight of {} is beyond -{}..{}", weight, most, most);
  for (size_t i = 0; i < channels; ++i) {
    int64_t sum = 0;
    for (size_t k = 0; k < per_channel; ++k)
      sum += std::abs(weights[i * channel_stride + k * stride]);
    if (sum > kMostWeightSum)
      return fmt::format("the weights of channel {} sum up to {}, above {}", i, sum,
                         kMostWeightSum);
  }
  return std::nullopt;
}

void emit_weighted(Builder& builder, Operation op, const Site& site, graph::Activation activation) {
  const Clamp clamp = clamp_of(activation, site.out());
  op.clamp_low = clamp.low;
  op.clamp_high = clamp.high;
  if (is_wide(site)) op.rounding = Rounding::Natural;
  builder.emit(std::move(op));
}

Reason check_kernel(const WindowAxis& y, const WindowAxis& x) {
  if (y.covered() > kMostKernelHeight)
    return fmt::format("a kernel {} high is above {}", y.covered(), kMostKernelHeight);
  if (y.covered() * x.covered() > kMostKernelElements)
    return fmt::format("a kernel of {} x {} has more than {} elements", y.covered(), x.covered(),
                       kMostKernelElements);
  return std::nullopt;
}

Reason check_strides(const WindowAxis& y, const WindowAxis& x) {
  if (y.step() > kMostStride || x.step() > kMostStride)
    return fmt::format("stride {} x {} is above {} x {}", y.step(), x.step(), kMostStride,
                       kMostStride);
  return std::nullopt;
}

Reason check_pads(const WindowAxis& y, const WindowAxis& x) {
  if (y.before >= y.covered() || x.before >= x.covered())
    return fmt::format("padding of {} x {} is not below the kernel of {} x {}", y.before, x.before,
                       y.covered(), x.covered());
  if (y.after() >= y.covered() || x.after() >= x.covered())
    return fmt::format("padding of {} x {} at the end is not below the kernel of {} x {}",
                       y.after(), x.after(), y.covered(), x.covered());
  for (const int64_t pad : {y.before, x.before})
    if (pad > kMostPadBefore) return fmt::format("padding of {} is above {}", pad, kMostPadBefore);
  for (const int64_t pad : {y.after(), x.after()})
    if (pad > kMostPadAfter) return fmt::format("padding of {} is above {}", pad, kMostPadAfter);
  return std::nullopt;
}

Operand channels(const Operand& operand, int64_t first, int64_t count) {
  return box(operand, {0, 0, static_cast<int32_t>(first)},
             {operand.extent.height, operand.extent.width, static_cast<int32_t>(count)});
}

}  // namespace intarsia::targets::ethos_u
