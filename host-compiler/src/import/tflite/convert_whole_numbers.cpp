// Whole numbers of 64 bits: places and counts, which 32 bits hold as well and which our arithmetic is on.
#include <algorithm>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

constexpr OpKind kOfWholeNumbers[] = {
    OpKind::Add,       OpKind::Sub,        OpKind::Mul,     OpKind::FloorDiv, OpKind::FloorMod,
    OpKind::Neg,       OpKind::Minimum,    OpKind::Maximum, OpKind::Sum,      OpKind::ReduceMax,
    OpKind::ReduceMin, OpKind::ReduceProd, OpKind::Cumsum,  OpKind::Select};

bool has_64_bits(const graph::Tensor& tensor) {
  return tensor.type == DataType::Int64;
}

}  // namespace

// -1, and a problem, for a constant that has more.
int32_t SubgraphReader::narrowed(const OperatorInfo& op, int32_t id) {
  const graph::Tensor wide = tensor(id);
  const graph::Tensor narrow{.type = DataType::Int32, .shape = wide.shape};
  if (const std::span<const uint8_t> known = bytes(id); !known.empty()) {
    std::vector<int32_t> numbers;
    for (size_t i = 0; i < known.size() / 8; ++i) {
      const int64_t number = number_at(known, 8, i);
      numbers.push_back(static_cast<int32_t>(number));
      if (numbers.back() == number) continue;
      problem(op, fmt::format("computes with {}, which has more than 32 bits", number));
      return -1;
    }
    return make({{.name = op.name + "_whole", .type = narrow.type, .shape = narrow.shape},
                 little_endian(numbers)});
  }
  for (const Draft& draft : drafts_)
    if (draft.node.kind == OpKind::Cast && draft.outputs[0] == id &&
        tensor(draft.inputs[0]).type == DataType::Int32)
      return draft.inputs[0];
  if (model_.options().notes != nullptr)
    model_.options().notes->add(fmt::format("{}: {}", file_.name(), op.label()),
                                "computes whole numbers of 64 bits with 32");
  return put(op, OpKind::Cast, graph::NoAttrs{}, {id}, narrow);
}

// True when the operator is done with.
bool SubgraphReader::compute_with_32_bits(const OperatorInfo& op, const Draft& draft) {
  if (draft.outputs.size() != 1 ||
      std::ranges::find(kOfWholeNumbers, draft.node.kind) == std::end(kOfWholeNumbers) ||
      std::ranges::none_of(draft.inputs,
                           [&](int32_t id) { return id >= 0 && has_64_bits(tensor(id)); }))
    return false;
  const graph::Tensor output = tensor(draft.outputs[0]);
  if (!has_64_bits(output)) return false;
  std::vector<int32_t> inputs = draft.inputs;
  for (int32_t& id : inputs) {
    if (id < 0 || !has_64_bits(tensor(id))) continue;
    id = narrowed(op, id);
    if (id < 0) return true;
  }
  graph::Tensor result{.type = DataType::Int32, .shape = output.shape};
  if (tensors_.is_dynamic(op.outputs[0])) {
    if (const auto shape = shape_of_result(draft, inputs, result)) result.shape = *shape;
    tensors_.set_shape(op.outputs[0], result.shape);
  }
  const int32_t made = put(op, draft.node.kind, draft.node.attributes, inputs, result);
  put_last(op, OpKind::Cast, graph::NoAttrs{}, {made});
  return true;
}

// Where the file does not say it.
std::optional<Shape> SubgraphReader::shape_of_result(const Draft& draft,
                                                     const std::vector<int32_t>& inputs,
                                                     const graph::Tensor& result) {
  graph::Module alone;
  graph::Function& function = alone.functions.emplace_back();
  graph::Node node = draft.node;
  const auto add = [&](const graph::Tensor& like) {
    function.tensors.push_back(like);
    function.tensors.back().constant = {};
    return graph::TensorId{static_cast<int32_t>(function.tensors.size() - 1)};
  };
  for (const int32_t id : inputs)
    node.inputs.push_back(id < 0 ? graph::TensorId{} : add(tensor(id)));
  node.outputs.push_back(add(result));
  const Result<std::vector<Shape>> shapes = graph::infer_shapes(alone, function, node);
  return shapes.ok() ? std::optional(shapes->front()) : std::nullopt;
}

}  // namespace intarsia::tflite
