// Rules of operators that few models have.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graph/op_check.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

bool moves_one_type(OpCheck& check) {
  const DataType type = check.in(0).type;
  return check.require(bits(type) >= 8 && check.out().type == type,
                       fmt::format("cannot move the types {}", check.types_text()),
                       "input and output have to have one type of whole bytes");
}

// Sums are formed on a common scale of the operands with 20 bits more, then brought to the output's.
void sums(OpCheck& check) {
  if (!check.ok() || check.in(0).type == Float32) return;
  bool fine = check.per_tensor(check.out(), "output");
  for (size_t i = 0; i < check.node.inputs.size(); ++i)
    fine &= check.per_tensor(check.in(i), fmt::format("operand {}", i));
  if (!fine) return;
  for (size_t i = 1; i < check.node.inputs.size(); ++i)
    check.require(check.in(i).quantization == check.in(0).quantization,
                  fmt::format("operand {} differs from operand 0 in its quantisation", i));
  if (check.ok()) check.factor(add_factors(check.in(0), check.in(0), check.out()).output, 0);
}

}  // namespace

Shapes infer_float_pair(OpCheck& check) {
  check.types(
      check.node.kind == OpKind::Pow
          ? std::vector<TypeCombination>{{Float32, Float32, Float32}}
          : std::vector<TypeCombination>{{Int32, Int32, Int32}, {Float32, Float32, Float32}});
  return {broadcast_shape(check, check.in(0).shape, check.in(1).shape)};
}

Shapes infer_add_n(OpCheck& check) {
  const DataType type = check.in(0).type;
  check.types({{Int8, Int8}, {Float32, Float32}});
  for (size_t i = 1; i < check.node.inputs.size(); ++i) {
    check.require(check.in(i).type == type,
                  fmt::format("operand {} has another type than operand 0", i));
    check.require(
        check.in(i).shape == check.in(0).shape,
        fmt::format("operand {} has the shape [{}], but operand 0 has [{}]", i,
                    fmt::join(check.in(i).shape, ","), fmt::join(check.in(0).shape, ",")));
  }
  sums(check);
  return {check.in(0).shape};
}

Shapes infer_broadcast_to(OpCheck& check) {
  const Shape& shape = check.node.attrs<ShapeAttrs>().shape;
  if (!moves_one_type(check)) return {};
  const std::string problem = shape_problem(check.in(0).type, shape);
  if (!check.require(problem.empty(), "the attribute 'shape': " + problem)) return {};
  const Shape both = broadcast_shape(check, check.in(0).shape, shape);
  if (check.ok())
    check.require(both == shape,
                  fmt::format("cannot broadcast [{}] to [{}]", fmt::join(check.in(0).shape, ","),
                              fmt::join(shape, ",")));
  return {shape};
}

Shapes infer_tile(OpCheck& check) {
  const auto& multiples = check.node.attrs<TileAttrs>().multiples;
  Shape shape = check.in(0).shape;
  if (!moves_one_type(check) ||
      !check.require(multiples.size() == shape.size(),
                     fmt::format("has {} multiples for {} axes", multiples.size(), shape.size())))
    return {};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!check.in_range("multiple", multiples[i], 1)) return {};
    shape[i] *= multiples[i];
  }
  return {shape};
}

Shapes infer_cumsum(OpCheck& check) {
  const auto& a = check.node.attrs<CumsumAttrs>();
  check.types({{Int8, Int8}, {Float32, Float32}});
  check.require(a.axis >= 0 && a.axis < static_cast<int64_t>(check.in(0).shape.size()),
                fmt::format("has the axis {} for rank {}", a.axis, check.in(0).shape.size()));
  sums(check);
  return {check.in(0).shape};
}

Shapes infer_gather_nd(OpCheck& check) {
  const Shape &data = check.in(0).shape, &indices = check.in(1).shape;
  if (!moves_one_type(check)) return {};
  check.require(check.in(1).type == Int32,
                fmt::format("the indices have to be i32, but are {}", to_string(check.in(1).type)));
  if (!check.require(!indices.empty(), "the indices are a scalar")) return {};
  const int64_t depth = indices.back();
  if (!check.require(depth <= static_cast<int64_t>(data.size()),
                     fmt::format("indexes {} axes of a tensor of rank {}", depth, data.size())))
    return {};
  Shape result(indices.begin(), indices.end() - 1);
  result.insert(result.end(), data.begin() + depth, data.end());
  return {result};
}

Shapes infer_dynamic_update_slice(OpCheck& check) {
  const Shape &operand = check.in(0).shape, &update = check.in(1).shape;
  if (!moves_one_type(check)) return {};
  check.require(check.in(1).type == check.in(0).type,
                "the update has another type than the operand");
  check.require(
      check.in(2).type == Int32 && check.in(2).shape == Shape{static_cast<int64_t>(operand.size())},
      fmt::format("the start indices have to be i32[{}]", operand.size()));
  const bool fits = update.size() == operand.size() &&
                    std::equal(update.begin(), update.end(), operand.begin(), std::less_equal<>());
  check.require(fits, fmt::format("an update of [{}] does not fit into [{}]",
                                  fmt::join(update, ","), fmt::join(operand, ",")));
  return {operand};
}

}  // namespace intarsia::graph
