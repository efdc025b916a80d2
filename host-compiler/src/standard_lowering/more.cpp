// Operators that few models have.
#include <algorithm>
#include <functional>

#include "standard_lowering/broadcast.h"
#include "standard_lowering/dims.h"
#include "standard_lowering/families.h"
#include "standard_lowering/strided_copy.h"

namespace intarsia::standard_lowering {

namespace {

using graph::OpKind;
using enum DataType;

int64_t zero_point(const graph::Tensor& tensor) {
  return tensor.quantization.zero_point[0];
}

int64_t product(const Shape& shape, size_t first, size_t last) {
  int64_t result = 1;
  for (size_t axis = first; axis < last; ++axis) result *= shape[axis];
  return result;
}

// The sum of elements of one quantisation: int8 with 19 bits more, which may wrap around, and which
// TFLite Micro begins with the zero point once more.
struct Sum {
  DataType type;
  Expr start;
  std::function<Expr(Expr sum, Expr element)> add;
  std::function<Expr(Expr sum)> finish;
};

Sum sum_of(const OpView& v) {
  if (!is_integer(v.out().type)) {
    return {Float32, tir::float_imm(0),
            [](Expr sum, Expr x) { return std::move(sum) + std::move(x); },
            [](Expr sum) { return sum; }};
  }
  const double in = v.in(0).quantization.scale[0], out = v.out().quantization.scale[0];
  const Multiplier m = add_rescaling(v.out().type, in, in, out)->output;
  const int64_t zero = zero_point(v.in(0)), out_zero = zero_point(v.out());
  return {Int32, tir::int_imm(-zero * (int64_t{1} << 19)),
          [zero](Expr sum, Expr x) {
            const Expr scaled = (to_i32(std::move(x)) - zero) * (int64_t{1} << 19);
            return tir::call(Int32, "intarsia_add_wrapping_i32", {std::move(sum), scaled});
          },
          [m, out_zero](Expr sum) {
            return clamp(requantize(std::move(sum), m) + out_zero, type_range(Int8), Int8);
          }};
}

Refusal refuses_sum(const OpView& view) {
  const DataType type = view.out().type;
  const std::vector<DataType> inputs(view.node.inputs.size(), type);
  if (type != Int8 && type != Float32) return refuses_types(view, {});
  if (Refusal types = refuses_types(view, {{inputs, type}})) return types;
  if (type == Float32) return std::nullopt;
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  const double in = view.in(0).quantization.scale[0], out = view.out().quantization.scale[0];
  if (!add_rescaling(type, in, in, out))
    return "the scales of operands and output are too far apart";
  return std::nullopt;
}

// An index limited to the axis: generated code has no way to refuse.
Expr limited(Expr index, int64_t most) {
  return tir::max(tir::min(std::move(index), tir::int_imm(most)), tir::int_imm(0));
}

}  // namespace

Refusal refuses_add_n(const OpView& view) {
  return refuses_sum(view);
}
Refusal refuses_cumsum(const OpView& view) {
  return refuses_sum(view);
}

Stmt lower_add_n(OpLowering& op) {
  const Sum sum = sum_of(op.view);
  return combine_operands(op, [&](const std::vector<Expr>& elements) {
    Expr total = sum.start;
    for (const Expr& element : elements) total = sum.add(total, element);
    return sum.finish(total);
  });
}

Stmt lower_cumsum(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::CumsumAttrs>();
  const Shape& shape = v.in(0).shape;
  const auto axis = static_cast<size_t>(attrs.axis);
  const int64_t extent = shape[axis];
  const Shape folded{product(shape, 0, axis), extent, product(shape, axis + 1, shape.size())};
  op.declare({folded}, folded);
  const Sum sum = sum_of(v);
  const BufferId acc = b.register_("sum", sum.type);
  return b.loop("n", folded[0], [&](const Expr& n) {
    return b.loop("i", folded[2], [&](const Expr& i) {
      const Stmt along = b.loop("k", extent, [&](const Expr& k) {
        const Expr at = attrs.reverse ? tir::int_imm(extent - 1) - k : k;
        const Stmt add = b.store(acc, {}, sum.add(b.load(acc), b.load(op.in(0), {n, at, i})));
        const Stmt result = b.store(op.out(), {n, at, i}, sum.finish(b.load(acc)));
        return attrs.exclusive ? tir::seq({result, add}) : tir::seq({add, result});
      });
      return tir::seq({b.store(acc, {}, sum.start), along});
    });
  });
}

Refusal refuses_float_pair(const OpView& view) {
  std::vector<TypeCombination> allowed{{{Float32, Float32}, Float32}};
  if (view.node.kind != OpKind::Pow) allowed.push_back({{Int32, Int32}, Int32});
  return refuses_types(view, allowed);
}

Stmt lower_float_pair(OpLowering& op) {
  const OpKind kind = op.view.node.kind;
  const DataType type = op.view.out().type;
  return combine_operands(op, [&](const std::vector<Expr>& x) -> Expr {
    if (kind == OpKind::Pow) return tir::call(Float32, "intarsia_pow_f32", x);
    if (type == Int32)
      return tir::call(
          Int32, kind == OpKind::FloorDiv ? "intarsia_floor_div_i32" : "intarsia_floor_mod_i32", x);
    if (kind == OpKind::FloorMod) return tir::call(Float32, "intarsia_floor_mod_f32", x);
    return tir::call(Float32, "intarsia_floor_f32", {tir::call(Float32, "intarsia_divide_f32", x)});
  });
}

Stmt lower_broadcast_to(OpLowering& op) {
  const OpView& v = op.view;
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  const std::vector<int64_t> strides = dense_strides(in);
  StridedCopy copy{out, 0, std::vector<int64_t>(out.size(), 0), 0, dense_strides(out)};
  for (size_t axis = 0; axis < in.size(); ++axis)
    if (in[axis] != 1) copy.from_strides[out.size() - in.size() + axis] = strides[axis];
  op.declare({Shape{element_count(in)}}, Shape{element_count(out)});
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

// Every axis becomes two: which copy, and where in it.
Stmt lower_tile(OpLowering& op) {
  const OpView& v = op.view;
  const Shape& in = v.in(0).shape;
  const auto& multiples = v.node.attrs<graph::TileAttrs>().multiples;
  const std::vector<int64_t> strides = dense_strides(in);
  StridedCopy copy{{}, 0, {}, 0, {}};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    copy.extents.insert(copy.extents.end(), {multiples[axis], in[axis]});
    copy.from_strides.insert(copy.from_strides.end(), {0, strides[axis]});
  }
  copy.to_strides = dense_strides(copy.extents);
  op.declare({Shape{element_count(in)}}, Shape{element_count(v.out().shape)});
  return strided_copy(op.b, op.in(0), op.out(), copy);
}

Refusal refuses_dynamic_update_slice(const OpView& view) {
  if (view.in(1).type != view.in(0).type || view.in(2).type != Int32)
    return refuses_types(view, {});
  return refuses_move(view);
}

Stmt lower_gather_nd(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const Shape &data = v.in(0).shape, &indices = v.in(1).shape;
  const auto depth = static_cast<size_t>(indices.back());
  const int64_t run = product(data, depth, data.size()),
                rows = product(indices, 0, indices.size() - 1);
  Shape folded(data.begin(), data.begin() + indices.back());
  folded.push_back(run);
  op.declare({folded, Shape{rows, indices.back()}}, {rows, run});
  return b.loop("row", rows, [&](const Expr& row) {
    std::vector<Expr> place;
    const std::function<Stmt()> copy_from = [&]() -> Stmt {
      const size_t axis = place.size();
      if (axis == depth) {
        return b.loop("i", run, [&](const Expr& i) {
          std::vector<Expr> from = place;
          from.push_back(i);
          return b.store(op.out(), {row, i}, b.load(op.in(0), from));
        });
      }
      const Expr index = limited(b.load(op.in(1), {row, tir::int_imm(static_cast<int64_t>(axis))}),
                                 data[axis] - 1);
      return b.let("index", index, [&](const Expr& at) {
        place.push_back(at);
        return copy_from();
      });
    };
    return copy_from();
  });
}

Stmt lower_dynamic_update_slice(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const Shape &shape = v.in(0).shape, &update = v.in(1).shape;
  op.declare({shape, update, Shape{static_cast<int64_t>(shape.size())}}, shape);
  const Stmt copy = nested_loops(b, shape, [&](const std::vector<Expr>& at) {
    return b.store(op.out(), at, b.load(op.in(0), at));
  });
  std::vector<Expr> start;
  const std::function<Stmt()> replace = [&]() -> Stmt {
    const size_t axis = start.size();
    if (axis == shape.size()) {
      return nested_loops(b, update, [&](const std::vector<Expr>& from) {
        std::vector<Expr> to;
        for (size_t i = 0; i < from.size(); ++i) to.push_back(start[i] + from[i]);
        return b.store(op.out(), to, b.load(op.in(1), from));
      });
    }
    const Expr first = limited(b.load(op.in(2), {tir::int_imm(static_cast<int64_t>(axis))}),
                               shape[axis] - update[axis]);
    return b.let("start", first, [&](const Expr& at) {
      start.push_back(at);
      return replace();
    });
  };
  return tir::seq(
      {copy, tir::with_comment("the update takes the place of what is there", replace())});
}

}  // namespace intarsia::standard_lowering
