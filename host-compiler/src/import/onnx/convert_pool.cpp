// Pooling, and images in blocks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/unpool.h"
#include "import/onnx/weighted.h"
#include "import/onnx/wide_function.h"
#include "import/onnx/window.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

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
  if (!in.require(places(h) >= 1 && places(w) >= 1, "has a window larger than its operand",
                  "give the model a larger input"))
    return {};
  constexpr float kLeast = std::numeric_limits<float>::lowest();
  const TensorId filler =
      source.type == kFloat
          ? in.number(is_max ? kLeast : 0)
          : in.make_constant(
                integer_values(source.type, {},
                               {source.type == DataType::Int16 ? INT16_MIN : INT8_MIN}),
                source.quantization);
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

namespace {

// How far the last window reaches behind the padding where a place that is not whole counts, too; nothing is there.
int64_t beyond_padding(const Axis& axis) {
  const int64_t padded = axis.input + axis.before + axis.after;
  int64_t places = (padded - axis.covered() + axis.stride - 1) / axis.stride + 1;
  if ((places - 1) * axis.stride >= axis.input + axis.before) --places;  // begins behind the input
  return std::max<int64_t>(0, (places - 1) * axis.stride + axis.covered() - padded);
}

// Of x with its channels last.
TensorId pooled(Reader& in, TensorId x, const Window& window, bool is_max) {
  if (window.h.dilation != 1 || window.w.dilation != 1) return dilated_pool(in, window, x, is_max);
  const graph::Pool2dAttrs attrs{.filter_h = window.h.kernel,
                                 .filter_w = window.w.kernel,
                                 .stride_h = window.h.stride,
                                 .stride_w = window.w.stride,
                                 .padding = padding(window)};
  return in.emit_alike(is_max ? OpKind::MaxPool2d : OpKind::AveragePool2d, attrs, {x});
}

// Volumes: over the height and width of every slice, and then over depth. Extremes and averages are the same taken so.
void read_volume_pool(Reader& in, const Window& window, bool is_max) {
  const bool counts_padding = !is_max && in.integer("count_include_pad", 0) != 0;
  const bool has_parts =
      in.integer("ceil_mode", 0) != 0 && in.text("auto_pad", "NOTSET") == "NOTSET";
  const auto make = [&](TensorId id) -> TensorId {
    Axis d = *window.depth;
    Window slices = window;
    slices.depth.reset();
    Axis* const axes[] = {&d, &slices.h, &slices.w};
    graph::PadAttrs pad{{0, 0}, {0, 0}};
    for (Axis* axis : axes) {
      const int64_t beyond = has_parts ? beyond_padding(*axis) : 0;
      pad.before.push_back(axis->before), pad.after.push_back(axis->after);
      if (counts_padding) axis->input += axis->before + axis->after, axis->before = axis->after = 0;
      axis->after += beyond;
    }
    if (counts_padding) id = in.emit_alike(OpKind::Pad, pad, {id}, "pad");
    if (!in.ok()) return {};
    const Shape s = in.shape(id);
    const auto over = [&](const Shape& image, const Window& part) {
      const TensorId x = in.to_channels_last(in.reshape(id, image));
      return in.ok() ? in.to_channels_first(pooled(in, x, part, is_max)) : TensorId{};
    };
    id = over({s[0], s[1] * s[2], s[3], s[4]}, slices);
    if (!in.ok() || !id.valid()) return {};
    const Shape flat = in.shape(id);
    id = over({s[0], s[1], s[2], flat[2] * flat[3]}, {d, {.input = flat[2] * flat[3]}});
    if (!in.ok() || !id.valid()) return {};
    return in.reshape(id, {s[0], s[1], in.shape(id)[2], flat[2], flat[3]});
  };
  if (is_max) {
    const TensorId moved = in.attempt([&] { return make(in.value(0).tensor); });
    if (moved.valid()) return in.carried(moved);
  }
  in.result(make(in.operand(0)));
}

// The root of a sum of powers of magnitudes.
class PowerMean {
 public:
  explicit PowerMean(Reader& in) : in_(in) {
    constexpr int64_t kMostPower = 64;
    power_ = in.integer("p", 2);
    // Of operator set 1 it is a real number.
    if (power_ == 0)
      power_ = static_cast<int64_t>(std::clamp<float>(in.real("p", 0), 0, kMostPower + 1));
    in.require(power_ >= 1 && power_ <= kMostPower, fmt::format("has the power {}", power_),
               fmt::format("1 to {} are possible", kMostPower));
  }
  TensorId powers(TensorId x) {
    x = element(power_ == 2 ? OpKind::Square : OpKind::Abs, x);
    return power_ > 2 ? to_power(x, static_cast<float>(power_)) : x;
  }
  TensorId root(TensorId x) {
    if (power_ == 2) return element(OpKind::Sqrt, x);
    return power_ > 2 ? to_power(x, 1.0f / static_cast<float>(power_)) : x;
  }

