// Rules of the operators that move or reduce elements, and of calls.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graph/op_check.h"
#include "graph/scales.h"

namespace intarsia::graph {

using enum DataType;

Shapes infer_reshape(OpCheck& check) {
  const Shape& shape = check.node.attrs<ReshapeAttrs>().shape;
  const Tensor &input = check.in(0), &output = check.out();
  check.require(input.type == output.type,
                fmt::format("has no arithmetic for the types {}", check.types_text()),
                "input and output have to have one type");
  const std::string problem = shape_problem(input.type, shape);
  if (check.require(problem.empty(), "the attribute 'shape': " + problem))
    check.require(element_count(shape) == element_count(input.shape),
                  fmt::format("cannot reshape [{}] to [{}]", fmt::join(input.shape, ","),
                              fmt::join(shape, ",")));
  return {shape};
}

Shapes infer_pad(OpCheck& check) {
  check.types({{Int8, Int8}, {UInt8, UInt8}, {Int16, Int16}, {Int32, Int32}, {Float32, Float32}});
  if (check.out().quantization.present()) check.per_tensor(check.out(), "output");
  return infer_pad_extents(check);
}

Shapes infer_pad_extents(OpCheck& check) {
  const auto& a = check.node.attrs<PadAttrs>();
  const Shape& input = check.in(0).shape;
  if (!check.require(a.before.size() == input.size() && a.after.size() == input.size(),
                     fmt::format("has {} and {} amounts of padding for rank {}", a.before.size(),
                                 a.after.size(), input.size())))
    return {};
  Shape output = input;
  for (size_t i = 0; i < input.size(); ++i)
    if (check.in_range("padding before", a.before[i], 0) &&
        check.in_range("padding after", a.after[i], 0))
      output[i] += a.before[i] + a.after[i];
  return {output};
}

Shapes infer_reduce(OpCheck& check) {
  const auto& a = check.node.attrs<ReduceAttrs>();
  const Tensor &input = check.in(0), &output = check.out();
  const bool sums = check.node.kind == OpKind::Mean || check.node.kind == OpKind::Sum;
  const OpKind kind = check.node.kind;
  if (kind == OpKind::ReduceAny || kind == OpKind::ReduceAll)
    check.types({{Bool, Bool}});
  else if (kind == OpKind::ReduceProd)
    check.types({{Int32, Int32}, {Float32, Float32}});
  else
    check.types({{Int8, Int8}, {Int16, Int16}, {Float32, Float32}});
  if (sums && input.type != Float32 && check.per_tensor(input, "input") &&
      check.per_tensor(output, "output") && check.ok())
    check.factor(rescale_factor(input, output), kMostExponent32);
  if (!sums)
    check.require(input.quantization == output.quantization,
                  "input and output have to have the same quantisation");

  const auto rank = static_cast<int64_t>(input.shape.size());
  const bool in_range = std::all_of(a.axes.begin(), a.axes.end(),
                                    [&](int64_t axis) { return axis >= 0 && axis < rank; });
  const bool ascending = std::adjacent_find(a.axes.begin(), a.axes.end(), [](int64_t x, int64_t y) {
                           return x >= y;
                         }) == a.axes.end();
  if (!check.require(in_range && ascending,
                     fmt::format("axes [{}] are not ascending numbers of 0 .. {}",
                                 fmt::join(a.axes, ","), rank - 1)))
    return {};
  Shape shape;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool reduced = std::binary_search(a.axes.begin(), a.axes.end(), axis);
    if (!reduced) shape.push_back(input.shape[static_cast<size_t>(axis)]);
    if (reduced && a.keep_dims) shape.push_back(1);
  }
  return {shape};
}

