// Tensors joined along an axis, and taken apart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "operators/evaluation/moved_elements.h"
#include "operators/families.h"
#include "operators/lowering/dims.h"
#include "operators/lowering/strided_copy.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_concat(OpCheck& check) {
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape result = check.in(0).shape;
  if (!moves(check) || !is_axis(check, axis, result.size())) return {};
  const auto along = static_cast<size_t>(axis);
  for (size_t i = 1; i < check.node.inputs.size(); ++i) {
    Shape shape = check.in(i).shape;
    if (shape.size() != result.size()) {
      check.fail(
          fmt::format("input {} has rank {}, but input 0 has {}", i, shape.size(), result.size()));
      return {};
    }
    const int64_t extent = shape[along];
    shape[along] = result[along];
    check.require(
        shape == result,
        fmt::format("input {} has the shape [{}], which differs from input 0's [{}] in "
                    "more than axis {}",
                    i, fmt::join(check.in(i).shape, ","), fmt::join(check.in(0).shape, ","), axis));
    result[along] += extent;
  }
  return {result};
}

Shapes infer_pack(OpCheck& check) {
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape result = check.in(0).shape;
  if (!moves(check) || !is_axis(check, axis, result.size() + 1)) return {};
  for (size_t i = 1; i < check.node.inputs.size(); ++i)
    check.require(check.in(i).shape == result,
                  fmt::format("input {} has the shape [{}], but input 0 has [{}]", i,
                              fmt::join(check.in(i).shape, ","), fmt::join(result, ",")));
  result.insert(result.begin() + axis, static_cast<int64_t>(check.node.inputs.size()));
  return {result};
}

Shapes infer_split(OpCheck& check) {
  const auto& a = check.node.attrs<SplitAttrs>();
  const Shape& input = check.in(0).shape;
  if (!moves(check) || !is_axis(check, a.axis, input.size())) return {};
  if (!check.require(
          a.sizes.size() == check.node.outputs.size(),
          fmt::format("has {} sizes for {} outputs", a.sizes.size(), check.node.outputs.size())))
    return {};
  Shapes shapes;
  int64_t sum = 0;
  for (const int64_t size : a.sizes) {
    if (!check.in_range("size", size, 1)) return {};
    sum += size;
    shapes.push_back(input);
    shapes.back()[static_cast<size_t>(a.axis)] = size;
  }
  const int64_t extent = input[static_cast<size_t>(a.axis)];
  check.require(sum == extent,
                fmt::format("its sizes add up to {}, but axis {} has {}", sum, a.axis, extent));
  return shapes;
}

Shapes infer_unpack(OpCheck& check) {
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape shape = check.in(0).shape;
  if (!moves(check) || !is_axis(check, axis, shape.size())) return {};
  const auto along = static_cast<size_t>(axis);
  check.require(static_cast<int64_t>(check.node.outputs.size()) == shape[along],
                fmt::format("has {} outputs, but axis {} has {} elements",
                            check.node.outputs.size(), axis, shape[along]));
  shape.erase(shape.begin() + axis);
  return Shapes(check.node.outputs.size(), shape);
}

// Input i supplies elements `first` .. along the axis.
Result<void> eval_concat(const Invocation& call) {
  const auto axis = static_cast<size_t>(call.node.attrs<AxisAttrs>().axis);
  const auto size = static_cast<size_t>(bits(call.out().type) / 8);
  const bool is_pack = call.node.kind == OpKind::Pack;
  const Shape& out = call.out().shape;
  int64_t first = 0;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    Shape in = call.in(input).shape;
    if (is_pack) in.insert(in.begin() + static_cast<int64_t>(axis), 1);
    for (int64_t i = 0; i < element_count(in); ++i) {
      Shape at = indices_of(i, in);
      at[axis] += first;
      std::memcpy(call.outputs[0] + static_cast<size_t>(place_of(at, out)) * size,
                  call.inputs[input] + static_cast<size_t>(i) * size, size);
    }
    first += in[axis];
  }
  return {};
}

