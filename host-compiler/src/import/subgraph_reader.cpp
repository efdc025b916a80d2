// One subgraph as a function.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "import/convert_compiled.h"
#include "import/convert_shapes.h"
#include "import/model_reader.h"
#include "support/c_identifier.h"

namespace intarsia::tflite {

namespace {

// What operators compute from constants alone enters the program as a constant when it is no larger
// than this, or than the constants.
constexpr int64_t kMostComputed = 1 << 16;

class SubgraphReader {
 public:
  SubgraphReader(ModelReader& model, const Signature& signature, bool is_model)
      : model_(model),
        signature_(signature),
        is_model_(is_model),
        file_(model.file()),
        subgraph_(*model.subgraph(signature.subgraph).raw),
        problems_(model.problems()),
        tensors_(*model.subgraph(signature.subgraph).tensors),
        handles_(model.handles_of(signature.subgraph, signature.handles)) {}

  std::optional<graph::Function> read(const std::string& name);

 private:
  // A converted operator; operands are still the file's tensor numbers, or those of made_.
  struct Draft {
    graph::Node node;
    std::vector<int32_t> inputs, outputs;
  };

  void check_model_operands();
  void check_data_flow(const std::vector<OperatorInfo>& operators);
  void convert(const OperatorInfo& op);
  void keep_compiled(const OperatorInfo& op);
  void read_variable(const OperatorInfo& op);
  void assign_variable(const OperatorInfo& op);
  void call_once(const OperatorInfo& op);
  void convert_control(const OperatorInfo& op);
  void hand_on(const OperatorInfo& op, int32_t value);
  void hold(const OperatorInfo& op, std::vector<uint8_t> bytes);
  bool find_out(const OperatorInfo& op, const Draft& draft);
  void assign_at_end();
  graph::Function assemble(const std::string& name);

  void problem(const OperatorInfo& op, std::string what, std::string hint = {}) {
    problems_.add(fmt::format("{}: {}", file_.name(), op.label()), std::move(what), std::move(hint));
  }
  int32_t make(MadeConstant tensor) {
    made_.push_back(std::move(tensor));
    return static_cast<int32_t>(tensors_.count() + made_.size() - 1);
  }
  // The tensor that holds what the file's tensor holds: reads of variables are other names.
  int32_t current(int32_t id) const {
    const auto found = same_as_.find(id);
    return found == same_as_.end() ? id : found->second;
  }
  std::optional<VariableId> handle(const OperatorInfo& op, int32_t id) {
    const auto found = handles_.find(id);
    if (found != handles_.end() && model_.variable(found->second).tensor) return found->second;
    problem(op, found == handles_.end() ? "works on something that is no handle of a variable"
                                        : "works on a variable whose type is not known");
    return std::nullopt;
  }
  int32_t value_of(VariableId id);
  // What the model returns is computed by an operator of it.
  bool is_result(int32_t id) const {
    return is_model_ && std::ranges::find(values(subgraph_.outputs()), id) != values(subgraph_.outputs()).end();
  }
  std::string unique_name(const std::string& wish);
  const graph::Tensor& tensor(int32_t id) {
    const auto at = static_cast<size_t>(id);
    if (at >= tensors_.count()) return made_[at - tensors_.count()].tensor;
    const graph::Tensor* converted = tensors_.get(id, "");
    INTARSIA_CHECK(converted != nullptr, "an operator is converted when its operands are good");
    return *converted;
  }
  // The bytes of a constant; empty when it is none.
  std::span<const uint8_t> bytes(int32_t id) const {
    const auto at = static_cast<size_t>(id);
    return at >= tensors_.count() ? std::span<const uint8_t>(made_[at - tensors_.count()].bytes) : tensors_.data(id);
  }

