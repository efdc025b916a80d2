#include "import/tflite/subgraph_reader.h"

#include "import/tflite/convert_shapes.h"
#include "import/tflite/end_early.h"

namespace intarsia::tflite {

void SubgraphReader::convert(const OperatorInfo& op) {
  if (list_updates_.parts.contains(op.index)) return;
  switch (op.code) {
    case kVAR_HANDLE:
      return;  // known beforehand
    case kREAD_VARIABLE:
      return read_variable(op);
    case kASSIGN_VARIABLE:
      return assign_variable(op);
    case kCALL_ONCE:
      return call_once(op);
    case kIF:
    case kWHILE:
      return convert_control(op);
    case kSTABLEHLO_COMPOSITE:
      return run_composite(op);
    default:
      break;
  }
  if (op.known->kind == graph::OpKind::Compiled) return keep_compiled(op);
  if (op.code == kDENSIFY)
    for (const int32_t id : op.outputs) tensors_.expect_constant(id);
  if (model_.reads_bytes_signed()) centre_weights(op);
  OperatorReader in(file_, op, tensors_, problems_, model_.options().widen_weights);
  if (!in.open()) return;
  if (op.code == kDEQUANTIZE && in.is_constant(0) && dequantize_constant(op, in)) return;
  if (op.code == kDEQUANTIZE && in.input(0).type == DataType::Float32) {
    in.decide_shape(in.input(0).shape);
    return in.clean() ? hand_on(op, current(op.inputs[0])) : void();
  }
  if (op.code == kQUANTIZE && in.is_constant(0) && quantize_constant(op, in)) return;
  if (op.code == kDENSIFY) return densify(op, in);
  if (model_.reads_bytes_signed() && convert_unsigned(op, in)) return;
  if (op.code == kSHAPE || op.code == kRANK || op.code == kRANGE || op.code == kBROADCAST_ARGS) {
    if (std::optional<std::vector<uint8_t>> bytes = compute_shape(in)) hold(op, std::move(*bytes));
    return;
  }
  if (const auto update = list_updates_.by_joint.find(op.index);
      update != list_updates_.by_joint.end())
    return compose_list_update(op, update->second);
  if (compose(op, in)) return;
  Converted converted{graph::NoAttrs{}};
  if (op.known->convert != nullptr) converted = op.known->convert(in);
  if (!in.clean()) return;
  Draft draft;
  draft.node.kind = op.known->kind;
  draft.node.name = op.name;
  draft.node.attributes = std::move(converted.attributes);
  const size_t kept = std::min(converted.kept, op.inputs.size());
  if (converted.operands.empty()) {
    draft.inputs.assign(op.inputs.begin(), op.inputs.begin() + static_cast<ptrdiff_t>(kept));
  }
  for (int32_t& id : draft.inputs) id = current(id);
  for (const size_t i : converted.operands) {
    draft.inputs.push_back(i < op.inputs.size() ? current(op.inputs[i]) : -1);
  }
  if (draft.node.kind == graph::OpKind::Gather || draft.node.kind == graph::OpKind::GatherNd)
    count_with_32_bits(op, draft);
  if (converted.bias) {
    draft.inputs.resize(3, -1);
    draft.inputs[2] = make(std::move(*converted.bias));
  }
  if (converted.only) draft.inputs = {make(std::move(*converted.only))};
  draft.outputs.assign(op.outputs.begin(), op.outputs.end());
  for (const size_t i : converted.states) draft.outputs.push_back(op.inputs[i]);
  if (model_.reads_bytes_signed() && draft.node.kind == graph::OpKind::DetectBoxes)
    detect_in_floats(op, draft);
  if (in.is_hybrid() && convert_hybrid(op, draft, converted.asymmetric)) return;
  if (find_out(op, draft) || compute_with_32_bits(op, draft)) return;
  for (const int32_t id : op.outputs)
    if (tensors_.get_values(id, "written by " + op.label()) == nullptr) return;
  drafts_.push_back(std::move(draft));
}

// Places are numbers of 32 bits in the IR, and of 64 in some files.
void SubgraphReader::count_with_32_bits(const OperatorInfo& op, Draft& draft) {
  if (draft.inputs.size() != 2 || draft.inputs[1] < 0) return;
  const graph::Tensor places = tensor(draft.inputs[1]);
  if (places.type != DataType::Int64) return;
  const std::span<const uint8_t> known = bytes(draft.inputs[1]);
  if (known.empty()) {
    draft.inputs[1] = put(op, graph::OpKind::Cast, graph::NoAttrs{}, {draft.inputs[1]},
                          {.type = DataType::Int32, .shape = places.shape});
    return;
  }
  MadeConstant made{places, {}};
  made.tensor.name = op.name + "_places";
  made.tensor.type = DataType::Int32;
  for (size_t i = 0; i + 8 <= known.size(); i += 8) {
    // The low half is the number where the high half only repeats its sign; another one is no place.
    const bool is_negative = (known[i + 3] & 0x80) != 0;
    bool fits = true;
    for (size_t b = 4; b < 8; ++b) fits &= known[i + b] == (is_negative ? 0xff : 0);
    for (size_t b = 0; b < 4; ++b)
      made.bytes.push_back(fits ? known[i + b] : b == 3 ? uint8_t{0x7f} : uint8_t{0xff});
  }
  draft.inputs[1] = make(std::move(made));
}

graph::Function SubgraphReader::assemble(const std::string& name) {
  std::vector<int32_t> inputs, outputs;
  for (const int32_t id : values(subgraph_.inputs()))
    if (!handles_.contains(id) && !given_.contains(id))
      inputs.push_back(edges_.contains(id) ? edges_.at(id) : id);
  inputs.insert(inputs.end(), taken_.begin(), taken_.end());
  for (const int32_t id : values(subgraph_.outputs()))
    if (!handles_.contains(id)) outputs.push_back(edge_output(id));
  for (const VariableId id : signature_.gives) outputs.push_back(values_.at(id));
  graph::Module& module = model_.module();
  for (const auto& [id, kept] : variables_) {
    const Variable& variable = model_.variable(id);
    if (variable.initial.empty()) continue;
    graph::Tensor& tensor = made_[static_cast<size_t>(kept) - tensors_.count()].tensor;
    tensor.initial.index = static_cast<int32_t>(module.constants.size());
    module.constants.push_back({tensor.name + "_initial", variable.initial});
  }

  std::vector<graph::TensorId> ids(tensors_.count() + made_.size());
  const auto mark = [&](std::span<const int32_t> used) {
    for (const int32_t id : used) {
      if (id >= 0) ids[static_cast<size_t>(id)].index = 0;
    }
  };
  mark(inputs);
  mark(outputs);
  for (const Draft& draft : drafts_) {
    mark(draft.inputs);
    mark(draft.outputs);
  }

  graph::Function function;
  function.name = name;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].valid()) continue;
    ids[i].index = static_cast<int32_t>(function.tensors.size());
    const auto id = static_cast<int32_t>(i);
    graph::Tensor used = tensor(id);
    if (i >= tensors_.count()) {
      MadeConstant& made = made_[i - tensors_.count()];
      if (!made.bytes.empty()) {
        used.constant.index = static_cast<int32_t>(module.constants.size());
        module.constants.push_back({used.name, std::move(made.bytes)});
      }
    } else if (const std::span<const uint8_t> data = tensors_.data(id); !data.empty()) {
      used.constant = model_.constant(used.name, data);
    }
    function.tensors.push_back(std::move(used));
  }

  const auto mapped = [&](std::span<const int32_t> operands) {
    std::vector<graph::TensorId> result;
    for (const int32_t id : operands) {
      result.push_back(id < 0 ? graph::TensorId{} : ids[static_cast<size_t>(id)]);
    }
    return result;
  };
  for (Draft& draft : drafts_) {
    draft.node.inputs = mapped(draft.inputs);
    draft.node.outputs = mapped(draft.outputs);
    function.nodes.push_back(std::move(draft.node));
  }
  function.inputs = mapped(inputs);
  function.outputs = mapped(outputs);
  return function;
}

