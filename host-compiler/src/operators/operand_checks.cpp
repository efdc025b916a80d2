// Rules that the operators of several families share.
#include "operators/operand_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace intarsia::operators {

using namespace graph;
using enum DataType;

Shape broadcast_shape(OpCheck& check, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {  // from the last axis
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      check.fail(fmt::format("shapes [{}] and [{}] cannot be broadcast together", fmt::join(a, ","),
                             fmt::join(b, ",")),
                 "counted from the last axis, extents have to be the same or 1");
      return result;
    }
    result[result.size() - 1 - i] = std::max(x, y);
  }
  return result;
}

Shape broadcast_operands(OpCheck& check) {
  return broadcast_shape(check, check.in(0).shape, check.in(1).shape);
}

bool quantized(OpCheck& check, bool symmetric) {
  bool fine = true;
  for (size_t i = 0; i < check.node.inputs.size(); ++i)
    if (check.in(i).type != Float32)
      fine &= check.per_tensor(check.in(i), fmt::format("operand {}", i), symmetric);
  if (check.out().type != Float32) fine &= check.per_tensor(check.out(), "output", symmetric);
  return fine;
}

Shapes infer_unary(OpCheck& check) {
  if (check.ok() && is_integer(check.in(0).type)) quantized(check, check.in(0).type == Int16);
  return {check.in(0).shape};
}

bool moves(OpCheck& check) {
  const DataType type = check.in(0).type;
  bool same = bits(type) >= 8;
  for (size_t i = 0; i < check.node.inputs.size(); ++i) same &= check.in(i).type == type;
  for (size_t i = 0; i < check.node.outputs.size(); ++i) same &= check.out(i).type == type;
  return check.require(same, fmt::format("cannot move the types {}", check.types_text()),
                       "operands and outputs have to have one type of whole bytes");
}

bool moves_one_type(OpCheck& check) {
  const DataType type = check.in(0).type;
  return check.require(bits(type) >= 8 && check.out().type == type,
                       fmt::format("cannot move the types {}", check.types_text()),
                       "input and output have to have one type of whole bytes");
}

bool is_axis(OpCheck& check, int64_t axis, size_t rank) {
  return check.require(axis >= 0 && axis < static_cast<int64_t>(rank),
                       rank == 0
                           ? "a scalar has no axes"
                           : fmt::format("axis {} is not a number of 0 .. {}", axis, rank - 1));
}

bool per_axis(OpCheck& check, std::string_view what, const std::vector<int64_t>& values,
              size_t rank) {
  return check.require(values.size() == rank,
                       fmt::format("has {} values of '{}' for {} axes", values.size(), what, rank));
}

}  // namespace intarsia::operators