  ModelReader& model_;
  const Signature& signature_;
  const bool is_model_;
  const ModelFile& file_;
  const format::Subgraph& subgraph_;
  Diagnostics& problems_;
  TensorTable& tensors_;
  const ModelReader::Handles handles_;
  std::vector<Draft> drafts_;
  // Tensors that the file does not hold; their numbers follow those of the file's tensors.
  std::vector<MadeConstant> made_;
  std::vector<int32_t> taken_;  // variables' values that are inputs
  std::map<int32_t, int32_t> same_as_;
  std::map<VariableId, int32_t> values_;     // what each variable holds now
  std::map<VariableId, int32_t> variables_;  // the model's own tensors of them
  std::set<std::string> names_;
};

// Model inputs and outputs: in range, convertible, and not each other.
void SubgraphReader::check_model_operands() {
  const std::span<const int32_t> inputs = values(subgraph_.inputs());
  const std::span<const int32_t> outputs = values(subgraph_.outputs());
  std::vector<bool> is_input(tensors_.count());
  const char* owner = is_model_ ? "model" : "subgraph";
  const auto place = [&](std::string_view role, size_t i) {
    return is_model_ ? fmt::format("{}: model {} {}", file_.name(), role, i)
                     : fmt::format("{}: {} {} of subgraph {}", file_.name(), role, i, signature_.subgraph);
  };
  const auto check = [&](std::string_view role, size_t i, int32_t id) {
    const std::string where = place(role, i);
    if (!tensors_.in_range(id)) {
      problems_.add(where, fmt::format("is tensor {}, but there are {}", id, tensors_.count()));
      return false;
    }
    if (tensors_.is_resource(id) && !is_model_) return false;
    if (tensors_.has_data(id) && (is_model_ || role == "input")) {
      problems_.add(where, fmt::format("is {}, which is a constant", tensors_.label(id)));
      return false;
    }
    return tensors_.get(id, fmt::format("{} {} {}", owner, role, i)) != nullptr;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!check("input", i, inputs[i])) continue;
    const std::string where = place("input", i);
    if (is_input[static_cast<size_t>(inputs[i])]) {
      problems_.add(where,
                    fmt::format("is {}, which is an input already", tensors_.label(inputs[i])));
    }
    if (tensors_.is_variable(inputs[i])) {
      problems_.add(where, fmt::format("is {}, which is a variable", tensors_.label(inputs[i])));
    }
    is_input[static_cast<size_t>(inputs[i])] = true;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (check("output", i, outputs[i]) && is_model_ && is_input[static_cast<size_t>(outputs[i])]) {
      problems_.add(fmt::format("{}: model output {}", file_.name(), i),
                    fmt::format("is {}, which is a model input; nothing computes it",
                                tensors_.label(outputs[i])));
    }
  }
  if (outputs.empty() && is_model_) problems_.add(file_.name(), "has a model without outputs");
}

// Every tensor is written once, before it is read.
void SubgraphReader::check_data_flow(const std::vector<OperatorInfo>& operators) {
  constexpr int32_t kNobody = -1, kInput = -2;
  std::vector<int32_t> writer(tensors_.count(), kNobody);
  for (const int32_t id : values(subgraph_.inputs())) {
    if (tensors_.in_range(id)) writer[static_cast<size_t>(id)] = kInput;
  }
  const auto is_known = [&](int32_t id) {
    return writer[static_cast<size_t>(id)] != kNobody || tensors_.has_data(id) ||
           tensors_.is_variable(id);
  };
  for (const OperatorInfo& op : operators) {
    const std::string where = fmt::format("{}: {}", file_.name(), op.label());
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const int32_t id = op.inputs[i];
      if (id == -1 || op.is_scratch(i) || is_known(id)) continue;
      problems_.add(where, fmt::format("reads {}, which is no model input, has no data, and no "
                                       "earlier operator writes",
                                       tensors_.label(id)));
    }
    for (const int32_t id : op.outputs) {
      int32_t& by = writer[static_cast<size_t>(id)];
      if (by >= 0) {
        problems_.add(where,
                      fmt::format("writes {}, which {} has written already", tensors_.label(id),
                                  operators[static_cast<size_t>(by)].label()));
      } else if (by == kInput || tensors_.has_data(id)) {
        problems_.add(where, fmt::format("writes {}, which is a {}", tensors_.label(id),
                                         by == kInput ? "model input" : "constant"));
      }
      by = op.index;
    }
  }
  const std::span<const int32_t> outputs = values(subgraph_.outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (tensors_.in_range(outputs[i]) && !is_known(outputs[i])) {
      problems_.add(is_model_ ? fmt::format("{}: model output {}", file_.name(), i)
                              : fmt::format("{}: output {} of subgraph {}", file_.name(), i, signature_.subgraph),
                    fmt::format("is {}, which no operator writes", tensors_.label(outputs[i])));
    }
  }
}