Result<void> eval_split(const Invocation& call) {
  const bool is_unpack = call.node.kind == OpKind::Unpack;
  const int64_t axis =
      is_unpack ? call.node.attrs<AxisAttrs>().axis : call.node.attrs<SplitAttrs>().axis;
  int64_t first = 0;
  for (size_t output = 0; output < call.outputs.size(); ++output) {
    gather_elements(call, 0, output, [&](Shape at) {
      if (is_unpack) at.insert(at.begin() + axis, 0);
      at[static_cast<size_t>(axis)] += first;
      return place_of(at, call.in().shape);
    });
    first += is_unpack ? 1 : call.out(output).shape[static_cast<size_t>(axis)];
  }
  return {};
}

// Along the axis, every input is a run of the output's rows.
Stmt lower_concat(OpLowering& op) {
  const OpView& v = op.view;
  const auto axis = static_cast<size_t>(v.node.attrs<AxisAttrs>().axis);
  const Shape& out = v.out().shape;
  const int64_t outer = product(out, 0, axis), row = product(out, axis, out.size());
  declare_flat(op);
  std::vector<Stmt> copies;
  int64_t first = 0;
  for (size_t i = 0; i < v.node.inputs.size(); ++i) {
    const int64_t run = element_count(v.in(i).shape) / outer;
    copies.push_back(
        strided_copy(op.b, op.in(i), op.out(), {{outer, run}, 0, {run, 1}, first, {row, 1}}));
    first += run;
  }
  return tir::seq(std::move(copies));
}

Stmt lower_split(OpLowering& op) {
  const OpView& v = op.view;
  const bool is_unpack = v.node.kind == OpKind::Unpack;
  const auto axis = static_cast<size_t>(is_unpack ? v.node.attrs<AxisAttrs>().axis
                                                  : v.node.attrs<SplitAttrs>().axis);
  const Shape& in = v.in(0).shape;
  const int64_t outer = product(in, 0, axis), row = product(in, axis, in.size());
  declare_flat(op);
  std::vector<Stmt> copies;
  int64_t first = 0;
  for (size_t i = 0; i < v.node.outputs.size(); ++i) {
    const int64_t run = element_count(v.out(i).shape) / outer;
    copies.push_back(
        strided_copy(op.b, op.in(0), op.out(i), {{outer, run}, first, {row, 1}, 0, {run, 1}}));
    first += run;
  }
  return tir::seq(std::move(copies));
}

ChannelRule joined_channels(const Function& function, const Node& node) {
  const auto axis = static_cast<size_t>(node.attrs<AxisAttrs>().axis);
  const bool along_channels = axis + 1 == function.tensor(node.outputs[0]).shape.size();
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  int64_t first = 0;
  for (size_t operand = 0; operand < node.inputs.size(); ++operand) {
    const Tensor& tensor = function.tensor(node.inputs[operand]);
    if (tensor.constant.valid()) return {};
    for (int64_t k = 0; k < channel_count(tensor); ++k)
      rule.ties.push_back({operand, k, first + k});
    if (along_channels) first += channel_count(tensor);
  }
  return rule;
}

constexpr Operator kJoiningOperators[] = {
    {.kind = OpKind::Concat,
     .infer = infer_concat,
     .evaluate = eval_concat,
     .lower = lower_concat,
     .channels = joined_channels},
    {.kind = OpKind::Pack, .infer = infer_pack, .evaluate = eval_concat, .lower = lower_concat},
    {.kind = OpKind::Split, .infer = infer_split, .evaluate = eval_split, .lower = lower_split},
    {.kind = OpKind::Unpack, .infer = infer_unpack, .evaluate = eval_split, .lower = lower_split},
};

}  // namespace

std::span<const Operator> joining_operators() {
  return kJoiningOperators;
}

}  // namespace intarsia::operators
