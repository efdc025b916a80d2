// Convolutions and fully connected layers: operations with weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "limits.h"
#include "operators.h"
#include "scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

// The window of either convolution, with the padding of a pad that it takes over.
struct Window {
  WindowAxis y, x;
};

graph::Padding2d padding_of(const Node& pad) {
  const auto& a = pad.attrs<graph::PadAttrs>();
  return {a.before.at(1), a.before.at(2), a.after.at(1), a.after.at(2)};
}

template <typename Attrs>
Window window_of(const Attrs& a, const Shape& in, const Shape& weights, const Shape& out,
                 const graph::Padding2d& folded = {}) {
  return {
      {in.at(1), out.at(1), weights.at(1), a.stride_h, a.dilation_h, a.padding.top + folded.top},
      {in.at(2), out.at(2), weights.at(2), a.stride_w, a.dilation_w, a.padding.left + folded.left}};
}

Window window_of(const Site& site, const Node* pad = nullptr) {
  const graph::Padding2d folded = pad == nullptr ? graph::Padding2d{} : padding_of(*pad);
  const Shape& in =
      pad == nullptr ? site.in(0).shape : site.function.tensor(pad->inputs.at(0)).shape;
  if (const auto* a = std::get_if<graph::Conv2dAttrs>(&site.node.attributes))
    return window_of(*a, in, site.in(1).shape, site.out().shape, folded);
  return window_of(site.node.attrs<graph::DepthwiseConv2dAttrs>(), in, site.in(1).shape,
                   site.out().shape, folded);
}

// 64-bit accumulators, as TFLite has them for int16 without a 32-bit bias.
bool is_wide(const Site& site) {
  return site.in(0).type == DataType::Int16 && !(site.has(2) && site.in(2).type == DataType::Int32);
}

double factor_of(const Site& site, size_t channel) {
  const graph::Tensor &in = site.in(0), &weights = site.in(1), &out = site.out();
  if (site.node.kind == graph::OpKind::FullyConnected && !weights.quantization.per_channel()) {
    const float product = in.quantization.scale.at(0) * weights.quantization.scale.at(0);
    return static_cast<double>(product) / scale_of(out);
  }
  return scale_of(in) * scale_of(weights, channel) / scale_of(out);
}

std::optional<ChannelScale> scale_of_channel(const Site& site, size_t channel) {
  const double factor = factor_of(site, channel);
  return is_wide(site) ? reduced_channel_scale(factor) : channel_scale(factor);
}