void SubgraphReader::convert(const OperatorInfo& op) {
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
    default:
      break;
  }
  if (op.known->kind == graph::OpKind::Compiled) return keep_compiled(op);
  OperatorReader in(file_, op, tensors_, problems_);
  if (!in.open()) return;
  if (op.code == kSHAPE || op.code == kRANK || op.code == kRANGE || op.code == kBROADCAST_ARGS) {
    if (std::optional<std::vector<uint8_t>> bytes = compute_shape(in)) hold(op, std::move(*bytes));
    return;
  }
  Converted converted;
  switch (op.known->kind) {
    case graph::OpKind::Conv2d:
      converted = convert_conv2d(in);
      break;
    case graph::OpKind::DepthwiseConv2d:
      converted = convert_depthwise_conv2d(in);
      break;
    case graph::OpKind::AveragePool2d:
    case graph::OpKind::MaxPool2d:
    case graph::OpKind::L2Pool2d:
      converted = convert_pool2d(in);
      break;
    case graph::OpKind::FullyConnected:
      converted = convert_fully_connected(in);
      break;
    case graph::OpKind::TransposeConv2d:
      converted = convert_transpose_conv2d(in);
      break;
    case graph::OpKind::Svdf:
      converted = convert_svdf(in);
      break;
    case graph::OpKind::Lstm:
      converted = convert_lstm(in);
      break;
    default:
      converted = convert_plain(in);
  }
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
  if (converted.bias) {
    draft.inputs.resize(3, -1);
    draft.inputs[2] = make(std::move(*converted.bias));
  }
  if (converted.only) draft.inputs = {make(std::move(*converted.only))};
  draft.outputs.assign(op.outputs.begin(), op.outputs.end());
  for (const size_t i : converted.states) draft.outputs.push_back(op.inputs[i]);
  if (find_out(op, draft)) return;
  drafts_.push_back(std::move(draft));
}

void SubgraphReader::keep_compiled(const OperatorInfo& op) {
  std::optional<CompiledOperator> compiled = convert_compiled(file_, op, tensors_, problems_);
  if (!compiled) return;
  Draft draft;
  draft.node.kind = op.known->kind;
  draft.node.name = op.name;
  draft.node.attributes = std::move(compiled->attributes);
  draft.inputs = std::move(compiled->inputs);
  for (int32_t& id : draft.inputs) id = current(id);
  draft.outputs.assign(op.outputs.begin(), op.outputs.end());
  drafts_.push_back(std::move(draft));
}

// ---- variables ----------------------------------------------------------------------------------

std::string SubgraphReader::unique_name(const std::string& wish) {
  std::string name = wish;
  for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wish, i);
  return name;
}

// The model reads a variable before its first use; other functions have been given its value.
int32_t SubgraphReader::value_of(VariableId id) {
  if (const auto found = values_.find(id); found != values_.end()) return found->second;
  const Variable& variable = model_.variable(id);
  graph::Tensor value = *variable.tensor;
  value.name = printable(variable.name) + "_value";
  graph::Tensor kept = *variable.tensor;
  kept.variable = true;
  variables_[id] = make({kept, {}});
  const int32_t made = make({value, {}});
  Draft draft;
  draft.node.kind = graph::OpKind::ReadVariable;
  draft.node.name = unique_name("read_" + c_identifier(variable.name, "variable"));
  draft.inputs = {variables_[id]}, draft.outputs = {made};
  drafts_.push_back(std::move(draft));
  return values_[id] = made;
}

void SubgraphReader::read_variable(const OperatorInfo& op) {
  if (op.inputs.size() != 1 || op.outputs.size() != 1) {
    return problem(op, fmt::format("has {} inputs and {} outputs, but takes 1 and makes 1", op.inputs.size(),
                                   op.outputs.size()));
  }
  const auto id = handle(op, op.inputs[0]);
  if (!id) return;
  const int32_t value = value_of(*id);
  if (is_result(op.outputs[0]) && tensors_.get(op.outputs[0], "written by " + op.label()) != nullptr)
    hand_on(op, value);
  else
    same_as_[op.outputs[0]] = value;
}

