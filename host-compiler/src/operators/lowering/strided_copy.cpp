#include "operators/lowering/strided_copy.h"

#include "operators/lowering/dims.h"

namespace intarsia::operators {

std::vector<int64_t> dense_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

namespace {

// Without axes of one element, and with one axis where two of both sides follow each other.
StridedCopy merged(const StridedCopy& copy) {
  StridedCopy result;
  result.from_offset = copy.from_offset, result.to_offset = copy.to_offset;
  for (size_t axis = 0; axis < copy.extents.size(); ++axis) {
    const int64_t extent = copy.extents[axis];
    if (extent == 1) continue;
    const int64_t from = copy.from_strides[axis], to = copy.to_strides[axis];
    const bool joins = !result.extents.empty() && result.from_strides.back() == from * extent &&
                       result.to_strides.back() == to * extent;
    if (joins) {
      result.extents.back() *= extent;
      result.from_strides.back() = from, result.to_strides.back() = to;
    } else {
      result.extents.push_back(extent);
      result.from_strides.push_back(from), result.to_strides.push_back(to);
    }
  }
  return result;
}

Expr place(int64_t offset, const std::vector<int64_t>& strides, const std::vector<Expr>& indices) {
  Expr sum = tir::int_imm(offset);
  for (size_t axis = 0; axis < indices.size(); ++axis) sum = sum + indices[axis] * strides[axis];
  return sum;
}

}  // namespace

Stmt strided_copy(FuncBuilder& b, BufferId from, BufferId to, const StridedCopy& copy) {
  const StridedCopy m = merged(copy);
  return nested_loops(b, m.extents, [&](const std::vector<Expr>& indices) {
    return b.store(to, {place(m.to_offset, m.to_strides, indices)},
                   b.load(from, {place(m.from_offset, m.from_strides, indices)}));
  });
}

void declare_flat(OpLowering& op) {
  const OpView& v = op.view;
  std::vector<std::optional<Shape>> inputs;
  std::vector<Shape> outputs;
  for (size_t i = 0; i < v.node.inputs.size(); ++i)
    inputs.emplace_back(Shape{element_count(v.in(i).shape)});
  for (size_t i = 0; i < v.node.outputs.size(); ++i)
    outputs.push_back(Shape{element_count(v.out(i).shape)});
  op.declare(inputs, outputs);
}

Stmt lower_copy(OpLowering& op) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  return op.b.loop("i", flat[0], [&](const Expr& i) {
    return op.b.store(op.out(), {i}, op.b.load(op.in(0), {i}));
  });
}

}  // namespace intarsia::operators
