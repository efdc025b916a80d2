// Average and maximum over windows. The average counts the elements inside the input only.
#include <functional>
#include <limits>

#include "standard_lowering/families.h"
#include "standard_lowering/window.h"

namespace intarsia::standard_lowering {

namespace {

struct PoolShape {
  int64_t batches;
  Axis y, x;
  int64_t channels;
  graph::Activation activation;
};

PoolShape pool_shape(const OpView& v) {
  const auto& attrs = v.node.attrs<graph::Pool2dAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  PoolShape s{in[0],
              {in[1], out[1], attrs.filter_h, attrs.stride_h, 1, attrs.padding.top},
              {in[2], out[2], attrs.filter_w, attrs.stride_w, 1, attrs.padding.left},
              in[3],
              attrs.activation};
  if (s.x.is_global() && s.y.is_global()) {  // all pixels are one row
    const int64_t pixels = in[1] * in[2];
    s.y = {1, 1, 1};
    s.x = {pixels, 1, pixels};
  }
  if (s.x.is_trivial()) std::swap(s.x, s.y);
  return s;
}

// acc = start; acc = step(acc, element) over the window; output = finish(acc, number of elements).
struct Reduction {
  DataType type;  // of the accumulator
  Expr start;
  std::function<Expr(Expr acc, Expr element)> step;
  std::function<Expr(Expr acc, Expr count)> finish;
};

Stmt lower_pool(OpLowering& op, const PoolShape& s, const Reduction& reduction) {
  FuncBuilder& b = op.b;
  op.declare({Shape{s.batches, s.y.input, s.x.input, s.channels}},
             {s.batches, s.y.output, s.x.output, s.channels});
  const BufferId acc = b.register_("acc", reduction.type);
  return for_each_place(b, s.batches, s.y, s.x, 1, [&](const Place& at) {
    return b.loop("c", s.channels, [&](const Expr& c) {
      const Stmt window = window_loop(b, s.y, "ky", at.row, [&](const Expr&, const Expr& iy) {
        return window_loop(b, s.x, "kx", at.column, [&](const Expr&, const Expr& ix) {
          const Expr element = b.load(op.in(0), {at.batch, iy, ix, c});
          return b.store(acc, {}, reduction.step(b.load(acc), element));
        });
      });
      const Expr count = (at.row.last - at.row.first) * (at.column.last - at.column.first);
      const Expr result = reduction.finish(b.load(acc), count);
      return tir::seq({b.store(acc, {}, reduction.start), window,
                       b.store(op.out(), {at.batch, at.oy, at.ox, c}, result)});
    });
  });
}

Range limits(const OpView& v, graph::Activation activation) {
  const graph::Quantization& q = v.out().quantization;
  return activation_range(activation, v.out().type, q.scale[0], q.zero_point[0]);
}

// Limits that a value of the type can exceed.
Range tightened(Range range, DataType type) {
  const Range whole = type_range(type), widest = type_range(DataType::Int32);
  if (range.low == whole.low) range.low = widest.low;
  if (range.high == whole.high) range.high = widest.high;
  return range;
}

}  // namespace

Refusal refuses_pool(const OpView& view) {
  using enum DataType;
  if (Refusal types = refuses_types(view, {{{Int8}, Int8}, {{Int16}, Int16}, {{Float32}, Float32}}))
    return types;
  const auto& attrs = view.node.attrs<graph::Pool2dAttrs>();
  if (view.in(0).type == Int16 && attrs.filter_h * attrs.filter_w > 65535)
    return "more than 65535 int16 are added up";
  return refuses_quantization(view);
}

Stmt lower_average_pool2d(OpLowering& op) {
  const PoolShape s = pool_shape(op.view);
  const DataType type = op.view.out().type;
  if (type == DataType::Float32) {
    const FloatRange range = activation_range(s.activation);
    return lower_pool(
        op, s,
        {type, tir::float_imm(0.0f), [](Expr acc, Expr element) { return acc + element; },
         [&](Expr acc, Expr count) {
           const Expr divisor = tir::cast(DataType::Float32, count);
           return clamp(tir::call(type, "intarsia_divide_f32", {acc, divisor}), range);
         }});
  }
  // An average lies within the type, so only an activation limits it.
  const Range range = tightened(limits(op.view, s.activation), type);
  return lower_pool(
      op, s,
      {DataType::Int32, tir::int_imm(0),
       [](Expr acc, Expr element) { return acc + to_i32(element); },
       [&](Expr acc, Expr count) {
         const Expr mean = tir::call(DataType::Int32, "intarsia_divide_round_i32", {acc, count});
         return clamp(mean, range, type);
       }});
}

Refusal refuses_l2_pool(const OpView& view) {
  return refuses_types(view, {{{DataType::Float32}, DataType::Float32}});
}

Stmt lower_l2_pool2d(OpLowering& op) {
  const PoolShape s = pool_shape(op.view);
  return lower_pool(op, s,
                    {DataType::Float32, tir::float_imm(0.0f),
                     [](Expr acc, Expr element) { return acc + element * element; },
                     [&](Expr acc, Expr count) {
                       const Expr mean = tir::call(DataType::Float32, "intarsia_divide_f32",
                                                   {acc, tir::cast(DataType::Float32, count)});
                       return clamp(tir::call(DataType::Float32, "intarsia_sqrt_f32", {mean}),
                                    activation_range(s.activation));
                     }});
}

Stmt lower_max_pool2d(OpLowering& op) {
  const PoolShape s = pool_shape(op.view);
  const DataType type = op.view.out().type;
  if (type == DataType::Float32) {
    const FloatRange range = activation_range(s.activation);
    return lower_pool(op, s,
                      {type, tir::float_imm(std::numeric_limits<float>::lowest()),
                       [](Expr acc, Expr element) { return tir::max(acc, element); },
                       [&](Expr acc, Expr) { return clamp(acc, range); }});
  }
  const Range range = tightened(limits(op.view, s.activation), type);
  return lower_pool(op, s,
                    {DataType::Int32, tir::int_imm(type_range(type).low),
                     [](Expr acc, Expr element) { return tir::max(acc, to_i32(element)); },
                     [&](Expr acc, Expr) { return clamp(acc, range, type); }});
}

}  // namespace intarsia::standard_lowering