void SubgraphReader::assign_variable(const OperatorInfo& op) {
  if (op.inputs.size() != 2 || !op.outputs.empty()) {
    return problem(op, fmt::format("has {} inputs and {} outputs, but takes 2 and makes none", op.inputs.size(),
                                   op.outputs.size()));
  }
  const auto id = handle(op, op.inputs[0]);
  if (!id || op.inputs[1] < 0 || tensors_.get(op.inputs[1], "read by " + op.label()) == nullptr) return;
  if (is_model_ && !variables_.contains(*id)) {
    graph::Tensor kept = *model_.variable(*id).tensor;
    kept.variable = true;
    variables_[*id] = make({kept, {}});
  }
  values_[*id] = current(op.inputs[1]);
}

void SubgraphReader::call_once(const OperatorInfo& op) {
  const auto number = static_cast<size_t>(subgraphs_run_by(*op.raw).at(0));
  if (!is_model_) {
    return problem(op, "initialises inside of a branch or a loop", "initialise at the beginning of the model");
  }
  for (const VariableId id : model_.uses(number, {}, false)) {
    if (values_.contains(id)) {
      return problem(op, fmt::format("initialises the variable '{}' after it has been used",
                                     printable(model_.variable(id).name)),
                     "initialise at the beginning of the model");
    }
  }
  model_.initialise(op, number);
}

void SubgraphReader::assign_at_end() {
  for (const auto& [id, kept] : variables_) {
    const int32_t value = values_.at(id);
    const bool untouched = std::ranges::any_of(drafts_, [&, kept = kept](const Draft& draft) {
      return draft.node.kind == graph::OpKind::ReadVariable && draft.inputs[0] == kept && draft.outputs[0] == value;
    });
    if (untouched) continue;
    Draft draft;
    draft.node.kind = graph::OpKind::AssignVariable;
    draft.node.name = unique_name("assign_" + c_identifier(model_.variable(id).name, "variable"));
    draft.inputs = {value}, draft.outputs = {kept};
    drafts_.push_back(std::move(draft));
  }
}

// ---- branches and loops -------------------------------------------------------------------------

void SubgraphReader::convert_control(const OperatorInfo& op) {
  const bool is_loop = op.code == kWHILE;
  const std::vector<int64_t> callees = subgraphs_run_by(*op.raw);
  const size_t first = is_loop ? 0 : 1;
  if (op.inputs.size() < first) return problem(op, "has no condition");
  bool good = true;
  std::vector<std::optional<VariableId>> passed;
  Draft draft;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const int32_t id = op.inputs[i];
    if (id < 0) return problem(op, fmt::format("lacks its input {}", i));
    const bool is_handle = i >= first && tensors_.is_resource(id);
    if (is_handle) {
      const auto variable = handle(op, id);
      if (!variable) return;
      passed.push_back(*variable);
      continue;
    }
    if (i >= first) passed.emplace_back();
    good &= tensors_.get(id, "read by " + op.label()) != nullptr;
    draft.inputs.push_back(current(id));
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (tensors_.is_resource(op.outputs[i])) {
      if (!handles_.contains(op.outputs[i])) return problem(op, fmt::format("makes a handle, its output {}", i));
      continue;
    }
    good &= tensors_.get(op.outputs[i], "written by " + op.label()) != nullptr;
    draft.outputs.push_back(op.outputs[i]);
  }
  if (!good) return;

  std::set<VariableId> used, assigned;
  for (const int64_t callee : callees) {
    used.merge(model_.uses(static_cast<size_t>(callee), passed, false));
    assigned.merge(model_.uses(static_cast<size_t>(callee), passed, true));
  }
  for (const VariableId id : used)
    if (!model_.variable(id).tensor) return problem(op, "works on a variable whose type is not known");
  Signature signature{0, passed, {used.begin(), used.end()}, {assigned.begin(), assigned.end()}};
  if (is_loop) signature.gives = signature.takes;  // what a loop carries it takes and gives
  for (const VariableId id : signature.takes) draft.inputs.push_back(value_of(id));
  std::vector<std::string> functions;
  for (size_t i = 0; i < callees.size(); ++i) {
    Signature own = signature;
    own.subgraph = static_cast<size_t>(callees[i]);
    if (is_loop && i == 0) own.gives.clear();
    const std::span<const int32_t> expected = values(model_.subgraph(own.subgraph).raw->inputs());
    if (expected.size() != passed.size()) {
      return problem(op, fmt::format("hands {} values to subgraph {}, which takes {}", passed.size(), own.subgraph,
                                     expected.size()));
    }
    functions.push_back(model_.function_for(own));
    if (functions.back().empty()) return;  // reported
  }
  for (const VariableId id : signature.gives) {
    graph::Tensor value = *model_.variable(id).tensor;
    value.name = fmt::format("{}_after_{}", printable(value.name), op.name);
    draft.outputs.push_back(make({std::move(value), {}}));
    values_[id] = draft.outputs.back();
  }
  if (draft.outputs.empty()) return;  // nothing comes of it
  draft.node.kind = op.known->kind;
  draft.node.name = op.name;
  if (is_loop) {
    draft.node.attributes = graph::WhileAttrs{functions[0], functions[1]};
  } else {
    draft.node.attributes = graph::IfAttrs{functions[0], functions[1]};
  }
  drafts_.push_back(std::move(draft));
}

