#include "requests/unsupported.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/listed_operators.h"

namespace intarsia::requests {
namespace {

using import::ListedOperator;

constexpr std::string_view kQuantise =
    "convert the model to integers with a representative data set: what stays float runs on the "
    "CPU";

constexpr std::string_view kQuantiseResults =
    "have the quantiser look at the results of operators too (a QuantizeLinear behind each that "
    "feeds another): without, the "
    "model does not say on which scale the accelerator is to compute";

constexpr std::string_view kConvertOutside =
    "--io int8 leaves this conversion at the model's edge to the application, which then gives and "
    "takes integers";

// A reason without the names and numbers of the operator it was said of, so that equal refusals are found.
std::string without_particulars(std::string_view text) {
  std::string bare;
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '\'') is_quoted = !is_quoted;
    if (!is_quoted && (c < '0' || c > '9')) bare += c;
  }
  return bare;
}

class RefusalList {
 public:
  void add(const Refusals& one) {
    const std::string key =
        fmt::format("{}\n{}\n{}", one.device, one.type, without_particulars(one.why));
    const auto [at, is_new] = places_.try_emplace(key, list_.size());
    if (is_new) list_.push_back(one);
    ++list_[at->second].count;
  }
  std::vector<Refusals> take() && { return std::move(list_); }

 private:
  std::map<std::string, size_t> places_;
  std::vector<Refusals> list_;
};

// Each operator's first problem is its refusal; those of operators of unknown types are said once per type.
void count_refused(const std::vector<ListedOperator>& operators, const std::string& file,
                   const Diagnostics& problems, Unsupported& result) {
  std::map<std::string, const Diagnostic*> by_place;
  for (const Diagnostic& item : problems.items()) by_place.try_emplace(item.where, &item);
  std::map<std::string, std::string> advice;  // by type, of those that are not known
  std::set<std::string> of_operators;
  RefusalList refused;
  for (const ListedOperator& op : operators) {
    const std::string place = fmt::format("{}: {}", file, op.label);
    const auto said = by_place.find(place);
    if (said == by_place.end() && op.is_known) continue;
    of_operators.insert(place);
    if (op.is_known) {
      refused.add({op.type, 0, op.name, op.index, said->second->what, said->second->hint});
      continue;
    }
    if (said != by_place.end()) advice.try_emplace(op.type, said->second->hint);
    refused.add(
        {op.type, 0, op.name, op.index, "is an operator Intarsia does not have", advice[op.type]});
  }
  result.importer = std::move(refused).take();
  for (const Diagnostic& item : problems.items())
    if (!of_operators.contains(item.where)) result.problems.add(item.where, item.what, item.hint);
}

// Conversions from floats and to floats at the edges of a quantised model.
std::set<std::string> conversions_at_the_edges(const graph::Module& module) {
  using graph::OpKind;
  const graph::Function& entry = module.entry_function();
  const auto is_among = [](const std::vector<graph::TensorId>& ids, graph::TensorId id) {
    return std::ranges::find(ids, id) != ids.end();
  };
  std::set<std::string> names;
  for (const graph::Node& node : entry.nodes)
    if ((node.kind == OpKind::Quantize && is_among(entry.inputs, node.inputs[0])) ||
        (node.kind == OpKind::Dequantize && is_among(entry.outputs, node.outputs[0])))
      names.insert(node.name);
  return names;
}

bool has_floats(const graph::Module& module, const std::string& name) {
  for (const graph::Function& function : module.functions)
    for (const graph::Node& node : function.nodes) {
      if (node.name != name) continue;
      const auto is_float = [&](graph::TensorId id) {
        return id.valid() && function.tensor(id).type == DataType::Float32;
      };
      return std::ranges::any_of(node.inputs, is_float) ||
             std::ranges::any_of(node.outputs, is_float);
    }
  return false;
}