 private:
  TensorId element(OpKind kind, TensorId id) {
    return in_.emit(kind, graph::NoAttrs{}, {id}, kFloat, {}, "power");
  }
  TensorId to_power(TensorId id, float exponent) {
    return in_.emit(OpKind::Pow, graph::NoAttrs{}, {id, in_.number(exponent)}, kFloat, {}, "power");
  }

  Reader& in_;
  int64_t power_ = 2;
};

// The sum is an average, times how many there are. Zeros beside the input add nothing.
void read_lp_pool(Reader& in) {
  std::optional<Window> window = read_window(in, {});
  if (!window) return;
  pad_automatically(in, *window);
  PowerMean power(in);
  if (!in.require(window->h.dilation == 1 && window->w.dilation == 1, "pools with dilations") ||
      !in.ok())
    return;
  if (in.integer("ceil_mode", 0) != 0)
    for (Axis* axis : {&window->h, &window->w}) axis->after += beyond_padding(*axis);
  TensorId x = power.powers(in.to_channels_last(as_image(in, in.operand(0))));
  const Axis &h = window->h, &w = window->w;
  if (padding(*window) != graph::Padding2d{})
    x = in.emit_alike(OpKind::Pad,
                      graph::PadAttrs{{0, h.before, w.before, 0}, {0, h.after, w.after, 0}}, {x},
                      "pad");
  const graph::Pool2dAttrs attrs{
      .filter_h = h.kernel, .filter_w = w.kernel, .stride_h = h.stride, .stride_w = w.stride};
  x = in.emit_alike(OpKind::AveragePool2d, attrs, {x}, "mean");
  if (!in.ok()) return;
  x = in.emit(OpKind::Mul, graph::BinaryAttrs{},
              {x, in.number(static_cast<float>(h.kernel) * static_cast<float>(w.kernel))}, kFloat,
              {}, "sum");
  in.result(from_image(in, power.root(x), window->is_line));
}

// The average of bytes on another scale than theirs: a depthwise convolution with weights that are all alike, whose sums are exact. Of x with
// its channels last. No tensor where windows reach into padding, which does not count; where it does, the window has none here.
TensorId rescaled_average(Reader& in, TensorId x, const Window& window, const QuantizedAs& as) {
  constexpr int64_t kWeight = 64;  // a power of two, so that only the window's size is rounded
  if (padding(window) != graph::Padding2d{} || in.tensor(x).type != DataType::Int8) return {};
  const int64_t channels = in.shape(x).back(), elements = window.h.kernel * window.w.kernel;
  const Shape shape{1, window.h.kernel, window.w.kernel, channels};
  graph::Quantization q{{static_cast<float>(1 / static_cast<double>(kWeight * elements))}, {0}, 0};
  const std::vector<int64_t> weights(static_cast<size_t>(element_count(shape)), kWeight);
  const graph::DepthwiseConv2dAttrs attrs{.stride_h = window.h.stride, .stride_w = window.w.stride};
  return in.emit(OpKind::DepthwiseConv2d, attrs,
                 {x, in.make_constant(integer_values(DataType::Int8, shape, weights), q), {}},
                 as.type, as.quantization);
}

}  // namespace