// ---- what is known when the model is compiled ---------------------------------------------------

// The operator's output is another tensor's value.
void SubgraphReader::hand_on(const OperatorInfo& op, int32_t value) {
  Draft draft;
  draft.node.kind = graph::OpKind::Reshape;
  draft.node.name = op.name;
  draft.node.attributes = graph::ReshapeAttrs{tensor(op.outputs[0]).shape};
  draft.inputs = {value}, draft.outputs = {op.outputs[0]};
  drafts_.push_back(std::move(draft));
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
  int64_t room = kMostComputed;
  for (const int32_t id : draft.inputs) {
    all_constant &= id >= 0 && !bytes(id).empty();
    if (all_constant) room = std::max(room, tensor(id).bytes());
  }
  const bool is_open = std::ranges::any_of(op.outputs, [&](int32_t id) { return tensors_.is_dynamic(id); });
  if (!is_open && !(all_constant && tensor(draft.outputs[0]).bytes() <= room)) return false;

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
      alone.constants.push_back({"constant", {data.begin(), data.end()}});
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
  if (!all_constant || tensor(draft.outputs[0]).bytes() > room || !graph::verify(alone).ok()) return false;
  Result<std::vector<graph::TensorValue>> made = graph::Evaluator(alone).run({});
  if (!made.ok()) return false;
  hold(op, std::move((*made)[0]));
  return true;
}

// ---- the function -------------------------------------------------------------------------------

graph::Function SubgraphReader::assemble(const std::string& name) {
  std::vector<int32_t> inputs, outputs;
  for (const int32_t id : values(subgraph_.inputs()))
    if (!handles_.contains(id)) inputs.push_back(id);
  inputs.insert(inputs.end(), taken_.begin(), taken_.end());
  for (const int32_t id : values(subgraph_.outputs()))
    if (!handles_.contains(id)) outputs.push_back(current(id));
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
  const size_t before = problems_.items().size();
  ModelReader::Subgraph& subgraph = model_.subgraph(signature_.subgraph);
  for (const OperatorInfo& op : *subgraph.operators) names_.insert(op.name);
  if (!std::exchange(subgraph.is_checked, true)) {
    check_model_operands();
    check_data_flow(*subgraph.operators);
  }
  for (const VariableId id : signature_.takes) {
    graph::Tensor value = *model_.variable(id).tensor;
    value.name = printable(value.name);
    taken_.push_back(values_[id] = make({std::move(value), {}}));
  }
  for (const OperatorInfo& op : *subgraph.operators) {
    if (op.known != nullptr) convert(op);
  }
  if (problems_.items().size() > before) return std::nullopt;
  assign_at_end();
  return assemble(name);
}

}  // namespace

std::optional<graph::Function> read_subgraph(ModelReader& model, const Signature& signature, bool is_model,
                                             const std::string& name) {
  return SubgraphReader(model, signature, is_model).read(name);
}

}  // namespace intarsia::tflite
