#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "graph/kernels.h"
#include "graph/op_check.h"
#include "intarsia/graph.h"

namespace intarsia::graph {
namespace {

// What a variable without an initial value holds before the first invocation.
TensorValue zero_points(const Tensor& tensor) {
  TensorValue value(static_cast<size_t>(tensor.bytes()), 0);
  const std::vector<int64_t>& zero_point = tensor.quantization.zero_point;
  if (zero_point.size() != 1 || zero_point[0] == 0) return value;
  if (tensor.type == DataType::Int4) {
    const auto nibble = static_cast<uint8_t>(zero_point[0] & 15);
    std::fill(value.begin(), value.end(), static_cast<uint8_t>(nibble | nibble << 4));
    return value;
  }
  const auto size = static_cast<size_t>(bits(tensor.type) / 8);
  for (size_t at = 0; at < value.size(); at += size)
    std::memcpy(value.data() + at, &zero_point[0], size);  // little-endian: the low bytes
  return value;
}

Result<void> evaluate(const Invocation& call) {
  switch (call.node.kind) {
    case OpKind::Conv2d:
      return eval_conv2d(call);
    case OpKind::DepthwiseConv2d:
      return eval_depthwise_conv2d(call);
    case OpKind::FullyConnected:
      return eval_fully_connected(call);
    case OpKind::AveragePool2d:
    case OpKind::MaxPool2d:
    case OpKind::L2Pool2d:
      return eval_pool2d(call);
    case OpKind::Add:
      return eval_add(call);
    case OpKind::Mul:
      return eval_mul(call);
    case OpKind::Reshape:
      return eval_reshape(call);
    case OpKind::Softmax:
      return eval_softmax(call);
    case OpKind::Pad:
      return eval_pad(call);
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceProd:
    case OpKind::ReduceAny:
    case OpKind::ReduceAll:
      return eval_reduce(call);
    case OpKind::Quantize:
      return eval_quantize(call);
    case OpKind::Dequantize:
      return eval_dequantize(call);
    case OpKind::Relu:
      return eval_relu(call);
    case OpKind::Sub:
      return eval_sub(call);
    case OpKind::Div:
    case OpKind::Minimum:
    case OpKind::Maximum:
    case OpKind::SquaredDifference:
    case OpKind::Equal:
    case OpKind::NotEqual:
    case OpKind::Greater:
    case OpKind::GreaterEqual:
    case OpKind::Less:
    case OpKind::LessEqual:
    case OpKind::LogicalAnd:
    case OpKind::LogicalOr:
    case OpKind::Select:
    case OpKind::Prelu:
    case OpKind::Pow:
    case OpKind::FloorDiv:
    case OpKind::FloorMod:
      return eval_binary(call);
    case OpKind::LeakyRelu:
    case OpKind::Logistic:
    case OpKind::Tanh:
    case OpKind::HardSwish:
    case OpKind::Elu:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Abs:
    case OpKind::Neg:
    case OpKind::Square:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
    case OpKind::Ceil:
    case OpKind::Floor:
    case OpKind::Round:
    case OpKind::LogicalNot:
    case OpKind::Sin:
    case OpKind::Cos:
      return eval_unary(call);
    case OpKind::Cast:
      return eval_cast(call);
    case OpKind::BatchMatmul:
      return eval_batch_matmul(call);
    case OpKind::TransposeConv2d:
      return eval_transpose_conv2d(call);
    case OpKind::LogSoftmax:
      return eval_log_softmax(call);
    case OpKind::L2Normalization:
      return eval_l2_normalization(call);
    case OpKind::ArgMax:
    case OpKind::ArgMin:
      return eval_arg(call);
    case OpKind::PadV2:
    case OpKind::MirrorPad:
    case OpKind::Concat:
    case OpKind::Pack:
    case OpKind::Split:
    case OpKind::Unpack:
    case OpKind::Slice:
    case OpKind::Transpose:
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace:
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace:
    case OpKind::Gather:
    case OpKind::BroadcastTo:
    case OpKind::Tile:
      return eval_move(call);
    case OpKind::ResizeNearest:
    case OpKind::ResizeBilinear:
      return eval_resize(call);
    case OpKind::Svdf:
      return eval_svdf(call);
    case OpKind::Lstm:
      return eval_lstm(call);
    case OpKind::Compiled:
      return Diagnostics(place_of(call.function, call.node),
                         fmt::format("was compiled for {}: there is no reference to evaluate",
                                     call.node.attrs<CompiledAttrs>().device),
                         "verify the model it was compiled from");
    case OpKind::AddN:
      return eval_add_n(call);
    case OpKind::Cumsum:
      return eval_cumsum(call);
    case OpKind::GatherNd:
      return eval_gather_nd(call);
    case OpKind::DynamicUpdateSlice:
      return eval_dynamic_update_slice(call);
    case OpKind::ReadVariable:
    case OpKind::AssignVariable:
      return eval_reshape(call);
    case OpKind::Call:
    case OpKind::If:
    case OpKind::While:
      break;  // the evaluator's own
  }
  return unsupported_types(call);
}

}  // namespace

Result<void> unsupported_types(const Invocation& call) {
  std::string types;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    types += i == 0 ? "" : ", ";
    types += call.has(i) ? to_string(call.in(i).type) : "_";
  }
  return Diagnostics(place_of(call.function, call.node),
                     fmt::format("the reference evaluator has no arithmetic for the types {} -> {}",
                                 types, to_string(call.out().type)));
}

