#include "operators/lowering/broadcast.h"

#include "operators/lowering/dims.h"

namespace intarsia::operators {

Stmt map_elements(OpLowering& op, const std::function<Expr(Expr)>& function) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  op.allow_in_place();
  return op.b.loop("i", flat[0], [&](const Expr& i) {
    return op.b.store(op.out(), {i}, function(op.b.load(op.in(0), {i})));
  });
}

namespace {

struct Broadcast {
  std::vector<Shape> operands;  // of the output's rank; extents of 1 are repeated
  Shape out;
};

// Axes along which the same operands repeat become one.
Broadcast broadcast(const OpView& v) {
  const Shape& out = v.out().shape;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < v.node.inputs.size(); ++i) {
    Shape shape = v.in(i).shape;
    shape.insert(shape.begin(), out.size() - shape.size(), 1);
    shapes.push_back(std::move(shape));
  }
  Broadcast result{std::vector<Shape>(shapes.size()), {}};
  std::optional<std::vector<bool>> run;
  for (size_t axis = 0; axis < out.size(); ++axis) {
    if (out[axis] == 1) continue;  // repeats nothing and may join any run
    std::vector<bool> here;
    for (const Shape& shape : shapes) here.push_back(shape[axis] != out[axis]);
    if (run != here) {
      for (Shape& operand : result.operands) operand.push_back(1);
      result.out.push_back(1);
      run = here;
    }
    for (size_t i = 0; i < shapes.size(); ++i) result.operands[i].back() *= shapes[i][axis];
    result.out.back() *= out[axis];
  }
  if (result.out.empty()) result = {std::vector<Shape>(shapes.size(), {1}), {1}};
  return result;
}

}  // namespace

Stmt combine_operands(OpLowering& op,
                      const std::function<Expr(const std::vector<Expr>&)>& function) {
  const Broadcast shapes = broadcast(op.view);
  op.declare({shapes.operands.begin(), shapes.operands.end()}, shapes.out);
  op.allow_in_place();
  return nested_loops(op.b, shapes.out, [&](const std::vector<Expr>& indices) {
    std::vector<Expr> elements;
    for (size_t input = 0; input < shapes.operands.size(); ++input) {
      std::vector<Expr> place = indices;
      for (size_t axis = 0; axis < place.size(); ++axis)
        if (shapes.operands[input][axis] == 1) place[axis] = tir::int_imm(0);
      elements.push_back(op.b.load(op.in(input), place));
    }
    return op.b.store(op.out(), indices, function(elements));
  });
}

Stmt lower_by_call(OpLowering& op, const char* helper) {
  return map_elements(
      op, [helper](Expr x) { return tir::call(DataType::Float32, helper, {std::move(x)}); });
}

}  // namespace intarsia::operators
