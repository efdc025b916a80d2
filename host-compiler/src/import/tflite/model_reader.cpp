#include "import/tflite/model_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/c_identifier.h"

namespace intarsia::tflite {

namespace {

constexpr size_t kMostNested = 64;  // subgraphs that run each other
// Of the evaluation of one initialisation: some seconds. What models initialise takes thousands.
constexpr int64_t kMostInitialisationSteps = 1'000'000;

std::string label_of(const ModelReader::Subgraph& subgraph, size_t number) {
  return fmt::format("subgraph {} '{}'", number, printable(text(subgraph.raw->name())));
}

// What initialisation finds in a variable: what an earlier one left, or the zero point.
graph::TensorValue first_value(const Variable& variable) {
  if (!variable.initial.empty()) return variable.initial;
  const graph::Tensor& tensor = *variable.tensor;
  const int64_t zero = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
  graph::TensorValue value(static_cast<size_t>(tensor.bytes()), 0);
  if (bits(tensor.type) == 8)
    std::fill(value.begin(), value.end(), static_cast<uint8_t>(zero & 255));
  return value;
}

}  // namespace

ModelReader::ModelReader(const ModelFile& file, const ImportOptions& options)
    : file_(file), options_(options) {
  for (const format::Subgraph* raw : *file.model().subgraphs()) {
    Subgraph& subgraph = subgraphs_.emplace_back();
    subgraph.raw = raw;
    subgraph.tensors = std::make_unique<TensorTable>(file, *raw, problems_);
  }
}

ConstantId ModelReader::constant(const std::string& name, std::span<const uint8_t> bytes) {
  const ConstantId fresh{static_cast<int32_t>(module_.constants.size())};
  const auto [at, is_new] = constants_.try_emplace({bytes.data(), bytes.size()}, fresh);
  if (is_new) module_.constants.push_back({name, std::vector<uint8_t>(bytes.begin(), bytes.end())});
  return at->second;
}

// ---- which subgraphs there are ------------------------------------------------------------------

// The first one, unless the user names the signature of another.
bool ModelReader::choose_entry() {
  std::vector<std::string> names;
  std::set<uint32_t> networks;
  const format::ModelSignature* asked = nullptr;
  if (const auto* signatures = file_.model().signatures())
    for (const format::ModelSignature* each : *signatures) {
      names.push_back(fmt::format("'{}'", printable(text(each->name()))));
      networks.insert(each->subgraph());
      if (!options_.signature.empty() && text(each->name()) == options_.signature) asked = each;
    }
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (options_.signature.empty()) {
    if (networks.size() > 1 && options_.notes != nullptr)
      options_.notes->add(file_.name(),
                          fmt::format("has the signatures {}; what is compiled is subgraph 0 '{}'",
                                      all, printable(text(subgraphs_[0].raw->name()))),
                          "--signature NAME takes the network of another");
    return true;
  }
  const std::string quoted = printable(options_.signature);
  if (asked == nullptr) {
    problems_.add(file_.name(), fmt::format("has no signature '{}'", quoted),
                  names.empty() ? "it has none at all: leave --signature out" : "it has " + all);
    return false;
  }
  if (asked->subgraph() >= subgraphs_.size()) {
    problems_.add(file_.name(),
                  fmt::format("has the signature '{}' of subgraph {}, but {} subgraphs", quoted,
                              asked->subgraph(), subgraphs_.size()));
    return false;
  }
  entry_ = asked->subgraph();
  return true;
}

bool ModelReader::list_reachable() {
  std::vector<size_t> waiting{entry_};
  subgraphs_[entry_].is_reachable = true;
  bool meaningful = true;
  for (size_t next = 0; next < waiting.size(); ++next) {
    Subgraph& subgraph = subgraphs_[waiting[next]];
    subgraph.operators =
        list_operators(file_, *subgraph.raw, waiting[next], *subgraph.tensors, problems_);
    if (!subgraph.operators) {
      meaningful = false;
      continue;
    }
    for (const OperatorInfo& op : *subgraph.operators) {
      const bool runs = op.code == kIF || op.code == kWHILE || op.code == kCALL_ONCE ||
                        op.code == kSTABLEHLO_COMPOSITE;
      if (!runs) continue;
      const std::vector<int64_t> callees = subgraphs_run_by(op);
      if (callees.empty()) {
        problems_.add(fmt::format("{}: {}", file_.name(), op.label()),
                      "does not say which subgraphs it runs");
        meaningful = false;
      }
      for (const int64_t callee : callees) {
        if (callee < 0 || callee >= static_cast<int64_t>(subgraphs_.size())) {
          problems_.add(
              fmt::format("{}: {}", file_.name(), op.label()),
              fmt::format("runs subgraph {}, but the file has {}", callee, subgraphs_.size()));
          meaningful = false;
        } else if (!std::exchange(subgraphs_[static_cast<size_t>(callee)].is_reachable, true)) {
          waiting.push_back(static_cast<size_t>(callee));
        }
      }
    }
  }
  for (const size_t number : waiting)
    if (subgraphs_[number].operators)
      report_unknown(file_, *subgraphs_[number].raw, *subgraphs_[number].operators, problems_);
  return meaningful;
}

// Whether an operator that takes any bytes has arithmetic of int8 alone: a concatenation scales its operands.
static bool computes(int32_t code) {
  switch (code) {
    case kCONCATENATION:
    case kEQUAL:
    case kGREATER:
    case kGREATER_EQUAL:
    case kLESS:
    case kLESS_EQUAL:
    case kMAXIMUM:
    case kMINIMUM:
    case kNOT_EQUAL:
    case kSELECT:
    case kSELECT_V2:
      return true;
    default:
      return false;
  }
}

// Networks of old converters compute on UINT8. Those of today have it at their edges only, where it stays.
void ModelReader::choose_signs() {
  const auto computes_on_bytes = [](const Subgraph& subgraph, const OperatorInfo& op) {
    if (op.known == nullptr || op.inputs.empty()) return false;
    const Operands operands = op.known->operands;
    if ((operands == Operands::AnyBytes && !computes(op.code)) ||
        operands == Operands::OldQuantised)
      return false;
    const bool selects = op.code == kSELECT || op.code == kSELECT_V2;
    const size_t activations = op.code == kTRANSPOSE_CONV ? 2 : selects ? 1 : 0;
    const int32_t id = activations < op.inputs.size() ? op.inputs[activations] : -1;
    return id >= 0 && subgraph.tensors->is_quantised_byte(id);
  };
  for (const Subgraph& subgraph : subgraphs_) {
    if (!subgraph.is_reachable || !subgraph.operators) continue;
    for (const OperatorInfo& op : *subgraph.operators)
      reads_bytes_signed_ |= computes_on_bytes(subgraph, op);
  }
  if (!reads_bytes_signed_) return;
  for (Subgraph& subgraph : subgraphs_) subgraph.tensors->read_bytes_signed();
}

// No subgraph runs itself, directly or not, and none is nested too deeply to follow.
bool ModelReader::check_calls() {
  enum class State { New, Open, Done };
  std::vector<State> states(subgraphs_.size(), State::New);
  struct Visit {
    size_t subgraph;
    std::vector<std::pair<const OperatorInfo*, size_t>> callees;  // not entered yet
  };
  std::vector<Visit> stack;
  const auto enter = [&](size_t number) {
    states[number] = State::Open;
    Visit visit{number, {}};
    for (const OperatorInfo& op : *subgraphs_[number].operators)
      for (const int64_t callee : subgraphs_run_by(op))
        if (op.known != nullptr) visit.callees.emplace_back(&op, static_cast<size_t>(callee));
    stack.push_back(std::move(visit));
  };
  enter(entry_);
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.callees.empty()) {
      states[visit.subgraph] = State::Done;
      stack.pop_back();
      continue;
    }
    const auto [op, callee] = visit.callees.back();
    visit.callees.pop_back();
    const std::string where = fmt::format("{}: {}", file_.name(), op->label());
    if (states[callee] == State::Open) {
      problems_.add(
          where,
          fmt::format("runs {}, which runs this operator: subgraphs call each other in a cycle",
                      label_of(subgraphs_[callee], callee)),
          "write the repetition as a loop with a counter");
      return false;
    }
    if (stack.size() >= kMostNested) {
      problems_.add(where, fmt::format("is nested in {} others; at most {} are possible",
                                       stack.size(), kMostNested));
      return false;
    }
    if (states[callee] == State::New) enter(callee);
  }
  return true;
}

