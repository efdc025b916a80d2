// Convolutions: operators on images, whose channels the IR has last.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/onnx/normalised_channels.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/stretches.h"
#include "import/onnx/transposed_depthwise.h"
#include "import/onnx/transposed_volume.h"
#include "import/onnx/weighted.h"
#include "import/onnx/window.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

// The slices that a window reaches at each of its depths, as more channels: [N,C,D,H,W] becomes [N*D',C*KD,H,W], so that a
// convolution of images sums over the volume.
TensorId stacked(Reader& in, TensorId id, const Axis& depth) {
  constexpr int64_t kMostDepth = 64;
  const int64_t padded = depth.input + depth.before + depth.after;
  if (!in.ok() ||
      !in.require(depth.kernel <= kMostDepth && depth.covered() <= padded,
                  fmt::format("has a window {} deep in a depth of {}; up to {} are possible",
                              depth.kernel, padded, kMostDepth)))
    return {};
  if (depth.before != 0 || depth.after != 0)
    id = in.emit_alike(OpKind::Pad,
                       graph::PadAttrs{{0, 0, depth.before, 0, 0}, {0, 0, depth.after, 0, 0}}, {id},
                       "pad");
  if (!in.ok()) return {};
  Shape size = in.shape(id);
  size[2] = (padded - depth.covered()) / depth.stride + 1;
  std::vector<TensorId> slices;
  for (int64_t k = 0; k < depth.kernel; ++k)
    slices.push_back(in.emit_alike(
        OpKind::Slice,
        graph::SliceAttrs{{0, 0, k * depth.dilation, 0, 0}, size, {1, 1, depth.stride, 1, 1}, {}},
        {id}, "depth"));
  const TensorId all = in.emit_alike(OpKind::Pack, graph::AxisAttrs{2}, slices, "depths");
  if (!in.ok()) return {};
  return in.reshape(in.transpose(all, {0, 3, 1, 2, 4, 5}),
                    {size[0] * size[2], size[1] * depth.kernel, size[3], size[4]});
}

// [N*D',O,H',W'] becomes [N,O,D',H',W'].
TensorId unstacked(Reader& in, TensorId id, int64_t images) {
  if (!in.ok() || !id.valid()) return {};
  const Shape s = in.shape(id);
  return in.transpose(in.reshape(id, {images, s[0] / images, s[1], s[2], s[3]}), {0, 2, 1, 3, 4});
}

// Weights [O,I/groups,KH,KW] become [O,KH,KW,I/groups], and of one input channel per group [1,KH,KW,O]. `rows`: scales and zero points
// of the images, where the model finds them as it runs.
TensorId convolution(Reader& in, const Window& window, TensorId input, TensorId weights,
                     TensorId bias, graph::Activation activation, DataType type,
                     const graph::Quantization& q, const std::vector<TensorId>& rows = {}) {
  if (window.depth) {
    const int64_t images = in.shape(input)[0];
    const Shape volume = in.shape(weights);
    Window slices = window;
    slices.depth.reset();
    const TensorId image = stacked(in, input, *window.depth);
    const TensorId filters =
        in.reshape(weights, {volume[0], volume[1] * volume[2], volume[3], volume[4]});
    if (!in.ok()) return {};
    return unstacked(in, convolution(in, slices, image, filters, bias, activation, type, q),
                     images);
  }
  const TensorId x = in.to_channels_last(as_image(in, input));
  const TensorId w = as_image(in, weights);
  const Shape shape = in.shape(w);
  if (shape.size() != 4 || in.shape(x).size() != 4) return {};
  const bool depthwise =
      shape[1] == 1 && in.integer("group", 1) == in.shape(x)[3] && in.integer("group", 1) > 1;
  std::vector<TensorId> operands = {x,
                                    in.transpose(w, depthwise ? std::vector<int64_t>{1, 2, 3, 0}
                                                              : std::vector<int64_t>{0, 2, 3, 1}),
                                    bias};
  operands.insert(operands.end(), rows.begin(), rows.end());
  if (depthwise) {
    const graph::DepthwiseConv2dAttrs attrs{.stride_h = window.h.stride,
                                            .stride_w = window.w.stride,
                                            .dilation_h = window.h.dilation,
                                            .dilation_w = window.w.dilation,
                                            .multiplier = shape[0] / in.shape(x)[3],
                                            .padding = padding(window),
                                            .activation = activation};
    const OpKind kind = rows.empty() ? OpKind::DepthwiseConv2d : OpKind::HybridDepthwiseConv2d;
    return from_image(in, in.emit(kind, attrs, operands, type, q), window.is_line);
  }
  const graph::Conv2dAttrs attrs{.stride_h = window.h.stride,
                                 .stride_w = window.w.stride,
                                 .dilation_h = window.h.dilation,
                                 .dilation_w = window.w.dilation,
                                 .padding = padding(window),
                                 .activation = activation};
  const OpKind kind = rows.empty() ? OpKind::Conv2d : OpKind::HybridConv2d;
  return from_image(in, in.emit(kind, attrs, operands, type, q), window.is_line);
}

