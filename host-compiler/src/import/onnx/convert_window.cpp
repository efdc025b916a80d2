// Convolutions, pooling, resizing: operators on images, whose channels the IR has last.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/weighted.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

// One of the two spatial axes.
struct Axis {
  int64_t input = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  int64_t covered() const { return (kernel - 1) * dilation + 1; }
};

struct Window {
  Axis h, w;
  bool is_line = false;  // of rank 3: [N,C,W], which is [N,C,1,W] here
};

constexpr int64_t kMostWindow = 1 << 24;

// Rank 3 or 4, and what the attributes say about the axes after the second.
std::optional<Window> read_window(Reader& in, std::vector<int64_t> kernel) {
  const Shape shape = in.shape_of(0);
  const size_t axes = shape.size() < 2 ? 0 : shape.size() - 2;
  if (!in.require(
          axes == 1 || axes == 2,
          fmt::format(
              "works on a tensor of rank {}; images of rank 4 and lines of rank 3 are possible",
              shape.size())))
    return std::nullopt;
  const auto list = [&](const char* name, int64_t absent, size_t count) {
    const std::vector<int64_t> given =
        in.integers(name).value_or(std::vector<int64_t>(count, absent));
    const bool sane = given.size() == count && std::ranges::all_of(given, [&](int64_t number) {
                        return number >= absent && number <= kMostWindow;
                      });
    in.require(sane, fmt::format("has {} [{}]; needs {} numbers of {} or more", name,
                                 fmt::join(given, ","), count, absent));
    return given;
  };
  if (kernel.empty()) kernel = list("kernel_shape", 1, axes);
  const std::vector<int64_t> strides = list("strides", 1, axes),
                             dilations = list("dilations", 1, axes),
                             pads = list("pads", 0, 2 * axes);
  if (!in.require(kernel.size() == axes,
                  fmt::format("has a kernel of {} axes for {}", kernel.size(), axes)) ||
      !in.ok())
    return std::nullopt;
  Window window;
  window.is_line = axes == 1;
  const auto fill = [&](Axis& axis, size_t i) {
    axis = {shape[i + 2], kernel[i], strides[i], dilations[i], pads[i], pads[axes + i]};
  };
  if (axes == 2) fill(window.h, 0);
  fill(window.w, axes - 1);
  return window;
}

