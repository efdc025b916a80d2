// Operators that only move bytes: pad, and the copy a reshape needs when its output cannot be the
// same memory as its input.
#include <cstring>

#include "standard_lowering/dims.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

Expr fill_value(const graph::Tensor& tensor) {
  if (!is_integer(tensor.type)) return tir::float_imm(0.0f);
  const int64_t zero = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
  return tir::int_imm(zero, tensor.type);
}

}  // namespace

Refusal refuses_pad(const OpView& view) {
  const DataType type = view.in(0).type;
  if (view.out().type != type || type == DataType::Int4 || type == DataType::Bool) {
    return refuses_types(view, {});
  }
  return std::nullopt;
}

namespace {

Stmt pad_with(OpLowering& op, const Expr& value) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::PadAttrs>();
  const Shape& in = v.in(0).shape;
  // An axis without padding is part of the one before it.
  Shape inner;
  std::vector<int64_t> before;
  Shape padded;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const int64_t low = attrs.before[axis], extent = v.out().shape[axis];
    if (inner.empty() || low != 0 || extent != in[axis]) {
      inner.push_back(in[axis]), before.push_back(low), padded.push_back(extent);
    } else {
      inner.back() *= in[axis], before.back() *= in[axis], padded.back() *= in[axis];
    }
  }
  if (inner.empty()) inner = {1}, before = {0}, padded = {1};
  op.declare({inner}, Shape{element_count(padded)});
  const Stmt fill = b.loop("i", element_count(padded),
                           [&](const Expr& i) { return b.store(op.out(), {i}, value); });
  const Stmt copy = nested_loops(b, inner, [&](const std::vector<Expr>& indices) {
    Expr place = tir::int_imm(0);
    for (size_t axis = 0; axis < padded.size(); ++axis) {
      place = place * padded[axis] + (indices[axis] + before[axis]);
    }
    return b.store(op.out(), {place}, b.load(op.in(0), indices));
  });
  return tir::seq({tir::with_comment("everything, then the part that is not padding", fill), copy});
}

}  // namespace

Stmt lower_pad(OpLowering& op) {
  return pad_with(op, fill_value(op.view.out()));
}

Stmt lower_pad_v2(OpLowering& op) {
  const OpView& v = op.view;
  if (is_integer(v.out().type)) return pad_with(op, tir::int_imm(v.values(1)[0], v.out().type));
  float value = 0;
  std::memcpy(&value, v.stored_bytes(1).data(), sizeof value);
  return pad_with(op, tir::float_imm(value));
}

Stmt lower_copy(OpLowering& op) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  return op.b.loop("i", flat[0], [&](const Expr& i) {
    return op.b.store(op.out(), {i}, op.b.load(op.in(0), {i}));
  });
}

}  // namespace intarsia::standard_lowering
