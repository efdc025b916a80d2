// Resizing of images. The arithmetic of positions is TFLite's: float for the nearest neighbour and for float images,
// fixed point with 10 bits for integers. Which input rows and columns an output row or column takes, and with which weights,
// is known at compile time and becomes tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "intarsia/plugin/resizing.h"
#include "intarsia/plugin/rounding.h"
#include "operators/common_types.h"
#include "operators/families.h"

namespace intarsia::operators {

namespace {

float float_scale(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
  if (attrs.align_corners && out > 1)
    return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

}  // namespace

std::vector<int64_t> nearest_places(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
  const float scale = float_scale(in, out, attrs), shift = attrs.half_pixel_centers ? 0.5f : 0.0f;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < out; ++i) {
    const float position = (static_cast<float>(i) + shift) * scale;
    const float index = attrs.align_corners ? std::round(position) : std::floor(position);
    places.push_back(std::clamp<int64_t>(static_cast<int64_t>(index), 0, in - 1));
  }
  return places;
}

Blend integer_blend(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
  constexpr int64_t kOne = 1 << 10;
  const int64_t scale = attrs.align_corners && out > 1
                            ? (kOne * (in - 1) + (out - 1) / 2) / (out - 1)
                            : (kOne * in + out / 2) / out;
  Blend result;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t position = i * scale + (attrs.half_pixel_centers ? scale / 2 - kOne / 2 : 0);
    const int64_t low = std::clamp<int64_t>(position / kOne, 0, in - 1);
    result.low.push_back(low);
    result.high.push_back(std::clamp<int64_t>(ceil_div(position, kOne), 0, in - 1));
    result.weight.push_back(position - low * kOne);
  }
  return result;
}

namespace {

using namespace graph;
using enum DataType;

Shapes infer_resize(OpCheck& check) {
  const auto& a = check.node.attrs<ResizeAttrs>();
  check.rank(0, 4, "input");
  check.in_range("height", a.height, 1), check.in_range("width", a.width, 1);
  check.require(!a.align_corners || !a.half_pixel_centers,
                "aligns corners and centres of pixels at once");
  if (!check.ok()) return {};
  const Shape& in = check.in(0).shape;
  // Positions are computed in fixed point with 10 bits, in 32-bit integers.
  constexpr int64_t kMostExtent = 1 << 16;
  check.require(std::max({in[1], in[2], a.height, a.width}) <= kMostExtent,
                fmt::format("resizes images of more than {} pixels a side", kMostExtent));
  return {{in[0], a.height, a.width, in[3]}};
}

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
  const auto low = std::clamp<int64_t>(static_cast<int64_t>(std::floor(position)), 0, in - 1);
  const int64_t high = std::min<int64_t>(static_cast<int64_t>(std::ceil(position)), in - 1);
  return {low, high, position - static_cast<float>(low)};
}

Neighbours<int64_t> neighbours(int64_t at, int64_t in, int64_t out, const ResizeAttrs& a, int64_t) {
  constexpr int64_t kOne = 1 << 10;
  const int64_t scale = a.align_corners && out > 1 ? (kOne * (in - 1) + (out - 1) / 2) / (out - 1)
                                                   : (kOne * in + out / 2) / out;
  const int64_t position = at * scale + (a.half_pixel_centers ? scale / 2 - kOne / 2 : int64_t{0});
  const int64_t low = std::clamp<int64_t>(position / kOne, 0, in - 1);  // scales are rounded
  const int64_t high = std::min(ceil_div(position, kOne), in - 1);
  return {low, high, position - low * kOne};
}

template <typename T>
T blend(const T* corners[4], int64_t c, int64_t y, int64_t x) {
  constexpr int64_t kOne = 1 << 10;
  const int64_t sum = corners[0][c] * (kOne - y) * (kOne - x) + corners[1][c] * y * (kOne - x) +
                      corners[2][c] * (kOne - y) * x + corners[3][c] * y * x;
  constexpr int64_t kHalf = 1 << 19;
  return static_cast<T>((sum + (sum > 0 ? kHalf : -kHalf)) / (1 << 20));
}

float blend(const float* corners[4], int64_t c, float y, float x) {
  return corners[0][c] * (1 - y) * (1 - x) + corners[1][c] * y * (1 - x) +
         corners[2][c] * (1 - y) * x + corners[3][c] * y * x;
}

template <typename T, typename Weight>
void bilinear(const Invocation& call) {
  const auto& a = call.node.attrs<ResizeAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  T* result = call.result<T>();
  for (int64_t row = 0; row < out[0] * out[1]; ++row) {
    const T* image = call.data<T>(0) + row / out[1] * in[1] * in[2] * in[3];
    const auto y = neighbours(row % out[1], in[1], out[1], a, Weight{});
    for (int64_t column = 0; column < out[2]; ++column) {
      const auto x = neighbours(column, in[2], out[2], a, Weight{});
      const auto pixel = [&](int64_t at_y, int64_t at_x) {
        return image + (at_y * in[2] + at_x) * in[3];
      };
      const T* corners[4] = {pixel(y.low, x.low), pixel(y.high, x.low), pixel(y.low, x.high),
                             pixel(y.high, x.high)};
      for (int64_t c = 0; c < in[3]; ++c) *result++ = blend(corners, c, y.weight, x.weight);
    }
  }
}