// SAME_UPPER puts the odd element at the end, SAME_LOWER at the beginning.
void pad_automatically(Reader& in, Window& window) {
  const std::string mode = in.text("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return;
  const bool upper = mode == "SAME_UPPER", lower = mode == "SAME_LOWER";
  if (!in.require(upper || lower || mode == "VALID",
                  fmt::format("has auto_pad '{}'", tflite::printable(mode))))
    return;
  for (Axis* axis : {&window.h, &window.w}) {
    const int64_t places = (axis->input + axis->stride - 1) / axis->stride;
    const int64_t total =
        std::max<int64_t>(0, (places - 1) * axis->stride + axis->covered() - axis->input);
    axis->before = mode == "VALID" ? 0 : upper ? total / 2 : total - total / 2;
    axis->after = mode == "VALID" ? 0 : total - axis->before;
  }
}

TensorId as_image(Reader& in, TensorId id) {
  Shape shape = in.shape(id);
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return in.reshape(id, shape);
}

// Back to ONNX's order and rank.
TensorId from_image(Reader& in, TensorId id, bool is_line) {
  id = in.to_channels_first(id);
  Shape shape = in.shape(id);
  if (is_line && id.valid()) shape.erase(shape.begin() + 2);
  return is_line ? in.reshape(id, shape) : id;
}

graph::Padding2d padding(const Window& w) {
  return {w.h.before, w.w.before, w.h.after, w.w.after};
}

// Weights [O,I/groups,KH,KW] become [O,KH,KW,I/groups], and of one input channel per group [1,KH,KW,O].
TensorId convolution(Reader& in, const Window& window, TensorId input, TensorId weights,
                     TensorId bias, graph::Activation activation, DataType type,
                     const graph::Quantization& q) {
  const TensorId x = in.to_channels_last(as_image(in, input));
  const TensorId w = as_image(in, weights);
  const Shape shape = in.shape(w);
  if (shape.size() != 4 || in.shape(x).size() != 4) return {};
  const bool depthwise =
      shape[1] == 1 && in.integer("group", 1) == in.shape(x)[3] && in.integer("group", 1) > 1;
  const std::vector<TensorId> operands = {
      x,
      in.transpose(w,
                   depthwise ? std::vector<int64_t>{1, 2, 3, 0} : std::vector<int64_t>{0, 2, 3, 1}),
      bias};
  if (depthwise) {
    const graph::DepthwiseConv2dAttrs attrs{.stride_h = window.h.stride,
                                            .stride_w = window.w.stride,
                                            .dilation_h = window.h.dilation,
                                            .dilation_w = window.w.dilation,
                                            .multiplier = shape[0] / in.shape(x)[3],
                                            .padding = padding(window),
                                            .activation = activation};
    return from_image(in, in.emit(OpKind::DepthwiseConv2d, attrs, operands, type, q),
                      window.is_line);
  }
  const graph::Conv2dAttrs attrs{.stride_h = window.h.stride,
                                 .stride_w = window.w.stride,
                                 .dilation_h = window.h.dilation,
                                 .dilation_w = window.w.dilation,
                                 .padding = padding(window),
                                 .activation = activation};
  return from_image(in, in.emit(OpKind::Conv2d, attrs, operands, type, q), window.is_line);
}

// The window of a convolution, whose weights agree with its input; else nothing, and a problem.
std::optional<Window> convolution_window(Reader& in, size_t weights_channels_axis,
                                         int64_t channels_per_weight) {
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
  return read_window(in, kernel);
}

}  // namespace

TensorId float_convolution(Reader& in, TensorId input, TensorId weights) {
  std::optional<Window> window = convolution_window(in, 1, in.integer("group", 1));
  if (!window) return {};
  pad_automatically(in, *window);
  if (!in.ok()) return {};
  return convolution(in, *window, input, weights, {}, graph::Activation::None, kFloat, {});
}

void read_conv(Reader& in) {
  const int64_t groups = in.integer("group", 1);
  if (!in.require(groups >= 1, fmt::format("has {} groups", groups))) return;
  std::optional<Window> window = convolution_window(in, 1, groups);
  if (!window) return;
  pad_automatically(in, *window);
  if (!in.ok()) return;
  const Tail tail = in.tail(true);
  if (in_integers(in, 0, 1) && tail.as) {
    const TensorId made = in.attempt([&]() -> TensorId {
      const TensorId x = in.value(0).tensor, w = symmetric_weights(in, in.value(1).tensor);
      if (!w.valid()) return {};
      const TensorId bias = in.has(2) ? integer_bias(in, 2, x, w, in.shape(w)[0]) : TensorId{};
      if (in.has(2) && !bias.valid()) return {};
      return convolution(in, *window, x, w, bias, tail.activation, tail.as->type,
                         tail.as->quantization);
    });
    if (made.valid()) return in.finish(tail, {made, Form::Real, {}});
  }
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

}  // namespace

