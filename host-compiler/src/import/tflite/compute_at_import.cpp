// What is known when the model is compiled.
#include <algorithm>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

// What operators compute from constants alone enters the program as a constant when it is no larger
// than this, or than the constants.
constexpr int64_t kMostComputed = 1 << 16;

// In 8 or 16 bits.
bool is_quantised(const graph::Tensor& tensor) {
  return (tensor.type == DataType::Int8 || tensor.type == DataType::Int16) &&
         tensor.quantization.present();
}

std::vector<uint8_t> zeros_of(const graph::Tensor& tensor) {
  const auto size = static_cast<size_t>(bits(tensor.type) / 8);
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < element_count(tensor.shape); ++i)
    for (size_t b = 0; b < size; ++b)
      bytes.push_back(static_cast<uint8_t>(tensor.quantization.zero_point[0] >> (8 * b)));
  return bytes;
}

bool is_of_zeros(const graph::Tensor& tensor, std::span<const uint8_t> bytes) {
  return !bytes.empty() && is_quantised(tensor) && std::ranges::equal(bytes, zeros_of(tensor));
}

}  // namespace

// The operator's output is another tensor's value.
void SubgraphReader::hand_on(const OperatorInfo& op, int32_t value) {
  Draft draft;
  draft.node.kind = graph::OpKind::Reshape;
  draft.node.name = op.name;
  draft.node.attributes = graph::ReshapeAttrs{tensor(op.outputs[0]).shape};
  draft.inputs = {value}, draft.outputs = {op.outputs[0]};
  drafts_.push_back(std::move(draft));
}

// The operator's output is its input, a constant.
void SubgraphReader::is_same(const OperatorInfo& op) {
  if (is_result(op.outputs[0])) return hand_on(op, op.inputs[0]);
  tensors_.share_data(op.outputs[0], op.inputs[0]);
}

// Constants are dense as soon as they are read.
void SubgraphReader::densify(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor &input = in.input(0), &output = in.output();
  if (!in.is_constant(0)) return in.problem("makes dense what only the running model knows");
  if (input.shape != output.shape || input.type != output.type)
    return in.problem(fmt::format("makes {}[{}] of {}[{}]", to_string(output.type),
                                  fmt::join(output.shape, ","), to_string(input.type),
                                  fmt::join(input.shape, ",")));
  is_same(op);
}

// The operator's output is this constant.
void SubgraphReader::hold(const OperatorInfo& op, std::vector<uint8_t> bytes) {
  if (!is_result(op.outputs[0])) return tensors_.set_data(op.outputs[0], std::move(bytes));
  graph::Tensor constant = tensor(op.outputs[0]);
  constant.name = op.name + "_value";
  hand_on(op, make({std::move(constant), std::move(bytes)}));
}

// Extents that the converter did not know, and results of operators on constants: what models carry
// only because their shapes were open once. True when the operator is done with.
bool SubgraphReader::find_out(const OperatorInfo& op, const Draft& draft) {
  bool all_constant = !draft.inputs.empty() && draft.outputs.size() == 1;
  // A factor of zeros, as the state before the first step of an unrolled network is, makes zeros of any other, and so does a
  // difference from itself, which tf.math.is_finite becomes: its scale is so fine that no interpreter has a factor for it.
  const bool is_own = draft.node.kind == graph::OpKind::Sub && draft.inputs.size() == 2 &&
                      draft.inputs[0] == draft.inputs[1] && draft.outputs.size() == 1 &&
                      tensor(draft.inputs[0]).shape == tensor(draft.outputs[0]).shape &&
                      is_quantised(tensor(draft.inputs[0]));
  bool is_zero = is_own;
  int64_t room = kMostComputed;
  for (const int32_t id : draft.inputs) {
    if (id < 0) continue;
    all_constant &= !bytes(id).empty();
    is_zero |= draft.node.kind == graph::OpKind::Mul && is_of_zeros(tensor(id), bytes(id));
    if (all_constant) room = std::max(room, tensor(id).bytes());
  }
  is_zero &= is_quantised(tensor(draft.outputs[0]));
  const bool is_open =
      std::ranges::any_of(op.outputs, [&](int32_t id) { return tensors_.is_dynamic(id); });
  if (!is_open && !((all_constant || is_zero) && tensor(draft.outputs[0]).bytes() <= room))
    return false;
  if (is_own && is_zero && !is_open) {
    hold(op, zeros_of(tensor(draft.outputs[0])));
    return true;
  }

  graph::Module alone;
  alone.name = alone.entry = "alone";
  graph::Function& function = alone.functions.emplace_back();
  function.name = "alone";
  graph::Node& node = function.nodes.emplace_back(draft.node);
  const auto add = [&](int32_t id) {
    if (id < 0) return graph::TensorId{};
    function.tensors.push_back(tensor(id));
    if (const std::span<const uint8_t> data = bytes(id); !data.empty()) {
      function.tensors.back().constant.index = static_cast<int32_t>(alone.constants.size());
      alone.constants.push_back({"constant", std::vector<uint8_t>(data.begin(), data.end())});
    }
    return graph::TensorId{static_cast<int32_t>(function.tensors.size() - 1)};
  };
  std::map<int32_t, graph::TensorId> ids;
  for (const auto* operands : {&draft.inputs, &draft.outputs})
    for (const int32_t id : *operands)
      if (!ids.contains(id)) ids[id] = add(id);
  for (const int32_t id : draft.inputs) node.inputs.push_back(ids.at(id));
  for (const int32_t id : draft.outputs) node.outputs.push_back(ids.at(id));
  function.outputs = node.outputs;
  const Result<std::vector<Shape>> shapes = graph::infer_shapes(alone, function, node);
  if (!shapes.ok()) return false;  // said when the whole module is verified
  for (size_t i = 0; i < op.outputs.size() && i < shapes->size(); ++i) {
    function.tensors[node.outputs[i].at()].shape = (*shapes)[i];
    if (tensors_.is_dynamic(op.outputs[i])) tensors_.set_shape(op.outputs[i], (*shapes)[i]);
  }
  if (tensor(draft.outputs[0]).bytes() > room) return false;
  if (is_zero) {
    hold(op, zeros_of(tensor(draft.outputs[0])));
    return true;
  }
  if (!all_constant || !graph::verify(alone).ok()) return false;
  Result<std::vector<graph::TensorValue>> made = graph::Evaluator(alone).run({});
  if (!made.ok()) return false;
  hold(op, std::move((*made)[0]));
  return true;
}

}  // namespace intarsia::tflite
