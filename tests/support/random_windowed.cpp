// Operators that slide a window over rows and columns.
#include <algorithm>

#include "support/random_builder.h"

namespace intarsia::testing::families {

namespace {

// One spatial axis: the kernel covers at least one element from every position.
struct WindowAxis {
  int64_t input, kernel, stride, dilation, before, after;
};

WindowAxis window_axis(Random& r, bool may_dilate) {
  WindowAxis a{};
  a.kernel = r.range(1, 4);
  a.dilation = may_dilate && r.chance(25) ? r.range(2, 3) : 1;
  a.stride = r.range(1, 3);
  const int64_t reach = (a.kernel - 1) * a.dilation + 1;
  if (r.chance(60)) {
    a.before = r.range(0, reach - 1);
    a.after = r.range(0, reach - 1);
  }
  const int64_t least = reach - a.before - a.after;
  // Often as narrow as the window allows.
  a.input = std::max<int64_t>(std::max<int64_t>(least, 1), r.chance(30) ? 1 : r.range(1, 9));
  return a;
}

Padding2d padding(const WindowAxis& y, const WindowAxis& x) {
  return {y.before, x.before, y.after, x.after};
}

}  // namespace

Module conv2d(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, true),
                   x = r.chance(15) ? WindowAxis{1, 1, 1, 1, 0, 0} : window_axis(r, true);
  const int64_t groups = r.chance(20) ? r.range(2, 3) : 1, per_group = r.range(1, 4);
  const int64_t channels = groups * r.range(1, 4);
  b.input({r.range(1, 2), y.input, x.input, groups * per_group});
  b.weights({channels, y.kernel, x.kernel, per_group}, channels, 0, r.chance(70));
  b.node().attributes =
      Conv2dAttrs{y.stride, x.stride, y.dilation, x.dilation, padding(y, x), b.activation()};
  return b.finish();
}

Module depthwise_conv2d(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, true),
                   x = r.chance(15) ? WindowAxis{1, 1, 1, 1, 0, 0} : window_axis(r, true);
  const int64_t channels = r.range(1, 5), multiplier = r.range(1, 3);
  b.input({r.range(1, 2), y.input, x.input, channels});
  b.weights({1, y.kernel, x.kernel, channels * multiplier}, channels * multiplier, 3, r.chance(70));
  b.node().attributes = DepthwiseConv2dAttrs{y.stride,   x.stride,      y.dilation,    x.dilation,
                                             multiplier, padding(y, x), b.activation()};
  return b.finish();
}

Module hybrid_conv2d(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, true), x = window_axis(r, true);
  const int64_t groups = r.chance(20) ? r.range(2, 3) : 1, per_group = r.range(1, 4);
  const int64_t channels = groups * r.range(1, 4), rows = r.range(1, 2);
  b.input({rows, y.input, x.input, groups * per_group});
  b.hybrid_weights({channels, y.kernel, x.kernel, per_group}, channels, 0, rows);
  b.node().attributes =
      Conv2dAttrs{y.stride, x.stride, y.dilation, x.dilation, padding(y, x), b.activation()};
  return b.finish(DataType::Float32, {});
}

Module hybrid_depthwise_conv2d(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, true), x = window_axis(r, true);
  const int64_t multiplier = r.range(1, 3), filters = multiplier * r.range(1, 5);
  const int64_t rows = r.range(1, 2);
  b.input({rows, y.input, x.input, filters / multiplier});
  b.hybrid_weights({1, y.kernel, x.kernel, filters}, filters, 3, rows);
  b.node().attributes = DepthwiseConv2dAttrs{y.stride,   x.stride,      y.dilation,    x.dilation,
                                             multiplier, padding(y, x), b.activation()};
  return b.finish(DataType::Float32, {});
}

Module transpose_conv2d(Builder& b) {
  Random& r = b.random();
  TransposeConv2dAttrs a;
  a.stride_h = r.range(1, 3), a.stride_w = r.range(1, 3);
  a.pad_top = r.range(0, 2), a.pad_left = r.range(0, 2);
  const Shape in{r.range(1, 2), r.range(1, 5), r.range(1, 5), r.range(1, 4)};
  const int64_t filters = r.range(1, 5), kh = r.range(1, 4), kw = r.range(1, 4);
  a.out_h = std::max<int64_t>(1, (in[1] - 1) * a.stride_h + kh - a.pad_top - r.range(-1, 2));
  a.out_w = std::max<int64_t>(1, (in[2] - 1) * a.stride_w + kw - a.pad_left - r.range(-1, 2));
  a.activation = b.activation();
  b.input(in);
  b.weights({filters, kh, kw, in[3]}, filters, 0, r.chance(70));
  b.node().attributes = a;
  return b.finish();
}

Module pool(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, false), x = window_axis(r, false);
  const TensorId input = b.input({r.range(1, 2), y.input, x.input, r.range(1, 5)});
  b.node().attributes =
      Pool2dAttrs{y.kernel, x.kernel, y.stride, x.stride, padding(y, x), b.activation()};
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module resize(Builder& b) {
  Random& r = b.random();
  ResizeAttrs a{r.range(1, 9), r.range(1, 9), false, false};
  a.align_corners = r.chance(30);
  a.half_pixel_centers = !a.align_corners && r.chance(50);
  const TensorId input = b.input({r.range(1, 2), r.range(1, 6), r.range(1, 6), r.range(1, 3)});
  b.node().attributes = a;
  return b.finish(b.type(), b.tensor(input).quantization);
}

}  // namespace intarsia::testing::families