// ---- variables ----------------------------------------------------------------------------------

VariableId ModelReader::variable(const format::Operator& handle) {
  const auto* options = handle.options_as_VarHandleOptions();
  std::pair<std::string, std::string> key;
  if (options != nullptr)
    key = {std::string(text(options->container())), std::string(text(options->shared_name()))};
  const auto [at, is_new] = variable_by_name_.try_emplace(key, variables_.size());
  if (is_new) variables_.push_back({key.second.empty() ? "variable" : key.second, {}, {}});
  return at->second;
}

ModelReader::Handles ModelReader::handles_of(size_t number,
                                             const std::vector<std::optional<VariableId>>& inputs) {
  Subgraph& subgraph = subgraphs_[number];
  Handles handles;
  const std::span<const int32_t> ids = values(subgraph.raw->inputs());
  for (size_t i = 0; i < ids.size() && i < inputs.size(); ++i)
    if (inputs[i]) handles[ids[i]] = *inputs[i];
  for (const OperatorInfo& op : *subgraph.operators) {
    if (op.code == kVAR_HANDLE && op.outputs.size() == 1)
      handles[op.outputs[0]] = variable(*op.raw);
    // A loop hands its handles on.
    if (op.code == kWHILE)
      for (size_t i = 0; i < op.outputs.size() && i < op.inputs.size(); ++i)
        if (const auto found = handles.find(op.inputs[i]); found != handles.end()) {
          const VariableId id = found->second;
          handles[op.outputs[i]] = id;
        }
  }
  return handles;
}