// out = (in - 1) * stride + covered + output_padding - pads. Groups are computed one by one.
void read_conv_transpose(Reader& in) {
  const int64_t groups = in.integer("group", 1);
  std::optional<Window> window = convolution_window(in, 0, 1);
  if (!window) return;
  const Shape weights = in.shape_of(1);
  const int64_t channels = weights[0];
  if (!in.require(groups >= 1 && channels % groups == 0,
                  fmt::format("has {} groups for {} channels", groups, channels)))
    return;
  const size_t axes = window->is_line ? 1 : 2;
  const auto extra = in.integers("output_padding").value_or(std::vector<int64_t>(axes, 0));
  const auto wanted = in.integers("output_shape");
  if (!in.require(extra.size() == axes && (!wanted || wanted->size() >= axes),
                  "has as many numbers of padding as axes"))
    return;
  const std::string mode = in.text("auto_pad", "NOTSET");
  Axis* const both[] = {&window->h, &window->w};
  int64_t outputs[] = {1, 1};
  for (size_t i = 0; i < axes; ++i) {
    Axis& axis = *both[2 - axes + i];
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
    outputs[2 - axes + i] = out;
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
                                          .out_h = outputs[0],
                                          .out_w = outputs[1],
                                          .activation = tail.activation};
  if (in_integers(in, 0, 1) && tail.as && groups == 1) {
    const TensorId made = in.attempt([&]() -> TensorId {
      const TensorId symmetric = symmetric_weights(in, in.value(1).tensor);
      if (!symmetric.valid()) return {};
      const TensorId filters = filters_of(symmetric),
                     image = in.to_channels_last(as_image(in, in.value(0).tensor));
      const TensorId offsets =
          in.has(2) ? integer_bias(in, 2, image, filters, in.shape(filters)[0]) : TensorId{};
      if (in.has(2) && !offsets.valid()) return {};
      const TensorId y = in.emit(OpKind::TransposeConv2d, attrs, {image, filters, offsets},
                                 tail.as->type, tail.as->quantization);
      return from_image(in, y, window->is_line);
    });
    if (made.valid()) return in.finish(tail, {made, Form::Real, {}});
  }
  const TensorId x = in.to_channels_last(as_image(in, in.operand(0))),
                 w = filters_of(in.operand(1));
  const TensorId bias = in.has(2) ? in.operand(2) : TensorId{};
  const auto one = [&](TensorId input, TensorId filters, TensorId offsets) {
    return in.emit(OpKind::TransposeConv2d, attrs, {input, filters, offsets}, kFloat);
  };
  if (groups == 1)
    return in.finish(tail, {from_image(in, one(x, w, bias), window->is_line), Form::Plain, {}});
  const auto pieces = [&](TensorId id, int64_t axis) {
    const int64_t extent = in.shape(id)[static_cast<size_t>(axis)];
    const graph::SplitAttrs split{
        axis, std::vector<int64_t>(static_cast<size_t>(groups), extent / groups)};
    return in.emit_many(OpKind::Split, split, {id}, static_cast<size_t>(groups), kFloat, {},
                        "group");
  };
  if (!in.ok()) return;
  const std::vector<TensorId> xs = pieces(x, 3), ws = pieces(w, 3);
  const std::vector<TensorId> biases =
      bias.valid() ? pieces(bias, 0) : std::vector<TensorId>(xs.size());
  std::vector<TensorId> results;
  for (size_t i = 0; i < xs.size(); ++i) results.push_back(one(xs[i], ws[i], biases[i]));
  const TensorId joined =
      in.emit(OpKind::Concat, graph::AxisAttrs{3}, results, kFloat, {}, "groups");
  in.finish(tail, {from_image(in, joined, window->is_line), Form::Plain, {}});
}