Weights read_weights(const Site& site) {
  const graph::Tensor& tensor = site.in(1);
  const std::vector<uint8_t>& bytes = site.module.constant(tensor.constant).bytes;
  Weights weights(static_cast<size_t>(element_count(tensor.shape)));
  for (size_t i = 0; i < weights.size(); ++i) {
    if (tensor.type == DataType::Int4) {
      const int nibble = i % 2 == 0 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4;
      weights[i] = static_cast<int16_t>(nibble < 8 ? nibble : nibble - 16);
    } else {
      weights[i] = static_cast<int8_t>(bytes[i]);
    }
  }
  return weights;
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

std::vector<ChannelScale> channel_scales(const Site& site, size_t channels) {
  const std::vector<int64_t> bias = read_bias(site, channels);
  std::vector<ChannelScale> scales(channels);
  for (size_t i = 0; i < channels; ++i) {
    scales[i] = *scale_of_channel(site, i);
    scales[i].bias = bias[i];
  }
  return scales;
}

// `per_channel` weights belong to one output channel; they lie `stride` apart from each other, and
// the channels `channel_stride`.
Reason check_weighted(const Site& site, size_t channels, size_t per_channel, size_t channel_stride,
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
  if (static_cast<int64_t>(per_channel) * 128 <= kMostWeightSum) return std::nullopt;
  const Weights weights = read_weights(site);
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

Reason check_kernel(const WindowAxis& y, const WindowAxis& x) {
  if (y.covered() > kMostKernelHeight)
    return fmt::format("a kernel {} high is above {}", y.covered(), kMostKernelHeight);
  if (y.covered() * x.covered() > kMostKernelElements)
    return fmt::format("a kernel of {} x {} has more than {} elements", y.covered(), x.covered(),
                       kMostKernelElements);
  return std::nullopt;
}

Reason check_window(const Window& w) {
  if (Reason reason = check_strides(w.y, w.x)) return reason;
  if (Reason reason = check_kernel(w.y, w.x)) return reason;
  return check_pads(w.y, w.x);
}

// The hardware dilates by 1 or 2; the rest of a dilation becomes zeros between the weights.
struct Dilated {
  int64_t by, zeros;  // hardware's, and the factor left to the weights
  explicit Dilated(int64_t dilation) : by(dilation % 2 == 0 ? 2 : 1), zeros(dilation / by) {}
  int64_t kernel(int64_t size) const { return (size - 1) * zeros + 1; }
};

// [outer][kh][kw][inner] with the zeros of a dilation.
Weights dilate(const Weights& weights, int64_t outer, int64_t kh, int64_t kw, int64_t inner,
               const Dilated& y, const Dilated& x) {
  if (y.zeros == 1 && x.zeros == 1) return weights;
  const int64_t to_h = y.kernel(kh), to_w = x.kernel(kw);
  Weights result(static_cast<size_t>(outer * to_h * to_w * inner), 0);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t ky = 0; ky < kh; ++ky)
      for (int64_t kx = 0; kx < kw; ++kx)
        std::copy_n(weights.begin() + ((o * kh + ky) * kw + kx) * inner, inner,
                    result.begin() + ((o * to_h + ky * y.zeros) * to_w + kx * x.zeros) * inner);
  return result;
}

Operation with_window(Operation op, const Window& w) {
  const Dilated y(w.y.dilation), x(w.x.dilation);
  op.kernel = {static_cast<int32_t>(y.kernel(w.y.kernel)),
               static_cast<int32_t>(x.kernel(w.x.kernel)),
               static_cast<int32_t>(w.y.step()),
               static_cast<int32_t>(w.x.step()),
               static_cast<int32_t>(y.by),
               static_cast<int32_t>(x.by)};
  op.pads = {static_cast<int32_t>(w.y.before), static_cast<int32_t>(w.x.before),
             static_cast<int32_t>(w.y.after()), static_cast<int32_t>(w.x.after())};
  op.ifm.extent.height = static_cast<int32_t>(w.y.read());
  op.ifm.extent.width = static_cast<int32_t>(w.x.read());
  return op;
}

void finish(Builder& builder, Operation op, const Site& site, graph::Activation activation) {
  const Clamp clamp = clamp_of(activation, site.out());
  op.clamp_low = clamp.low;
  op.clamp_high = clamp.high;
  if (is_wide(site)) op.rounding = Rounding::Natural;
  builder.emit(std::move(op));
}

Operand channels(const Operand& operand, int64_t first, int64_t count) {
  return box(operand, {0, 0, static_cast<int32_t>(first)},
             {operand.extent.height, operand.extent.width, static_cast<int32_t>(count)});
}

template <typename T>
std::vector<T> slice(const std::vector<T>& all, int64_t first, int64_t count) {
  return {all.begin() + first, all.begin() + first + count};
}

graph::TensorId input_of(const Builder& builder, const Node& node) {
  const Node* pad = builder.folded_pad(node.inputs.at(0));
  return pad == nullptr ? node.inputs.at(0) : pad->inputs.at(0);
}

constexpr int64_t kExpandedChannels = 8;  // the depth of the NPU's micro-blocks

}  // namespace

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

Reason refuses_conv2d(const Site& site) {
  const Shape& weights = site.in(1).shape;
  const auto each = static_cast<size_t>(weights.at(1) * weights.at(2) * weights.at(3));
  if (Reason reason = check_window(window_of(site))) return reason;
  return check_weighted(site, static_cast<size_t>(weights.at(0)), each, each, 1);
}

Reason refuses_depthwise_conv2d(const Site& site) {
  const Shape& weights = site.in(1).shape;
  if (Reason reason = check_window(window_of(site))) return reason;
  const auto channels = static_cast<size_t>(weights.at(3));
  return check_weighted(site, channels, static_cast<size_t>(weights.at(1) * weights.at(2)), 1,
                        channels);
}

Reason refuses_fully_connected(const Site& site) {
  const Shape& weights = site.in(1).shape;
  const auto depth = static_cast<size_t>(weights.at(1));
  if (weights.at(1) > kMostExtent) return fmt::format("{} inputs are above {}", depth, kMostExtent);
  const int64_t rows = element_count(site.in(0).shape) / weights.at(1);
  if (rows > kMostExtent) return fmt::format("{} rows are above {}", rows, kMostExtent);
  return check_weighted(site, static_cast<size_t>(weights.at(0)), depth, depth, 1);
}

bool folds_into_window(const Site& pad, const Site& window) {
  using graph::OpKind;
  if (window.node.kind != OpKind::Conv2d && window.node.kind != OpKind::DepthwiseConv2d)
    return false;
  const graph::TensorId padded = pad.node.outputs.at(0);
  if (std::count(window.node.inputs.begin(), window.node.inputs.end(), padded) != 1 ||
      window.node.inputs.at(0) != padded)
    return false;
  const auto& a = pad.node.attrs<graph::PadAttrs>();
  if (a.before.size() != 4 || a.before[0] + a.after[0] + a.before[3] + a.after[3] != 0)
    return false;
  return !check_window(window_of(window, &pad.node)).has_value();
}