Result<void> eval_resize(const Invocation& call) {
  if (call.node.kind == OpKind::ResizeBilinear) {
    if (call.type() == Int8)
      bilinear<int8_t, int64_t>(call);
    else if (call.type() == Int16)
      bilinear<int16_t, int64_t>(call);
    else if (call.type() == Float32)
      bilinear<float, float>(call);
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

Blend real_blend(int64_t in, int64_t out, const ResizeAttrs& attrs) {
  const float scale = float_scale(in, out, attrs);
  Blend result;
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<float>(i);
    const float position = attrs.half_pixel_centers ? (at + 0.5f) * scale - 0.5f : at * scale;
    const auto low = std::clamp<int64_t>(static_cast<int64_t>(std::floor(position)), 0, in - 1);
    result.low.push_back(low);
    result.high.push_back(
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(position)), 0, in - 1));
    result.real_weight.push_back(position - static_cast<float>(low));
  }
  return result;
}

// The second neighbour's part vanishes from the program.
bool takes_low_only(const Blend& blend) {
  return !blend.weight.empty() &&
         std::all_of(blend.weight.begin(), blend.weight.end(), [](int64_t w) { return w == 0; });
}

// The tables of one axis in the emitted program.
struct AxisTables {
  Table low, high, weight;
  BufferId real_weight;

  AxisTables(OpLowering& op, const std::string& name, const Blend& blend)
      : low(op.table(name + "_low", Int32, blend.low)),
        high(takes_low_only(blend) ? Table(int64_t{0})
                                   : op.table(name + "_high", Int32, blend.high)),
        weight(blend.weight.empty() ? Table(int64_t{0})
                                    : op.table(name + "_weight", Int16, blend.weight)) {
    if (blend.real_weight.empty()) return;
    std::vector<uint8_t> bytes(blend.real_weight.size() * sizeof(float));
    std::memcpy(bytes.data(), blend.real_weight.data(), bytes.size());
    real_weight = op.raw_table(name + "_weight", Float32,
                               {static_cast<int64_t>(blend.real_weight.size())}, std::move(bytes));
  }
};

Stmt lower_resize_nearest(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<ResizeAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  op.declare({in}, out);
  const Table rows = op.table("rows", Int32, nearest_places(in[1], out[1], attrs));
  const Table columns = op.table("columns", Int32, nearest_places(in[2], out[2], attrs));
  return b.loop("n", out[0], [&](const Expr& n) {
    return b.loop("oy", out[1], [&](const Expr& oy) {
      return b.let("iy", rows.at(b, oy), [&](const Expr& iy) {
        return b.loop("ox", out[2], [&](const Expr& ox) {
          return b.let("ix", columns.at(b, ox), [&](const Expr& ix) {
            return b.loop("c", out[3], [&](const Expr& c) {
              return b.store(op.out(), {n, oy, ox, c}, b.load(op.in(0), {n, iy, ix, c}));
            });
          });
        });
      });
    });
  });
}

Stmt lower_resize_bilinear(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<ResizeAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  const DataType type = v.out().type, sum_type = type == Int8    ? Int32
                                                 : type == Int16 ? Int64
                                                                 : Float32;
  const bool integer = type != Float32;
  op.declare({in}, out);
  const auto make = integer ? integer_blend : real_blend;
  const AxisTables y(op, "row", make(in[1], out[1], attrs));
  const AxisTables x(op, "column", make(in[2], out[2], attrs));
  const auto weight_of = [&](const AxisTables& axis, const Expr& at) {
    return integer ? axis.weight.at(b, at) : b.load(axis.real_weight, {at});
  };
  const Expr one = integer ? tir::int_imm(1 << 10) : tir::float_imm(1);
  const auto rounded = [&](const Expr& sum) {
    const auto number = [&](int64_t value) { return tir::int_imm(value, sum_type); };
    const Expr half = tir::select(tir::binary(tir::BinaryOp::Gt, sum, number(0)), number(1 << 19),
                                  number(-(1 << 19)));
    return tir::cast(type, tir::binary(tir::BinaryOp::Div, sum + half, number(1 << 20)));
  };
  const BufferId sum = b.register_("sum", sum_type);
  return b.loop("n", out[0], [&](const Expr& n) {
    return b.loop("oy", out[1], [&](const Expr& oy) {
      return b.let("wy", weight_of(y, oy), [&](const Expr& wy) {
        return b.loop("ox", out[2], [&](const Expr& ox) {
          return b.let("wx", weight_of(x, ox), [&](const Expr& wx) {
            return b.loop("c", out[3], [&](const Expr& c) {
              // Of int16 the product of both weights has 20 bits, and that with the value 36.
              const auto corner = [&](const Table& row, const Table& column, const Expr& of_row,
                                      const Expr& of_column) {
                const Expr value = b.load(op.in(0), {n, row.at(b, oy), column.at(b, ox), c});
                if (type == Int16)
                  return tir::cast(Int64, value) * tir::cast(Int64, of_row * of_column);
                return (integer ? to_i32(value) : value) * of_row * of_column;
              };
              const Expr total =
                  corner(y.low, x.low, one - wy, one - wx) + corner(y.high, x.low, wy, one - wx) +
                  corner(y.low, x.high, one - wy, wx) + corner(y.high, x.high, wy, wx);
              const Expr result = b.load(sum);
              return tir::seq(
                  {b.store(sum, {}, total),
                   b.store(op.out(), {n, oy, ox, c}, integer ? rounded(result) : result)});
            });
          });
        });
      });
    });
  });
}

constexpr Operator kResizingOperators[] = {
    {.kind = OpKind::ResizeNearest,
     .types = kNumber,
     .infer = infer_resize,
     .evaluate = eval_resize,
     .lower = lower_resize_nearest,
     .channels = each_channel},
    {.kind = OpKind::ResizeBilinear,
     .types = kNumber,
     .infer = infer_resize,
     .evaluate = eval_resize,
     .lower = lower_resize_bilinear,
     .channels = each_channel},
};

}  // namespace

std::span<const Operator> resizing_operators() {
  return kResizingOperators;
}

}  // namespace intarsia::operators