namespace {

// With gaps between the elements of a window: what lies at each place of the window, one strided slice, is combined with
// the rest. Of x with its channels last.
TensorId dilated_pool(Reader& in, const Window& window, TensorId x, bool is_max) {
  constexpr int64_t kMostSlices = 64;
  const Axis &h = window.h, &w = window.w;
  if (!in.require(h.kernel * w.kernel <= kMostSlices,
                  fmt::format("is dilated and has a window of {} by {}; {} elements are possible",
                              h.kernel, w.kernel, kMostSlices)))
    return {};
  const graph::Tensor source = in.tensor(x);
  const auto places = [](const Axis& axis) {
    return (axis.input + axis.before + axis.after - axis.covered()) / axis.stride + 1;
  };
  if (!in.require(places(h) >= 1 && places(w) >= 1, "has a window larger than its operand"))
    return {};
  constexpr float kLeast = std::numeric_limits<float>::lowest();
  const TensorId filler =
      source.type == kFloat
          ? in.number(is_max ? kLeast : 0)
          : in.make_constant(integer_values(source.type, {}, {-128}), source.quantization);
  const graph::PadAttrs pad{{0, h.before, w.before, 0}, {0, h.after, w.after, 0}};
  const TensorId padded = in.emit_alike(OpKind::PadV2, pad, {x, filler}, "pad");
  TensorId result;
  for (int64_t y = 0; y < h.kernel; ++y)
    for (int64_t column = 0; column < w.kernel; ++column) {
      const graph::SliceAttrs part{{0, y * h.dilation, column * w.dilation, 0},
                                   {source.shape[0], places(h), places(w), source.shape[3]},
                                   {1, h.stride, w.stride, 1},
                                   {}};
      const TensorId near = in.emit_alike(OpKind::Slice, part, {padded}, "near");
      const graph::Attributes attributes =
          is_max ? graph::Attributes(graph::NoAttrs{}) : graph::Attributes(graph::BinaryAttrs{});
      result = !result.valid() ? near
                               : in.emit_alike(is_max ? OpKind::Maximum : OpKind::Add, attributes,
                                               {result, near}, "joined");
    }
  if (is_max) return result;
  // The average is of what lies inside.
  const auto inside = [](const Axis& axis, int64_t place) {
    int64_t count = 0;
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t at = place * axis.stride + k * axis.dilation - axis.before;
      count += at >= 0 && at < axis.input ? 1 : 0;
    }
    return count;
  };
  std::vector<float> factors;
  if (!table_fits(in, places(h) * places(w))) return {};
  for (int64_t y = 0; y < places(h); ++y)
    for (int64_t column = 0; column < places(w); ++column)
      factors.push_back(1 /
                        static_cast<float>(std::max<int64_t>(1, inside(h, y) * inside(w, column))));
  const TensorId factor = in.make_constant(real_values({1, places(h), places(w), 1}, factors));
  return in.emit_alike(OpKind::Mul, graph::BinaryAttrs{}, {result, factor}, "mean");
}

}  // namespace

// The largest value moves, so any quantisation stays; the average is formed in floats or on the input's scale.
void read_pool(Reader& in) {
  std::optional<Window> window = read_window(in, {});
  if (!window) return;
  pad_automatically(in, *window);
  in.require(in.node().outputs.size() == 1 || in.node().outputs[1].empty(),
             "gives the places of its maxima, too");
  if (!in.ok()) return;
  const bool is_max = in.is("MaxPool"),
             counts_padding = !is_max && in.integer("count_include_pad", 0) != 0;
  int64_t beyond[] = {0, 0};
  if (in.integer("ceil_mode", 0) != 0 && in.text("auto_pad", "NOTSET") == "NOTSET") {
    for (Axis* axis : {&window->h, &window->w}) {
      const int64_t padded = axis->input + axis->before + axis->after;
      int64_t places = (padded - axis->covered() + axis->stride - 1) / axis->stride + 1;
      if ((places - 1) * axis->stride >= axis->input + axis->before)
        --places;  // begins behind the input
      // Beyond the padding nothing is counted.
      beyond[axis == &window->w] =
          std::max<int64_t>(0, (places - 1) * axis->stride + axis->covered() - padded);
    }
  }
  std::vector<int64_t> before(4, 0), after(4, 0);
  if (counts_padding) {
    before = {0, window->h.before, window->w.before, 0},
    after = {0, window->h.after, window->w.after, 0};
    for (Axis* axis : {&window->h, &window->w})
      axis->input += axis->before + axis->after, axis->before = axis->after = 0;
  }
  window->h.after += beyond[0], window->w.after += beyond[1];
  const graph::Pool2dAttrs attrs{.filter_h = window->h.kernel,
                                 .filter_w = window->w.kernel,
                                 .stride_h = window->h.stride,
                                 .stride_w = window->w.stride,
                                 .padding = padding(*window)};
  const bool dilated = window->h.dilation != 1 || window->w.dilation != 1;
  const auto make = [&](TensorId id) {
    TensorId x = in.to_channels_last(as_image(in, id));
    if (before != after || before != std::vector<int64_t>(4, 0))
      x = in.emit_alike(OpKind::Pad, graph::PadAttrs{before, after}, {x}, "pad");
    if (dilated) return from_image(in, dilated_pool(in, *window, x, is_max), window->is_line);
    return from_image(in,
                      in.emit_alike(is_max ? OpKind::MaxPool2d : OpKind::AveragePool2d, attrs, {x}),
                      window->is_line);
  };
  if (is_max || in.is_real(0)) {
    const Tail tail = in.tail(false);
    const TensorId id = in.value(0).tensor;
    const bool accurate = is_max || (tail.as && !dilated &&
                                     within_a_step(in.tensor(id).quantization.scale[0], *tail.as));
    const TensorId moved = accurate ? in.attempt([&] { return make(id); }) : TensorId{};
    if (moved.valid()) return in.carried(moved);
  }
  in.result(make(in.operand(0)));
}