// The first use says what a variable is.
void ModelReader::learn(VariableId id, const OperatorInfo& op, Subgraph& subgraph, int32_t tensor) {
  if (!subgraph.tensors->in_range(tensor)) return;
  const graph::Tensor* used = subgraph.tensors->get(tensor, "used by " + op.label());
  if (used == nullptr) return;
  Variable& variable = variables_[id];
  if (!variable.tensor) {
    variable.tensor =
        graph::Tensor{variable.name, used->type, used->shape, used->quantization, {}, false, {}};
  } else if (variable.tensor->type != used->type || variable.tensor->shape != used->shape ||
             variable.tensor->quantization != used->quantization) {
    problems_.add(
        fmt::format("{}: {}", file_.name(), op.label()),
        fmt::format(
            "uses the variable '{}' with another type, shape or quantisation than an earlier "
            "operator",
            printable(variable.name)));
  }
}

void ModelReader::find_uses(
    size_t number, const std::vector<std::optional<VariableId>>& inputs, bool assigned,
    std::set<VariableId>& found,
    std::set<std::pair<size_t, std::vector<std::optional<VariableId>>>>& seen) {
  if (!seen.insert({number, inputs}).second) return;
  Subgraph& subgraph = subgraphs_[number];
  const Handles handles = handles_of(number, inputs);
  for (const OperatorInfo& op : *subgraph.operators) {
    const bool reads = op.code == kREAD_VARIABLE, assigns = op.code == kASSIGN_VARIABLE;
    if ((reads || assigns) && !op.inputs.empty()) {
      const auto handle = handles.find(op.inputs[0]);
      if (handle == handles.end()) continue;
      if (reads && op.outputs.size() == 1) learn(handle->second, op, subgraph, op.outputs[0]);
      if (assigns && op.inputs.size() == 2) learn(handle->second, op, subgraph, op.inputs[1]);
      if (assigns || !assigned) found.insert(handle->second);
    }
    const std::vector<int64_t> callees = subgraphs_run_by(op);
    if (callees.empty()) continue;
    std::vector<std::optional<VariableId>> passed;
    for (size_t i = op.code == kIF ? 1 : 0; i < op.inputs.size(); ++i) {
      const auto handle = handles.find(op.inputs[i]);
      passed.push_back(handle == handles.end() ? std::nullopt : std::optional(handle->second));
    }
    for (const int64_t callee : callees)
      find_uses(static_cast<size_t>(callee), passed, assigned, found, seen);
  }
}

std::set<VariableId> ModelReader::uses(size_t subgraph,
                                       const std::vector<std::optional<VariableId>>& inputs,
                                       bool assigned) {
  std::set<VariableId> found;
  std::set<std::pair<size_t, std::vector<std::optional<VariableId>>>> seen;
  find_uses(subgraph, inputs, assigned, found, seen);
  return found;
}

// ---- functions ----------------------------------------------------------------------------------

