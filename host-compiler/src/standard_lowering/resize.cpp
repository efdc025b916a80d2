// Resizing of images: which input rows and columns an output row or column takes, and with which
// weights, is known at compile time and becomes tables.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "intarsia/rounding.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

using enum DataType;

float float_scale(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
  if (attrs.align_corners && out > 1)
    return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

std::vector<int64_t> nearest(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
  const float scale = float_scale(in, out, attrs), shift = attrs.half_pixel_centers ? 0.5f : 0.0f;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < out; ++i) {
    const float position = (static_cast<float>(i) + shift) * scale;
    const float index = attrs.align_corners ? std::round(position) : std::floor(position);
    places.push_back(std::clamp<int64_t>(static_cast<int64_t>(index), 0, in - 1));
  }
  return places;
}

// Per output position: the two neighbours and the second one's weight.
struct Blend {
  std::vector<int64_t> low, high, weight;  // weights of 1/1024
  std::vector<float> real_weight;
};

Blend blend(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
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

Blend real_blend(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
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

}  // namespace

Refusal refuses_resize(const OpView& view) {
  const bool is_nearest = view.node.kind == graph::OpKind::ResizeNearest;
  std::vector<TypeCombination> types{{{Int8}, Int8}, {{Float32}, Float32}};
  if (is_nearest) types.push_back({{Int16}, Int16});
  return refuses_types(view, types);
}

Stmt lower_resize_nearest(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::ResizeAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  op.declare({in}, out);
  const Table rows = op.table("rows", Int32, nearest(in[1], out[1], attrs));
  const Table columns = op.table("columns", Int32, nearest(in[2], out[2], attrs));
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
  const auto& attrs = v.node.attrs<graph::ResizeAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  const bool integer = v.out().type == Int8;
  op.declare({in}, out);
  const auto make = integer ? blend : real_blend;
  const AxisTables y(op, "row", make(in[1], out[1], attrs));
  const AxisTables x(op, "column", make(in[2], out[2], attrs));
  const auto weight_of = [&](const AxisTables& axis, const Expr& at) {
    return integer ? axis.weight.at(b, at) : b.load(axis.real_weight, {at});
  };
  const Expr one = integer ? tir::int_imm(1 << 10) : tir::float_imm(1);
  const auto rounded = [&](const Expr& sum) {
    const Expr half = tir::select(tir::binary(tir::BinaryOp::Gt, sum, tir::int_imm(0)),
                                  tir::int_imm(1 << 19), tir::int_imm(-(1 << 19)));
    return tir::cast(Int8, tir::binary(tir::BinaryOp::Div, sum + half, tir::int_imm(1 << 20)));
  };
  const BufferId sum = b.register_("sum", integer ? Int32 : Float32);
  return b.loop("n", out[0], [&](const Expr& n) {
    return b.loop("oy", out[1], [&](const Expr& oy) {
      return b.let("wy", weight_of(y, oy), [&](const Expr& wy) {
        return b.loop("ox", out[2], [&](const Expr& ox) {
          return b.let("wx", weight_of(x, ox), [&](const Expr& wx) {
            return b.loop("c", out[3], [&](const Expr& c) {
              const auto corner = [&](const Table& row, const Table& column) {
                const Expr value = b.load(op.in(0), {n, row.at(b, oy), column.at(b, ox), c});
                return integer ? to_i32(value) : value;
              };
              const Expr total = corner(y.low, x.low) * (one - wy) * (one - wx) +
                                 corner(y.high, x.low) * wy * (one - wx) +
                                 corner(y.low, x.high) * (one - wy) * wx +
                                 corner(y.high, x.high) * wy * wx;
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

}  // namespace intarsia::standard_lowering