// The window of a convolution, whose weights agree with its input; else nothing, and a problem.
std::optional<Window> convolution_window(Reader& in, size_t weights_channels_axis,
                                         int64_t channels_per_weight, bool volumes = false) {
  const Shape weights = in.shape_of(1);
  if (!in.require(weights.size() >= 3 && weights.size() == in.shape_of(0).size(),
                  fmt::format("has weights [{}] for an input [{}]", fmt::join(weights, ","),
                              fmt::join(in.shape_of(0), ","))))
    return std::nullopt;
  const std::vector<int64_t> kernel(weights.begin() + 2, weights.end());
  if (const auto stated = in.integers("kernel_shape"))
    in.require(*stated == kernel, fmt::format("states a kernel [{}], but its weights have [{}]",
                                              fmt::join(*stated, ","), fmt::join(kernel, ",")));
  in.require(in.shape_of(0)[1] == weights[weights_channels_axis] * channels_per_weight,
             fmt::format("has weights [{}] for {} channels in {} groups", fmt::join(weights, ","),
                         in.shape_of(0)[1], in.integer("group", 1)));
  if (!in.ok()) return std::nullopt;
  return read_window(in, kernel, volumes);
}

}  // namespace

TensorId float_convolution(Reader& in, TensorId input, TensorId weights) {
  std::optional<Window> window = convolution_window(in, 1, in.integer("group", 1), true);
  if (!window) return {};
  pad_automatically(in, *window);
  if (!in.ok()) return {};
  return convolution(in, *window, input, weights, {}, graph::Activation::None, kFloat, {});
}

TensorId integer_convolution(Reader& in, TensorId input, TensorId weights, TensorId scales,
                             TensorId zero_points) {
  std::optional<Window> window = convolution_window(in, 1, in.integer("group", 1), true);
  if (!window || window->depth) return {};
  pad_automatically(in, *window);
  if (!in.ok()) return {};
  return convolution(in, *window, input, weights, {}, graph::Activation::None, kFloat, {},
                     {scales, zero_points});
}