void legalise_conv2d(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Shape& shape = site.in(1).shape;  // [O, KH, KW, C / groups]
  const Window window = window_of(site, builder.folded_pad(node.inputs.at(0)));
  const Operand ifm = builder.read(input_of(builder, node)),
                ofm = builder.write(node.outputs.at(0));
  const int64_t groups = ifm.extent.depth / shape.at(3), filters = shape.at(0) / groups;
  const Dilated y(window.y.dilation), x(window.x.dilation);
  const Weights weights =
      dilate(read_weights(site), shape.at(0), shape.at(1), shape.at(2), shape.at(3), y, x);
  const auto each = static_cast<int64_t>(weights.size()) / shape.at(0);
  const std::vector<ChannelScale> scales = channel_scales(site, static_cast<size_t>(shape.at(0)));
  const int64_t images = site.out().shape.at(0);
  for (int64_t n = 0; n < images; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      Operation op =
          with_window(builder.start(OperationKind::Conv,
                                    channels(image(ifm, n, images), g * shape.at(3), shape.at(3)),
                                    channels(image(ofm, n, images), g * filters, filters)),
                      window);
      op.weights = slice(weights, g * filters * each, filters * each);
      op.scales = slice(scales, g * filters, filters);
      finish(builder, std::move(op), site, node.attrs<graph::Conv2dAttrs>().activation);
    }
}

// With a multiplier every input channel feeds `multiplier` outputs, which the depthwise unit
// cannot: a few input channels at a time, as many as a micro-block is deep, become a convolution
// whose weights are zero off the diagonal.
void legalise_depthwise_conv2d(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const auto& a = node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape& shape = site.in(1).shape;  // [1, KH, KW, C * multiplier]
  const Window window = window_of(site, builder.folded_pad(node.inputs.at(0)));
  const Operand ifm = builder.read(input_of(builder, node)),
                ofm = builder.write(node.outputs.at(0));
  const Dilated y(window.y.dilation), x(window.x.dilation);
  const int64_t all = shape.at(3), kernel = shape.at(1) * shape.at(2), m = a.multiplier;
  const Weights from = read_weights(site);
  const std::vector<ChannelScale> scales = channel_scales(site, static_cast<size_t>(all));
  const int64_t images = site.out().shape.at(0);
  const int64_t at_once = m == 1 ? all : std::min(kExpandedChannels, all / m);  // input channels

  for (int64_t first = 0; first < all / m; first += at_once) {
    const int64_t in = std::min(at_once, all / m - first), out = in * m, inner = m == 1 ? 1 : in;
    Weights weights(static_cast<size_t>(out * kernel * inner), 0);
    for (int64_t o = 0; o < out; ++o)
      for (int64_t k = 0; k < kernel; ++k)
        weights[static_cast<size_t>((o * kernel + k) * inner + (m == 1 ? 0 : o / m))] =
            from[static_cast<size_t>(k * all + first * m + o)];
    weights = dilate(weights, out, shape.at(1), shape.at(2), inner, y, x);
    for (int64_t n = 0; n < images; ++n) {
      Operation op =
          with_window(builder.start(m == 1 ? OperationKind::Depthwise : OperationKind::Conv,
                                    channels(image(ifm, n, images), first, in),
                                    channels(image(ofm, n, images), first * m, out)),
                      window);
      op.weights = weights;
      op.scales = slice(scales, first * m, out);
      finish(builder, std::move(op), site, a.activation);
    }
  }
}

// The rows of the input are the elements of an image, laid out as squarely as they divide.
void legalise_fully_connected(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Shape& shape = site.in(1).shape;  // [O, I]
  const int64_t rows = element_count(site.in(0).shape) / shape.at(1);
  int64_t height = static_cast<int64_t>(std::sqrt(static_cast<double>(rows)));
  while (rows % height != 0) --height;
  const auto h = static_cast<int32_t>(height), w = static_cast<int32_t>(rows / height);
  Operation op = builder.start(
      OperationKind::Conv,
      builder.read_as(node.inputs.at(0), {h, w, static_cast<int32_t>(shape.at(1))}),
      builder.write_as(node.outputs.at(0), {h, w, static_cast<int32_t>(shape.at(0))}));
  op.weights = read_weights(site);
  op.scales = channel_scales(site, static_cast<size_t>(shape.at(0)));
  finish(builder, std::move(op), site, node.attrs<graph::FullyConnectedAttrs>().activation);
}

}  // namespace intarsia::targets::ethos_u
