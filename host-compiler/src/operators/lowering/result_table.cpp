#include "operators/lowering/result_table.h"

#include <algorithm>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/every_result.h"

namespace intarsia::operators {

namespace {

// What an operand is given instead of its own elements.
struct Given {
  size_t operand;
  Shape shape;
  graph::TensorValue elements;
};

// The results, of this shape, of the operands that are given in the order in which the node has them; the others are constants.
std::vector<uint8_t> results_of(const OpView& v, const std::vector<Given>& all,
                                const Shape& result) {
  graph::Module module;
  module.name = "table", module.entry = "main";
  graph::Function function;
  function.name = "main";
  graph::Node node = v.node;
  const auto add = [&](graph::Tensor tensor) {
    tensor.variable = false;
    function.tensors.push_back(std::move(tensor));
    return graph::TensorId{static_cast<int32_t>(function.tensors.size()) - 1};
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    graph::Tensor tensor = v.in(i);
    const auto given =
        std::find_if(all.begin(), all.end(), [&](const Given& one) { return one.operand == i; });
    if (given != all.end()) {
      tensor.shape = given->shape, tensor.constant = {};
    } else {
      module.constants.push_back({"other", v.stored_bytes(i)});
      tensor.constant = ConstantId{static_cast<int32_t>(module.constants.size()) - 1};
    }
    node.inputs[i] = add(std::move(tensor));
    if (given != all.end()) function.inputs.push_back(node.inputs[i]);
  }
  graph::Tensor out = v.out();
  out.shape = result;
  node.outputs = {add(std::move(out))};
  function.outputs = node.outputs;
  function.nodes.push_back(std::move(node));
  module.functions.push_back(std::move(function));
  graph::Evaluator evaluator(module);
  std::vector<graph::TensorValue> elements;
  for (const Given& one : all) elements.push_back(one.elements);
  Result<std::vector<graph::TensorValue>> results = evaluator.run(elements);
  INTARSIA_CHECK(results.ok(), "the evaluator computes what the rules admit");
  return (*results)[0];
}

graph::TensorValue every_int8() {
  graph::TensorValue every(256);
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<uint8_t>(i + 128);
  return every;
}

}  // namespace

std::vector<uint8_t> results_of_every_int8(const OpView& v, size_t operand) {
  return results_of(v, {{operand, {256}, every_int8()}}, {256});
}

std::vector<uint8_t> results_of_every_int8_pair(const OpView& v) {
  return results_of(v, {{0, {256, 1}, every_int8()}, {1, {1, 256}, every_int8()}}, {256, 256});
}

std::vector<uint8_t> results_of_every_int16(const OpView& v) {
  graph::TensorValue every;
  for (int32_t i = -32768; i <= 32767; ++i)
    every.push_back(static_cast<uint8_t>(i)), every.push_back(static_cast<uint8_t>(i >> 8));
  return results_of(v, {{0, {65536}, every}}, {65536});
}

Stmt lower_by_table(OpLowering& op) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  op.allow_in_place();
  const BufferId table =
      op.raw_table("table", op.view.out().type, {256}, results_of_every_int8(op.view));
  return op.b.loop("i", flat[0], [&](const Expr& i) {
    const Expr place = to_i32(op.b.load(op.in(0), {i})) + 128;
    return op.b.store(op.out(), {i}, op.b.load(table, {place}));
  });
}

Stmt lower_by_lines(OpLowering& op, const std::array<int16_t, 513>& points) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  op.allow_in_place();
  std::vector<uint8_t> bytes;
  for (const int16_t point : points)
    for (int byte = 0; byte < 2; ++byte)
      bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(point) >> (8 * byte)));
  FuncBuilder& b = op.b;
  const BufferId table = op.raw_table("points", DataType::Int16, {513}, std::move(bytes));
  const auto shifted = [](const Expr& x) {
    return tir::binary(tir::BinaryOp::Shr, x, tir::int_imm(7));
  };
  return b.loop("i", flat[0], [&](const Expr& i) {
    return b.let("x", to_i32(b.load(op.in(0), {i})) + 32768, [&](const Expr& x) {
      return b.let("line", shifted(x), [&](const Expr& line) {
        return b.let("first", to_i32(b.load(table, {line})), [&](const Expr& first) {
          const Expr slope = to_i32(b.load(table, {line + 1})) - first;
          const Expr along = tir::binary(tir::BinaryOp::And, x, tir::int_imm(127));
          return b.store(op.out(), {i},
                         tir::cast(DataType::Int16, first + shifted(slope * along + 64)));
        });
      });
    });
  });
}

}  // namespace intarsia::operators