namespace {

// Bytes by known weights, with the normalisation behind it if there is one: as bytes, where something quantises the result, or as floats.
// False where neither is possible.
bool convolve_integers(Reader& in, const Window& window, const NormalisedChannels* normalised) {
  const Tail tail = in.tail(true, normalised != nullptr ? normalised->node : nullptr);
  const Shape filters = in.shape_of(1);
  const auto weights = [&](TensorId id) {
    return normalised != nullptr && id.valid() ? normalised_weights(in, id, *normalised) : id;
  };
  const TensorId of_bytes = in.attempt([&]() -> TensorId {
    if (!tail.as) return {};
    const TensorId x = in.value(0).tensor, w = weights(symmetric_weights(in, in.value(1).tensor));
    if (!w.valid()) return {};
    TensorId bias;
    if (normalised != nullptr) {
      const auto reals = normalised_bias(in, 2, *normalised);
      bias = reals ? bias_in_steps(in, *reals, x, w) : TensorId{};
    } else if (in.has(2)) {
      bias = integer_bias(in, 2, x, w, filters[0]);
    }
    if ((normalised != nullptr || in.has(2)) && !bias.valid()) return {};
    return convolution(in, window, x, w, bias, tail.activation, tail.as->type,
                       tail.as->quantization);
  });
  if (of_bytes.valid()) {
    in.finish(tail, {of_bytes, Form::Real, {}});
    return true;
  }
  const TensorId of_floats = in.attempt([&]() -> TensorId {
    if (filters[0] == 0 || window.depth) return {};
    const auto bytes = bytes_for_floats(in, in.shape_of(0)[0], element_count(filters) / filters[0]);
    const TensorId w = bytes ? weights(bytes->weights) : TensorId{};
    if (!w.valid()) return {};
    TensorId bias;
    if (normalised != nullptr) {
      const auto reals = normalised_bias(in, 2, *normalised);
      if (!reals) return {};
      bias = in.make_constant(real_values({filters[0]}, {reals->begin(), reals->end()}));
    } else if (in.has(2)) {
      bias = real_bias(in, 2, in.value(0).tensor, in.value(1).tensor);
      if (!in.is_constant(bias)) return {};
    }
    return convolution(in, window, bytes->values, w, bias, tail.activation, kFloat, {},
                       {bytes->scales, bytes->zero_points});
  });
  if (!of_floats.valid()) return false;
  in.finish(tail, {of_floats, Form::Plain, {}});
  return true;
}

}  // namespace

void read_conv(Reader& in) {
  const int64_t groups = in.integer("group", 1);
  if (!in.require(groups >= 1, fmt::format("has {} groups", groups))) return;
  std::optional<Window> window = convolution_window(in, 1, groups, true);
  if (!window) return;
  pad_automatically(in, *window);
  if (!in.ok()) return;
  if (in_integers(in, 0, 1)) {
    const auto normalised = normalisation_behind(in, in.shape_of(1)[0]);
    if (normalised && convolve_integers(in, *window, &*normalised)) return;
    if (convolve_integers(in, *window, nullptr)) return;
  }
  const Tail tail = in.tail(true);
  const TensorId bias =
      in.has(2) ? real_bias(in, 2, in.value(0).tensor, in.value(1).tensor) : TensorId{};
  in.finish(tail, {convolution(in, *window, in.operand(0), in.operand(1), bias, tail.activation,
                               kFloat, {}),
                   Form::Plain,
                   {}});
}