// Whether layers take integers on known scales and give floats, as files have it whose quantiser looked at what layers take alone.
bool has_layers_without_results(const graph::Module& module) {
  constexpr size_t kScales = 3;
  for (const graph::Function& function : module.functions)
    for (const graph::Node& node : function.nodes)
      if ((node.kind == graph::OpKind::HybridConv2d ||
           node.kind == graph::OpKind::HybridDepthwiseConv2d ||
           node.kind == graph::OpKind::HybridFullyConnected) &&
          function.tensor(node.inputs[kScales]).constant.valid())
        return true;
  return false;
}

// What the host runs because an accelerator cannot.
std::vector<Refusals> left_to_the_host(const Partitioned& partitioned, const TargetSpec& target,
                                       const std::set<std::string>& at_the_edges) {
  RefusalList refused;
  const std::string_view quantise =
      has_layers_without_results(partitioned.module) ? kQuantiseResults : kQuantise;
  int64_t index = -1;
  for (const Explanation::Operator& row : partitioned.explanation.operators) {
    ++index;
    if (row.device != target.host().name) continue;
    const std::string_view advice = at_the_edges.contains(row.name)            ? kConvertOutside
                                    : has_floats(partitioned.module, row.name) ? quantise
                                                                               : "";
    for (const Offer& offer : row.offers)
      if (offer.device != row.device && !offer.can)
        refused.add({row.kind, 0, row.name, index, offer.reason.value_or(""), std::string(advice),
                     offer.device});
  }
  std::vector<Refusals> list = std::move(refused).take();
  std::ranges::stable_sort(list, std::greater(), &Refusals::count);
  return list;
}

}  // namespace

Result<Unsupported> find_unsupported(const Environment& environment, const Selection& selection,
                                     const ModelOptions& options, std::span<const uint8_t> bytes,
                                     const NoteSink& on_note) {
  Unsupported result;
  ImportOptions as_file;
  as_file.file = options.model;
  as_file.signature = options.signature;
  as_file.foreign = environment.registry.foreign_formats();
  INTARSIA_TRY(const std::vector<ListedOperator> operators,
               import::listed_operators(bytes, as_file));
  result.operators = std::ssize(operators);
  Result<graph::Module> module = import_as_asked(environment, options, bytes, on_note);
  if (!module.ok()) {
    if (operators.empty()) return module.error();
    count_refused(operators, options.model, module.error(), result);
    return result;
  }
  result.imports = true;
  if (operators.empty()) result.operators = std::ssize(module->entry_function().nodes);
  const std::set<std::string> at_the_edges = conversions_at_the_edges(*module);
  const Result<CompiledModel> compiled = compile_on(
      environment, selection, imported_model(std::move(module).value(), bytes), Stage::Partition);
  if (!compiled.ok())
    result.problems.append(compiled.error());
  else
    result.off_npu = left_to_the_host(compiled->partitioned, selection.target, at_the_edges);
  return result;
}

std::string unsupported_json(const Unsupported& unsupported) {
  using Json = nlohmann::ordered_json;
  const auto rows = [](const std::vector<Refusals>& list) {
    Json array = Json::array();
    for (const Refusals& each : list) {
      Json row = {{"type", each.type},
                  {"count", each.count},
                  {"first", {{"operator", each.first_index}, {"name", each.first}}},
                  {"why", each.why}};
      if (!each.device.empty()) row["member"] = each.device;
      if (!each.what_to_do.empty()) row["what_to_do"] = each.what_to_do;
      array.push_back(std::move(row));
    }
    return array;
  };
  Json json = {{"operators", unsupported.operators},
               {"imports", unsupported.imports},
               {"refused", rows(unsupported.importer)},
               {"off_npu", rows(unsupported.off_npu)},
               {"problems", Json::array()}};
  for (const Diagnostic& item : unsupported.problems.items()) {
    Json row = {{"where", item.where}, {"why", item.what}};
    if (!item.hint.empty()) row["what_to_do"] = item.hint;
    json["problems"].push_back(std::move(row));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace intarsia::requests