Evaluator::Evaluator(const Module& module) : module_(module) {
  for (const Function& function : module.functions) {
    std::vector<TensorValue>& values = variables_.emplace_back(function.tensors.size());
    for (size_t i = 0; i < function.tensors.size(); ++i)
      if (const Tensor& tensor = function.tensors[i]; tensor.variable)
        values[i] = tensor.initial.valid() ? module.constant(tensor.initial).bytes.vector()
                                           : zero_points(tensor);
  }
}

Result<std::vector<TensorValue>> Evaluator::run(const std::vector<TensorValue>& inputs,
                                                Observer on_result, void* context) {
  const Function& entry = module_.entry_function();
  if (inputs.size() != entry.inputs.size())
    return Diagnostics(fmt::format("function '{}'", entry.name),
                       fmt::format("got {} inputs, takes {}", inputs.size(), entry.inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = entry.tensor(entry.inputs[i]);
    if (static_cast<int64_t>(inputs[i].size()) != tensor.bytes())
      return Diagnostics(fmt::format("function '{}': input {} '{}'", entry.name, i, tensor.name),
                         fmt::format("got {} bytes, takes {}", inputs[i].size(), tensor.bytes()));
  }
  return run_function(entry, inputs, on_result, context);
}

Result<void> Evaluator::take_steps(const Function& function, const Node& node, int64_t steps) {
  steps_left_ -= steps;
  if (steps_left_ >= 0) return {};
  return Diagnostics(
      place_of(function, node),
      fmt::format("is not run: more than {} steps are needed until here, and no more "
                  "are allowed",
                  most_steps_),
      "give the loops around it fewer iterations");
}

// A call, a branch or a loop.
Result<std::vector<TensorValue>> Evaluator::run_functions_of(const Function& function,
                                                             const Node& node,
                                                             std::vector<TensorValue> arguments,
                                                             Observer on_result, void* context) {
  const auto run = [&](const std::string& name) {
    const Function* callee = module_.find(name);
    INTARSIA_CHECK(callee != nullptr, "the callee of a verified module exists");
    return run_function(*callee, arguments, on_result, context);
  };
  if (const auto* call = std::get_if<CallAttrs>(&node.attributes)) return run(call->callee);
  if (const auto* branch = std::get_if<IfAttrs>(&node.attributes)) {
    const bool condition = arguments[0][0] != 0;
    arguments.erase(arguments.begin());
    return run(condition ? branch->then_branch : branch->else_branch);
  }
  const auto& loop = node.attrs<WhileAttrs>();
  for (;;) {
    INTARSIA_TRY_VOID(take_steps(function, node, 1));
    INTARSIA_TRY(const std::vector<TensorValue> condition, run(loop.condition));
    if (condition[0][0] == 0) return arguments;
    INTARSIA_TRY(arguments, run(loop.body));
  }
}

Result<std::vector<TensorValue>> Evaluator::run_function(const Function& function,
                                                         const std::vector<TensorValue>& inputs,
                                                         Observer on_result, void* context) {
  std::vector<TensorValue>& variables =
      variables_[static_cast<size_t>(&function - module_.functions.data())];
  std::vector<TensorValue> made(function.tensors.size());  // inputs, and outputs of nodes
  for (size_t i = 0; i < inputs.size(); ++i) made[function.inputs[i].at()] = inputs[i];

  const auto value = [&](TensorId id) -> const TensorValue& {
    const Tensor& tensor = function.tensor(id);
    if (tensor.constant.valid()) return module_.constant(tensor.constant).bytes;
    return tensor.variable ? variables[id.at()] : made[id.at()];
  };
  for (const Node& node : function.nodes) {
    int64_t steps = 1;
    for (const TensorId id : node.outputs) steps += function.tensor(id).bytes() / 1024;
    INTARSIA_TRY_VOID(take_steps(function, node, steps));
    // Results are computed aside: a node may read the variable that it writes.
    std::vector<TensorValue> results;
    if (!functions_run_by(node).empty()) {
      std::vector<TensorValue> arguments;
      for (const TensorId id : node.inputs) arguments.push_back(value(id));
      INTARSIA_TRY(results,
                   run_functions_of(function, node, std::move(arguments), on_result, context));
    } else {
      Invocation call{function, node, {}, {}};
      for (const TensorId id : node.inputs)
        call.inputs.push_back(id.valid() ? value(id).data() : nullptr);
      for (const TensorId id : node.outputs)
        results.emplace_back(static_cast<size_t>(function.tensor(id).bytes()));
      for (TensorValue& result : results) call.outputs.push_back(result.data());
      INTARSIA_TRY_VOID(evaluate(call));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorId id = node.outputs[i];
      TensorValue& place = function.tensor(id).variable ? variables[id.at()] : made[id.at()];
      place = std::move(results[i]);
      if (on_result != nullptr) on_result(context, node, i, place);
    }
  }
  std::vector<TensorValue> outputs;
  for (const TensorId id : function.outputs) outputs.push_back(value(id));
  return outputs;
}

}  // namespace intarsia::graph
