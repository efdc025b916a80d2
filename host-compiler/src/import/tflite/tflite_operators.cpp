#include "import/tflite/tflite_operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "import/tflite/node_names.h"
#include "import/unknown_operators.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;
using enum Code;

// Every operator that holds a program.
const KnownOperator kProgram = {kCUSTOM, OpKind::Compiled, 0, 1000, {}};

std::string_view builtin_name(int32_t code) {
  switch (code) {
#define TFLITE_OPERATOR(code, name) \
  case code:                        \
    return #name;
#include "import/tflite_operators.def"
#undef TFLITE_OPERATOR
    default:
      return "";
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// Fills in what the operator is. False, and a problem, when the file does not say.
bool identify(const ModelFile& file, OperatorInfo& op, std::string& problem) {
  const auto* codes = file.model().operator_codes();
  const size_t count = codes ? codes->size() : 0;
  const uint32_t at = op.raw->opcode_index();
  if (at >= count) {
    problem = fmt::format("names operator code {}, but the file has {}", at, count);
    return false;
  }
  const format::OperatorCode& entry = *codes->Get(at);
  op.code = std::max<int32_t>(entry.old_code(), entry.code());
  const std::string_view name = builtin_name(op.code);
  if (op.code == kCUSTOM) {
    op.type = fmt::format("custom '{}' v{}", printable(text(entry.custom_code())), entry.version());
  } else if (name.empty()) {
    op.type = fmt::format("builtin {} v{}", op.code, entry.version());
  } else {
    op.type = fmt::format("{} v{}", name, entry.version());
  }
  const auto& table = known_operators();
  const auto known = std::ranges::find(table, op.code, &KnownOperator::code);
  if (known != table.end()) op.known = &*known;
  if (op.code == kCUSTOM) {
    op.program = file.program_operator(text(entry.custom_code()));
    op.custom_code = text(entry.custom_code());
    const auto& custom = custom_operators();
    const auto own = std::ranges::find(custom, op.custom_code, &CustomOperator::name);
    op.known = op.program != nullptr ? &kProgram : own != custom.end() ? &own->known : nullptr;
  }
  return true;
}

std::string suggested_name(const OperatorInfo& op, const TensorTable& tensors) {
  const std::string_view tensor = op.outputs.empty() ? "" : tensors.name(op.outputs.front());
  if (op.program != nullptr) {
    const std::vector<std::string_view> names(op.program->layer_names.begin(),
                                              op.program->layer_names.end());
    return node_name(tensor, names, graph::to_string(op.known->kind));
  }
  if (op.known != nullptr) {
    return node_name(tensor, op.known->layer_names, graph::to_string(op.known->kind));
  }
  const std::string_view builtin = op.code == kCUSTOM ? "custom" : builtin_name(op.code);
  const std::string fallback = builtin.empty() ? "unknown" : lower(builtin);
  const std::string_view word = fallback;
  return node_name(tensor, std::span(&word, 1), fallback);
}

std::string bad_index(const OperatorInfo& op, const TensorTable& tensors) {
  for (const int32_t id : op.inputs) {
    if (id != -1 && !tensors.in_range(id)) {
      return fmt::format("reads tensor {}, but there are {}", id, tensors.count());
    }
  }
  for (const int32_t id : op.outputs) {
    if (!tensors.in_range(id)) {
      return fmt::format("writes tensor {}, but there are {}", id, tensors.count());
    }
  }
  return "";
}

// What the options say, whatever the operator is.
std::vector<int64_t> subgraphs_named_by(const format::Operator& op) {
  if (const auto* o = op.options_as_CallOptions()) return {o->subgraph()};
  if (const auto* o = op.options_as_IfOptions()) return {o->then_subgraph(), o->else_subgraph()};
  if (const auto* o = op.options_as_WhileOptions()) {
    return {o->condition_subgraph(), o->body_subgraph()};
  }
  if (const auto* o = op.options_as_CallOnceOptions()) return {o->subgraph()};
  if (const auto* o = op.later_options_as_CompositeOptions()) return {o->subgraph()};
  return {};
}

}  // namespace

std::vector<int64_t> subgraphs_run_by(const OperatorInfo& op) {
  const format::Options options = op.raw->options_type();
  const bool fits = op.code == kIF          ? options == format::Options::IfOptions
                    : op.code == kWHILE     ? options == format::Options::WhileOptions
                    : op.code == kCALL_ONCE ? options == format::Options::CallOnceOptions
                    : op.code == kSTABLEHLO_COMPOSITE
                        ? op.raw->later_options_as_CompositeOptions() != nullptr
                        : false;
  return fits ? subgraphs_named_by(*op.raw) : std::vector<int64_t>{};
}

namespace {

std::string describe_subgraphs(const ModelFile& file, const format::Operator& op) {
  const auto* subgraphs = file.model().subgraphs();
  std::vector<std::string> labels;
  for (const int64_t index : subgraphs_named_by(op)) {
    std::string label = fmt::format("subgraph {}", index);
    if (index >= 0 && index < static_cast<int64_t>(subgraphs->size())) {
      const auto* subgraph = subgraphs->Get(static_cast<flatbuffers::uoffset_t>(index));
      label += fmt::format(" '{}'", printable(text(subgraph->name())));
    } else {
      label += " (which does not exist)";
    }
    labels.push_back(std::move(label));
  }
  return labels.empty() ? "" : fmt::format(", runs {}", fmt::join(labels, " and "));
}

}  // namespace

bool OperatorInfo::is_scratch(size_t input) const {
  return program != nullptr &&
         (input == program->constants || input == program->arena || input == program->fast_arena);
}

std::string OperatorInfo::label() const {
  const std::string where = subgraph == 0 ? "" : fmt::format(" of subgraph {}", subgraph);
  return fmt::format("operator {} '{}' ({}){}", index, name, type, where);
}

std::string type_name(const ModelFile& file, const OperatorInfo& op) {
  const format::OperatorCode& code = *file.model().operator_codes()->Get(op.raw->opcode_index());
  if (op.code == kCUSTOM) return std::string(text(code.custom_code()));
  const std::string_view name = builtin_name(op.code);
  return name.empty() ? fmt::format("{}", op.code) : std::string(name);
}

std::optional<std::vector<OperatorInfo>> list_operators(const ModelFile& file,
                                                        const format::Subgraph& subgraph,
                                                        size_t number, const TensorTable& tensors,
                                                        Diagnostics& problems) {
  std::vector<OperatorInfo> operators;
  if (subgraph.operators() == nullptr) return operators;
  UniqueNames names;
  bool meaningful = true;
  for (const format::Operator* raw : *subgraph.operators()) {
    OperatorInfo op;
    op.raw = raw;
    op.subgraph = number;
    op.index = static_cast<int32_t>(operators.size());
    op.inputs = values(raw->inputs());
    op.outputs = values(raw->outputs());
    std::string problem;
    if (identify(file, op, problem)) problem = bad_index(op, tensors);
    // A shape of no extents makes a tensor of one element; the result's own shape says so.
    if (problem.empty() && op.code == kRESHAPE && op.inputs.size() == 2 && op.inputs[1] >= 0 &&
        tensors.is_empty(op.inputs[1]))
      op.inputs = op.inputs.first(1);
    if (problem.empty()) {
      op.name = names.take(suggested_name(op, tensors));
    } else {
      const std::string type = op.type.empty() ? "" : fmt::format(" ({})", op.type);
      problems.add(fmt::format("{}: operator {}{}", file.name(), op.index, type), problem);
      meaningful = false;
    }
    operators.push_back(std::move(op));
  }
  if (!meaningful) return std::nullopt;
  return operators;
}

void report_unknown(const ModelFile& file, const format::Subgraph& subgraph,
                    const std::vector<OperatorInfo>& operators, Diagnostics& problems) {
  constexpr size_t kMostReaders = 4;  // named in one line
  std::map<int32_t, std::vector<std::string>> readers;
  for (const OperatorInfo& op : operators) {
    if (op.known == nullptr) {
      for (const int32_t id : op.outputs) readers.try_emplace(id);
    }
  }
  if (readers.empty() && std::ranges::all_of(operators, &OperatorInfo::known)) return;
  const auto add_reader = [&](int32_t id, const std::string& label) {
    const auto found = readers.find(id);
    if (found == readers.end()) return;
    if (found->second.empty() || found->second.back() != label) found->second.push_back(label);
  };
  for (const OperatorInfo& op : operators) {
    for (const int32_t id : op.inputs) add_reader(id, op.label());
  }
  const std::span<const int32_t> results = values(subgraph.outputs());
  for (size_t i = 0; i < results.size(); ++i) {
    add_reader(results[i], fmt::format("model output {}", i));
  }

  const auto type_of = [&](const OperatorInfo& op) { return type_name(file, op); };
  std::map<std::string, import::UnknownType> unknown;
  for (const OperatorInfo& op : operators)
    if (op.known == nullptr) unknown[type_of(op)].add(op.index);
  for (const OperatorInfo& op : operators) {
    if (op.known != nullptr || !unknown.contains(type_of(op))) continue;
    std::vector<std::string> fed;
    for (const int32_t id : op.outputs)
      fed.insert(fed.end(), readers[id].begin(), readers[id].end());
    const size_t more = fed.size() > kMostReaders ? fed.size() - kMostReaders : 0;
    fed.resize(fed.size() - more);
    std::string what =
        fmt::format("is an operator Intarsia does not have{}", describe_subgraphs(file, *op.raw));
    what += fed.empty() ? "; nothing reads its output"
                        : fmt::format("; its output feeds {}{}", fmt::join(fed, ", "),
                                      more ? fmt::format(" and {} more", more) : "");
    const std::string type = type_of(op);
    what += unknown[type].others();
    unknown.erase(type);
    problems.add(
        fmt::format("{}: {}", file.name(), op.label()), what,
        import::what_to_do(type,
                           "docs/operators.md has what there is: write the layer with these, or "
                           "end the model before it"));
  }
}

}  // namespace intarsia::tflite