namespace {

// Filters [O,KH,KW,I] with zeros between their rows and columns: what dilation means.
TensorId spread(Reader& in, TensorId filters, const Window& window) {
  const Axis &h = window.h, &w = window.w;
  if (h.dilation == 1 && w.dilation == 1) return filters;
  const Shape shape = in.shape(filters);
  if (!in.ok() || !in.require(h.covered() <= kMostWindow && w.covered() <= kMostWindow,
                              "is dilated beyond all bounds"))
    return {};
  TensorId id = in.reshape(filters, {shape[0], shape[1], 1, shape[2], 1, shape[3]});
  id = in.emit_alike(
      OpKind::Pad,
      graph::PadAttrs{{0, 0, 0, 0, 0, 0}, {0, 0, h.dilation - 1, 0, w.dilation - 1, 0}}, {id},
      "spread");
  if (!in.ok()) return {};
  id = in.reshape(id, {shape[0], shape[1] * h.dilation, shape[2] * w.dilation, shape[3]});
  return in.emit_alike(
      OpKind::Slice,
      graph::SliceAttrs{
          {0, 0, 0, 0}, {shape[0], h.covered(), w.covered(), shape[3]}, {1, 1, 1, 1}, {}},
      {id}, "filters");
}

// [N,H,W,I] by [O/groups,KH,KW,I], the channels of each group by themselves.
TensorId by_groups(Reader& in, int64_t groups, TensorId x, TensorId w, TensorId bias,
                   const graph::TransposeConv2dAttrs& attrs, DataType type = kFloat,
                   const graph::Quantization& q = {}) {
  const auto one = [&](TensorId input, TensorId filters, TensorId offsets) {
    return in.emit(OpKind::TransposeConv2d, attrs, {input, filters, offsets}, type, q);
  };
  if (!in.ok() || !w.valid()) return {};
  if (groups == 1) return one(x, w, bias);
  if (in.shape(w)[0] == 1 && in.shape(w)[3] == groups) {
    const TensorId made = transposed_depthwise(in, x, w, bias, attrs, type, q);
    if (made.valid() || !in.ok()) return made;
  }
  // Integers are split on one scale.
  if (in.tensor(w).quantization.per_channel()) return {};
  const auto pieces = [&](TensorId id, int64_t axis) {
    const int64_t extent = in.shape(id)[static_cast<size_t>(axis)];
    const graph::SplitAttrs split{
        axis, std::vector<int64_t>(static_cast<size_t>(groups), extent / groups)};
    const graph::Tensor whole = in.tensor(id);
    return in.emit_many(OpKind::Split, split, {id}, static_cast<size_t>(groups), whole.type,
                        whole.quantization, "group");
  };
  const std::vector<TensorId> xs = pieces(x, 3), ws = pieces(w, 3);
  if (!in.ok()) return {};
  const std::vector<TensorId> biases =
      bias.valid() ? pieces(bias, 0) : std::vector<TensorId>(xs.size());
  std::vector<TensorId> results;
  for (size_t i = 0; i < xs.size(); ++i) results.push_back(one(xs[i], ws[i], biases[i]));
  return in.emit(OpKind::Concat, graph::AxisAttrs{3}, results, type, q, "groups");
}

// In floats. `out`: slices of the result.
void transposed_volume(Reader& in, const Window& window, const graph::TransposeConv2dAttrs& given,
                       int64_t out, const Tail& tail) {
  // Of planes of the filter, and of places within a stride: operators are written out for each.
  constexpr int64_t kMost = 64;
  if (!in.require(window.depth->kernel <= kMost && window.depth->stride <= kMost,
                  fmt::format("has a window {} deep by {}; up to {} are possible",
                              window.depth->kernel, window.depth->stride, kMost)))
    return;
  const Shape s = in.shape_of(0);
  const int64_t groups = in.integer("group", 1);
  graph::TransposeConv2dAttrs attrs = given;
  attrs.activation = graph::Activation::None;
  const TensorId x =
      in.reshape(in.transpose(in.operand(0), {0, 2, 3, 4, 1}), {s[0] * s[2], s[3], s[4], s[1]});
  const TensorId w = spread(in, filters_of_planes(in, in.operand(1)), window);
  TensorId y =
      summed_planes(in, by_groups(in, groups, x, w, {}, attrs), *window.depth, s[0], groups, out);
  const TensorId bias = in.has(2)   ? in.operand(2)
                        : y.valid() ? filled(in, {in.shape(y)[4]}, kFloat, 0)
                                    : TensorId{};
  if (in.has(2) || tail.activation != graph::Activation::None)
    y = in.emit(OpKind::Add, graph::BinaryAttrs{tail.activation}, {y, bias}, kFloat, {}, "bias");
  if (y.valid() && in.ok()) in.finish(tail, {in.transpose(y, {0, 4, 1, 2, 3}), Form::Plain, {}});
}

}  // namespace

