// Operators of one int8 operand as tables of their 256 results, which the reference evaluator fills as the model is compiled.
#include "operators/lowering/result_table.h"

#include "intarsia/plugin/check.h"

namespace intarsia::operators {
namespace {

// What the operator makes of -128, -127, .. 127.
std::vector<uint8_t> all_results(const OpView& v) {
  graph::Module module;
  module.name = "table", module.entry = "main";
  graph::Function function;
  function.name = "main";
  function.tensors = {v.in(0), v.out()};
  for (graph::Tensor& tensor : function.tensors) tensor.shape = {256}, tensor.variable = false;
  graph::Node node = v.node;
  node.inputs = {graph::TensorId{0}}, node.outputs = {graph::TensorId{1}};
  function.inputs = node.inputs, function.outputs = node.outputs;
  function.nodes.push_back(std::move(node));
  module.functions.push_back(std::move(function));
  graph::TensorValue every(256);
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<uint8_t>(i + 128);
  graph::Evaluator evaluator(module);
  Result<std::vector<graph::TensorValue>> results = evaluator.run({every});
  INTARSIA_CHECK(results.ok(), "the evaluator computes what the rules admit");
  return (*results)[0];
}

}  // namespace

Stmt lower_by_table(OpLowering& op) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  op.allow_in_place();
  const BufferId table = op.raw_table("table", op.view.out().type, {256}, all_results(op.view));
  return op.b.loop("i", flat[0], [&](const Expr& i) {
    const Expr place = to_i32(op.b.load(op.in(0), {i})) + 128;
    return op.b.store(op.out(), {i}, op.b.load(table, {place}));
  });
}

}  // namespace intarsia::operators