void read_global_pool(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  in.require(in.integer("channels_last", 0) == 0, "has its channels last; ONNX has them second");
  if (!in.require(rank >= 3, fmt::format("works on a tensor of rank {}", rank))) return;
  graph::ReduceAttrs attrs{{}, true};
  for (size_t axis = 2; axis < rank; ++axis) attrs.axes.push_back(static_cast<int64_t>(axis));
  if (in.is("GlobalMaxPool")) {
    const TensorId moved =
        in.attempt([&] { return in.emit_alike(OpKind::ReduceMax, attrs, {in.value(0).tensor}); });
    if (moved.valid()) return in.carried(moved);
    return in.result(in.emit_alike(OpKind::ReduceMax, attrs, {in.operand(0)}));
  }
  const Tail tail = in.tail(false);
  if (in.is_real(0) && tail.as) {
    const TensorId made = in.attempt([&] {
      return in.emit(OpKind::Mean, attrs, {in.value(0).tensor}, tail.as->type,
                     tail.as->quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  in.result(in.emit_alike(OpKind::Mean, attrs, {in.operand(0)}));
}

namespace {

// Blocks as a tensor of rank 6, for the order of channels that the IR does not have, and for all of them
// alike: [N, C', b, b, H, W] in ONNX's orders.
void read_blocks(Reader& in, bool to_space) {
  const Shape s = in.shape_of(0);
  const int64_t b = in.integer("blocksize", 0);
  if (!in.require(s.size() == 4 && b >= 1,
                  fmt::format("has blocks of {} in a tensor of rank {}", b, s.size())))
    return;
  const bool fits = to_space ? b <= 1024 && s[1] % (b * b) == 0 : s[2] % b == 0 && s[3] % b == 0;
  if (!in.require(fits, fmt::format("cannot take blocks of {} from [{}]", b, fmt::join(s, ","))))
    return;
  const TensorId id = in.carry();
  const std::string mode = in.text("mode", "DCR");
  const bool depth_first = mode == "DCR";
  if (!in.require(depth_first || mode == "CRD",
                  fmt::format("has the mode '{}'", tflite::printable(mode))))
    return;
  if (depth_first) {  // the IR's operator
    const OpKind kind = to_space ? OpKind::DepthToSpace : OpKind::SpaceToDepth;
    const TensorId x = in.to_channels_last(id);
    return in.carried(in.to_channels_first(in.emit_alike(kind, graph::BlockAttrs{b}, {x})));
  }
  if (!to_space) {
    const TensorId parts = in.reshape(id, {s[0], s[1], s[2] / b, b, s[3] / b, b});
    return in.carried(in.reshape(in.transpose(parts, {0, 1, 3, 5, 2, 4}),
                                 {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
  }
  TensorId x = in.reshape(id, {s[0], s[1] / (b * b), b, b, s[2], s[3]});
  x = in.transpose(x, {0, 1, 4, 2, 5, 3});
  in.carried(in.reshape(x, {s[0], s[1] / (b * b), s[2] * b, s[3] * b}));
}

}  // namespace

void read_depth_to_space(Reader& in) {
  read_blocks(in, true);
}
void read_space_to_depth(Reader& in) {
  read_blocks(in, false);
}

}  // namespace intarsia::onnx