// out = (in - 1) * stride + covered + output_padding - pads. Groups are computed one by one.
void read_conv_transpose(Reader& in) {
  const int64_t groups = in.integer("group", 1);
  std::optional<Window> window = convolution_window(in, 0, 1, true);
  if (!window) return;
  const Shape weights = in.shape_of(1);
  const int64_t channels = weights[0];
  if (!in.require(groups >= 1 && channels % groups == 0,
                  fmt::format("has {} groups for {} channels", groups, channels)))
    return;
  const size_t axes = window->depth ? 3 : window->is_line ? 1 : 2;
  const auto extra = in.integers("output_padding").value_or(std::vector<int64_t>(axes, 0));
  const auto wanted = in.integers("output_shape");
  if (!in.require(extra.size() == axes && (!wanted || wanted->size() >= axes),
                  "has as many numbers of padding as axes"))
    return;
  const std::string mode = in.text("auto_pad", "NOTSET");
  Axis* const all[] = {window->depth ? &*window->depth : nullptr, &window->h, &window->w};
  int64_t outputs[] = {1, 1, 1};
  for (size_t i = 0; i < axes; ++i) {
    Axis& axis = *all[3 - axes + i];
    const int64_t full = (axis.input - 1) * axis.stride + axis.covered() + extra[i];
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    const int64_t out = wanted            ? (*wanted)[wanted->size() - axes + i]
                        : same            ? axis.input * axis.stride
                        : mode == "VALID" ? full
                                          : full - axis.before - axis.after;
    if (wanted || same) {
      const int64_t total = std::max<int64_t>(0, full - out);
      axis.before = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else if (mode == "VALID") {
      axis.before = 0;
    }
    if (!in.require(out >= 1 && out <= kMostWindow,
                    fmt::format("makes an output of extent {}", out)))
      return;
    outputs[3 - axes + i] = out;
  }
  const Tail tail = in.tail(true);
  // [I,O/groups,KH,KW] becomes [O/groups,KH,KW,I].
  const auto filters_of = [&](TensorId id) {
    return spread(in, in.transpose(as_image(in, id), {1, 2, 3, 0}), *window);
  };
  const graph::TransposeConv2dAttrs attrs{.stride_h = window->h.stride,
                                          .stride_w = window->w.stride,
                                          .pad_top = window->h.before,
                                          .pad_left = window->w.before,
                                          .out_h = outputs[1],
                                          .out_w = outputs[2],
                                          .activation = tail.activation};
  const auto of_bytes = [&](const Tail& behind, const NormalisedChannels* normalised) -> TensorId {
    if (!behind.as) return {};
    const TensorId symmetric = symmetric_weights(in, in.value(1).tensor);
    if (!symmetric.valid()) return {};
    TensorId filters = filters_of(symmetric), offsets;
    const TensorId image = in.to_channels_last(as_image(in, in.value(0).tensor));
    if (normalised != nullptr) {
      filters = normalised_weights(in, filters, *normalised);
      const auto reals = normalised_bias(in, 2, *normalised);
      if (!filters.valid() || !reals) return {};
      offsets = bias_in_steps(in, *reals, image, filters);
    } else if (in.has(2)) {
      offsets = integer_bias(in, 2, image, filters, in.shape(filters)[0] * groups);
    }
    if ((normalised != nullptr || in.has(2)) && !offsets.valid()) return {};
    graph::TransposeConv2dAttrs own = attrs;
    own.activation = behind.activation;
    return from_image(in,
                      by_groups(in, groups, image, filters, offsets, own, behind.as->type,
                                behind.as->quantization),
                      window->is_line);
  };
  if (in_integers(in, 0, 1) && !window->depth) {
    const auto normalised = groups == 1 ? normalisation_behind(in, weights[1]) : std::nullopt;
    if (normalised) {
      const Tail behind = in.tail(true, normalised->node);
      const TensorId made = in.attempt([&] { return of_bytes(behind, &*normalised); });
      if (made.valid()) return in.finish(behind, {made, Form::Real, {}});
    }
    const TensorId made = in.attempt([&] { return of_bytes(tail, nullptr); });
    if (made.valid()) return in.finish(tail, {made, Form::Real, {}});
  }
  if (window->depth) return transposed_volume(in, *window, attrs, outputs[0], tail);
  const TensorId x = in.to_channels_last(as_image(in, in.operand(0))),
                 w = filters_of(in.operand(1));
  const TensorId bias = in.optional_operand(2);
  in.finish(
      tail,
      {from_image(in, by_groups(in, groups, x, w, bias, attrs), window->is_line), Form::Plain, {}});
}

}  // namespace intarsia::onnx