std::string ModelReader::function_for(const Signature& signature) {
  const auto known = functions_.find(signature);
  if (known != functions_.end()) return known->second;
  const std::string hint = c_identifier(text(subgraphs_[signature.subgraph].raw->name()),
                                        fmt::format("subgraph_{}", signature.subgraph));
  const std::string name = function_names_.take(hint);
  std::optional<graph::Function> function = read_subgraph(*this, signature, false, name);
  // A failure is remembered too: who meets the subgraph again shall not read it again.
  if (function) module_.functions.push_back(std::move(*function));
  return functions_[signature] = function ? name : "";
}

void ModelReader::initialise(const OperatorInfo& op, size_t number) {
  if (!initialised_.insert(number).second) return;
  const std::string where = fmt::format("{}: {}", file_.name(), op.label());
  if (!values(subgraphs_[number].raw->inputs()).empty() ||
      !values(subgraphs_[number].raw->outputs()).empty()) {
    problems_.add(where,
                  fmt::format("runs {}, which has inputs or outputs; initialisation has none",
                              label_of(subgraphs_[number], number)));
    return;
  }
  Signature signature{number, {}, {}, {}};
  for (const VariableId id : uses(number, {}, false)) {
    if (!variables_[id].tensor) return;  // reported
    signature.takes.push_back(id);
  }
  signature.gives = signature.takes;
  if (signature.gives.empty()) return;
  const std::string name = function_for(signature);
  if (name.empty()) return;

  graph::Module alone = module_;
  alone.name = "initialisation";
  alone.entry = name;
  std::vector<graph::TensorValue> arguments;
  for (const VariableId id : signature.takes) arguments.push_back(first_value(variables_[id]));
  const auto evaluate = [&]() -> Result<std::vector<graph::TensorValue>> {
    INTARSIA_TRY_VOID(graph::verify(alone));
    graph::Evaluator evaluator(alone);
    evaluator.limit_steps(kMostInitialisationSteps);
    return evaluator.run(arguments);
  };
  Result<std::vector<graph::TensorValue>> made = evaluate();
  if (!made.ok()) {
    for (const Diagnostic& item : made.error().items())
      problems_.add(fmt::format("{}: {}", file_.name(), item.where), item.what, item.hint);
    return;
  }
  for (size_t i = 0; i < signature.gives.size(); ++i)
    variables_[signature.gives[i]].initial = std::move((*made)[i]);
  // Nobody runs it again.
  std::erase_if(module_.functions,
                [&](const graph::Function& function) { return function.name == name; });
  functions_.erase(signature);
}

Result<std::vector<import::ListedOperator>> ModelReader::listed() {
  if (!choose_entry() || !list_reachable()) return problems_;
  std::vector<import::ListedOperator> result;
  for (const Subgraph& subgraph : subgraphs_)
    if (subgraph.is_reachable)
      for (const OperatorInfo& op : *subgraph.operators)
        result.push_back(
            {op.index, op.name, printable(type_name(file_, op)), op.label(), op.known != nullptr});
  return result;
}

void ModelReader::remove_written_out() {
  for (const graph::Function& function : module_.functions)
    for (const graph::Node& node : function.nodes)
      if (const auto* branches = std::get_if<graph::IfAttrs>(&node.attributes)) {
        written_out_.erase(branches->then_branch);
        written_out_.erase(branches->else_branch);
      } else if (const auto* loop = std::get_if<graph::WhileAttrs>(&node.attributes)) {
        written_out_.erase(loop->condition);
        written_out_.erase(loop->body);
      }
  std::erase_if(module_.functions, [&](const graph::Function& function) {
    return written_out_.contains(function.name);
  });
}

Result<graph::Module> ModelReader::read(const std::string& module_name) {
  if (!choose_entry() || !list_reachable() || !check_calls()) return problems_;
  choose_signs();
  module_.name = module_name;
  module_.entry = function_names_.take("main");
  Signature whole;
  whole.subgraph = entry_;
  whole.handles.resize(values(subgraphs_[entry_].raw->inputs()).size());
  uses(entry_, whole.handles, false);  // so that every variable's type is known
  std::optional<graph::Function> function = read_subgraph(*this, whole, true, module_.entry);
  if (!problems_.empty()) return problems_;
  INTARSIA_CHECK(function.has_value(), "a model without problems has its function");
  module_.functions.insert(module_.functions.begin(), std::move(*function));
  remove_written_out();
  return std::move(module_);
}

}  // namespace intarsia::tflite