// The largest value moves, so any quantisation stays; the average is formed in integers or, where those are not accurate enough, in floats.
void read_pool(Reader& in) {
  if (in.is("LpPool")) return read_lp_pool(in);
  std::optional<Window> window = read_window(in, {}, true);
  if (!window) return;
  pad_automatically(in, *window);
  if (!in.ok()) return;
  const bool is_max = in.is("MaxPool"),
             counts_padding = !is_max && in.integer("count_include_pad", 0) != 0;
  if (window->depth) {
    in.require(in.node().outputs.size() == 1 || !in.is_read(1),
               "gives the places of its maxima in volumes");
    return in.ok() ? read_volume_pool(in, *window, is_max) : void();
  }
  int64_t beyond[] = {0, 0};
  if (in.integer("ceil_mode", 0) != 0 && in.text("auto_pad", "NOTSET") == "NOTSET") {
    beyond[0] = beyond_padding(window->h);
    beyond[1] = beyond_padding(window->w);
  }
  std::vector<int64_t> before(4, 0), after(4, 0);
  if (counts_padding) {
    before = {0, window->h.before, window->w.before, 0},
    after = {0, window->h.after, window->w.after, 0};
    for (Axis* axis : {&window->h, &window->w})
      axis->input += axis->before + axis->after, axis->before = axis->after = 0;
  }
  window->h.after += beyond[0], window->w.after += beyond[1];
  if (in.node().outputs.size() > 1 && in.is_read(1)) {
    const TensorId places = maximum_places(in, *window);
    if (!in.ok()) return;
    in.result(1, {places, Form::Plain, {}});
  }
  const bool dilated = window->h.dilation != 1 || window->w.dilation != 1;
  const auto as_padded_image = [&](TensorId id) {
    const TensorId x = in.to_channels_last(as_image(in, id));
    if (before == after && before == std::vector<int64_t>(4, 0)) return x;
    return in.emit_alike(OpKind::Pad, graph::PadAttrs{before, after}, {x}, "pad");
  };
  const auto make = [&](TensorId id) {
    return from_image(in, pooled(in, as_padded_image(id), *window, is_max), window->is_line);
  };
  if (is_max || in.is_real(0)) {
    const Tail tail = in.tail(false);
    const TensorId id = in.value(0).tensor;
    const bool accurate = is_max || (tail.as && !dilated &&
                                     within_a_step(in.tensor(id).quantization.scale[0], *tail.as));
    const TensorId moved = accurate ? in.attempt([&] { return make(id); }) : TensorId{};
    if (moved.valid()) return in.carried(moved);
    const TensorId rescaled =
        is_max || dilated || !tail.as ? TensorId{} : in.attempt([&]() -> TensorId {
          const TensorId made = rescaled_average(in, as_padded_image(id), *window, *tail.as);
          return made.valid() ? from_image(in, made, window->is_line) : made;
        });
    if (rescaled.valid()) return in.finish(tail, {rescaled, Form::Real, {}});
  }
  if (!is_max && !dilated && window->h.kernel * window->w.kernel <= kMostSummedWords &&
      made_of_words(in, in.tail(false), make))
    return;
  in.result(make(in.operand(0)));
}

void read_global_pool(Reader& in) {
  const size_t rank = in.shape_of(0).size();
  in.require(in.integer("channels_last", 0) == 0, "has its channels last; ONNX has them second");
  if (!in.require(rank >= 3, fmt::format("works on a tensor of rank {}", rank))) return;
  graph::ReduceAttrs attrs{{}, true};
  for (size_t axis = 2; axis < rank; ++axis) attrs.axes.push_back(static_cast<int64_t>(axis));
  if (in.is("GlobalLpPool")) {
    PowerMean power(in);
    if (!in.ok()) return;
    const TensorId powers = power.powers(in.operand(0));
    return in.result(power.root(in.emit(OpKind::Sum, attrs, {powers}, kFloat, {}, "sum")));
  }
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
  if (made_of_words(in, tail, [&](TensorId id) { return mean_of_words(in, attrs, id); })) return;
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