// The outputs have the shapes that the other compiler gave them.
Shapes infer_compiled(OpCheck& check) {
  const auto& a = check.node.attrs<CompiledAttrs>();
  check.require(!a.device.empty(), "does not say for which device it was compiled");
  check.require(check.in(0).constant.valid(), "its payload is not constant");
  check.require(!check.has(1) || check.in(1).constant.valid(), "its constants are not constant");
  check.require(a.arena_bytes >= 0 && a.arena_bytes <= kMaxTensorBytes && a.fast_arena_bytes >= 0 &&
                    a.fast_arena_bytes <= kMaxTensorBytes,
                fmt::format("needs arenas of {} and {} bytes", a.arena_bytes, a.fast_arena_bytes));
  const size_t inputs = check.node.inputs.size() < 2 ? 0 : check.node.inputs.size() - 2;
  if (!check.require(
          a.input_offsets.size() == inputs && a.output_offsets.size() == check.node.outputs.size(),
          fmt::format("has {} inputs and {} outputs, but {} and {} addresses", inputs,
                      check.node.outputs.size(), a.input_offsets.size(), a.output_offsets.size())))
    return {};
  const auto in_arena = [&](const Tensor& tensor, int64_t offset) {
    check.require(offset >= 0 && offset <= a.arena_bytes - tensor.bytes(),
                  fmt::format("has '{}', {} bytes, at {} of its arena of {} bytes", tensor.name,
                              tensor.bytes(), offset, a.arena_bytes));
  };
  for (size_t i = 0; i < inputs; ++i) {
    if (!check.require(check.has(i + 2), fmt::format("lacks its input {}", i))) return {};
    in_arena(check.in(i + 2), a.input_offsets[i]);
  }
  Shapes shapes;
  for (size_t i = 0; i < check.node.outputs.size(); ++i) {
    if (shape_problem(check.out(i).type, check.out(i).shape)
            .empty())  // else it is reported with the shape
      in_arena(check.out(i), a.output_offsets[i]);
    shapes.push_back(check.out(i).shape);
  }
  return shapes;
}

Shapes infer_call(OpCheck& check) {
  const std::string& name = check.node.attrs<CallAttrs>().callee;
  const Function* callee = check.module.find(name);
  if (callee == nullptr) {
    std::vector<std::string> names;
    for (const Function& function : check.module.functions) names.push_back(function.name);
    const std::string nearest = nearest_name(name, names);
    check.fail(fmt::format("calls '{}', which does not exist", name),
               nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
    return {};
  }
  const auto same_count = [&](size_t given, size_t expected, std::string_view what) {
    return check.require(given == expected,
                         fmt::format("has {} {}, but '{}' has {}", given, what, name, expected));
  };
  const bool counts = same_count(check.node.inputs.size(), callee->inputs.size(), "operands") &
                      same_count(check.node.outputs.size(), callee->outputs.size(), "outputs");
  if (!counts) return {};

  // Null (and a finding) when the callee's own list is broken.
  const auto parameter = [&](TensorId id) -> const Tensor* {
    const bool exists = id.valid() && id.at() < callee->tensors.size();
    check.require(exists, fmt::format("calls '{}', which names tensor %{} that does not exist",
                                      name, id.index));
    return exists ? &callee->tensor(id) : nullptr;
  };
  const auto same_kind = [&](const Tensor& given, const Tensor& expected, std::string_view what,
                             size_t i) {
    check.require(
        given.type == expected.type && given.quantization == expected.quantization,
        fmt::format("{} {} differs from that of '{}' in type or quantisation", what, i, name));
  };
  for (size_t i = 0; i < callee->inputs.size(); ++i)
    if (const Tensor* expected = parameter(callee->inputs[i])) {
      same_kind(check.in(i), *expected, "operand", i);
      check.require(
          check.in(i).shape == expected->shape,
          fmt::format("operand {} has the shape [{}], but '{}' takes [{}]", i,
                      fmt::join(check.in(i).shape, ","), name, fmt::join(expected->shape, ",")));
    }
  Shapes shapes;
  for (size_t i = 0; i < callee->outputs.size(); ++i)
    if (const Tensor* expected = parameter(callee->outputs[i])) {
      same_kind(check.out(i), *expected, "output", i);
      shapes.push_back(expected->shape);
    }
  return shapes;
}

}  // namespace intarsia::graph
