// Resizing of images. The arithmetic of positions is TFLite's: float for the nearest neighbour and
// for float images, fixed point with 10 bits for int8.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/kernels.h"
#include "intarsia/rounding.h"

namespace intarsia::graph {
namespace {

using enum DataType;

int64_t nearest(int64_t at, int64_t in, int64_t out, const ResizeAttrs& a) {
  const float scale = a.align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float position = (static_cast<float>(at) + (a.half_pixel_centers ? 0.5f : 0.0f)) * scale;
  const auto index =
      static_cast<int64_t>(a.align_corners ? std::round(position) : std::floor(position));
  return std::clamp<int64_t>(index, 0, in - 1);
}

// Two neighbours and the weight of the second.
template <typename T>
struct Neighbours {
  int64_t low, high;
  T weight;
};

Neighbours<float> neighbours(int64_t at, int64_t in, int64_t out, const ResizeAttrs& a, float) {
  const float scale = a.align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const auto index = static_cast<float>(at);
  const float position = a.half_pixel_centers ? (index + 0.5f) * scale - 0.5f : index * scale;
  const int64_t low = std::max<int64_t>(static_cast<int64_t>(std::floor(position)), 0);
  const int64_t high = std::min<int64_t>(static_cast<int64_t>(std::ceil(position)), in - 1);
  return {low, high, position - static_cast<float>(low)};
}

Neighbours<int64_t> neighbours(int64_t at, int64_t in, int64_t out, const ResizeAttrs& a, int8_t) {
  constexpr int64_t kOne = 1 << 10;
  const int64_t scale = a.align_corners && out > 1 ? (kOne * (in - 1) + (out - 1) / 2) / (out - 1)
                                                   : (kOne * in + out / 2) / out;
  const int64_t position = at * scale + (a.half_pixel_centers ? scale / 2 - kOne / 2 : int64_t{0});
  const int64_t low = std::max<int64_t>(position / kOne, 0);
  const int64_t high = std::min(ceil_div(position, kOne), in - 1);
  return {low, high, position - low * kOne};
}

int8_t blend(const int8_t* corners[4], int64_t c, int64_t y, int64_t x, int8_t) {
  constexpr int64_t kOne = 1 << 10;
  const int64_t sum = corners[0][c] * (kOne - y) * (kOne - x) + corners[1][c] * y * (kOne - x) +
                      corners[2][c] * (kOne - y) * x + corners[3][c] * y * x;
  constexpr int64_t kHalf = 1 << 19;
  return static_cast<int8_t>((sum + (sum > 0 ? kHalf : -kHalf)) / (1 << 20));
}

float blend(const float* corners[4], int64_t c, float y, float x, float) {
  return corners[0][c] * (1 - y) * (1 - x) + corners[1][c] * y * (1 - x) +
         corners[2][c] * (1 - y) * x + corners[3][c] * y * x;
}

template <typename T>
void bilinear(const Invocation& call) {
  const auto& a = call.node.attrs<ResizeAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  T* result = call.result<T>();
  for (int64_t row = 0; row < out[0] * out[1]; ++row) {
    const T* image = call.data<T>(0) + row / out[1] * in[1] * in[2] * in[3];
    const auto y = neighbours(row % out[1], in[1], out[1], a, T{});
    for (int64_t column = 0; column < out[2]; ++column) {
      const auto x = neighbours(column, in[2], out[2], a, T{});
      const auto pixel = [&](int64_t at_y, int64_t at_x) {
        return image + (at_y * in[2] + at_x) * in[3];
      };
      const T* corners[4] = {pixel(y.low, x.low), pixel(y.high, x.low), pixel(y.low, x.high),
                             pixel(y.high, x.high)};
      for (int64_t c = 0; c < in[3]; ++c) *result++ = blend(corners, c, y.weight, x.weight, T{});
    }
  }
}

}  // namespace

Result<void> eval_resize(const Invocation& call) {
  if (call.node.kind == OpKind::ResizeBilinear) {
    if (call.type() == Int8)
      bilinear<int8_t>(call);
    else if (call.type() == Float32)
      bilinear<float>(call);
    else
      return unsupported_types(call);
    return {};
  }
  const auto& a = call.node.attrs<ResizeAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  const auto pixel = static_cast<size_t>(in[3] * bits(call.type()) / 8);
  for (int64_t i = 0; i < out[0] * out[1] * out[2]; ++i) {
    const int64_t x = i % out[2], y = i / out[2] % out[1], batch = i / out[2] / out[1];
    const int64_t from =
        (batch * in[1] + nearest(y, in[1], out[1], a)) * in[2] + nearest(x, in[2], out[2], a);
    std::memcpy(call.outputs[0] + static_cast<size_t>(i) * pixel,
                call.inputs[0] + static_cast<size_t>(from) * pixel, pixel);
  }
  return {};
}

}  // namespace intarsia::graph