std::optional<graph::Function> SubgraphReader::read(const std::string& name) {
  ModelReader::Subgraph& subgraph = model_.subgraph(signature_.subgraph);
  for (const OperatorInfo& op : *subgraph.operators) names_.insert(op.name);
  if (!std::exchange(subgraph.is_checked, true)) {
    check_model_operands();
    if (is_model_) take_shapes();
    check_data_flow(*subgraph.operators);
  }
  if (is_model_ && model_.reads_bytes_signed() && problems_.empty()) make_edges_signed();
  if (problems_.empty())
    list_updates_ =
        find_list_updates(*subgraph.operators, tensors_, values(subgraph_.outputs()),
                          is_model_ ? std::span<const int32_t>{} : values(subgraph_.inputs()));
  for (const VariableId id : signature_.takes) {
    graph::Tensor value = *model_.variable(id).tensor;
    value.name = printable(value.name);
    taken_.push_back(values_[id] = make({std::move(value), {}}));
  }
  for (const OperatorInfo& op : *subgraph.operators) {
    if (model_.on_progress())
      model_.on_progress()(
          {"reading operators", &op - subgraph.operators->data(), std::ssize(*subgraph.operators)});
    if (op.known != nullptr) convert(op);
  }
  // Whatever has been reported so far: a tensor's problem is told once, perhaps before this function was begun.
  if (!problems_.empty()) return std::nullopt;
  check_arena(*subgraph.operators);
  if (!problems_.empty()) return std::nullopt;
  note_other_floats();
  assign_at_end();
  graph::Function function = assemble(name);
  // The last one first: its branch is in that of the one before.
  for (auto end = early_ends_.rbegin(); end != early_ends_.rend(); ++end)
    if (const auto layer = end_early(model_, function, end->draft, end->op->name))
      problem(*end->op,
              fmt::format("ends invocations early before a program of another compiler and '{}', "
                          "which keeps state of its own",
                          *layer),
              "compile the original model");
  return problems_.empty() ? std::optional(std::move(function)) : std::nullopt;
}

std::optional<graph::Function> read_subgraph(ModelReader& model, const Signature& signature,
                                             bool is_model, const std::string& name) {
  return SubgraphReader(model, signature, is_model).read(name);
}

}  // namespace intarsia::tflite
