#include "tflite_writer/region.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/listed_operators.h"
#include "tflite_writer/model_draft.h"

namespace intarsia::tflite_writer {

namespace {

// What a cut reads and makes, as tensors of the file in their order.
struct Edges {
  std::set<int32_t> all, inputs, outputs;
};

Edges edges_of(const Original& model, const std::vector<int32_t>& operators) {
  const std::set<int32_t> inside(operators.begin(), operators.end());
  Edges edges;
  for (const int32_t index : operators) {
    for (const int32_t id : model.tensors_of(index)) edges.all.insert(id);
    for (const int32_t id : model.op(index).inputs)
      if (id >= 0 && model.is_value(id) && !inside.contains(model.producer(id)))
        edges.inputs.insert(id);
    for (const int32_t id : model.op(index).outputs)
      if (id >= 0 && (model.is_output(id) || std::ranges::any_of(model.readers(id), [&](int32_t r) {
                        return !inside.contains(r);
                      })))
        edges.outputs.insert(id);
  }
  return edges;
}

// Finds the file's operator that a node of the graph came from, by the name that importing gave it.
class Origins {
 public:
  Origins(const std::vector<import::ListedOperator>& listed, const std::vector<int32_t>& operators,
          const JoinedOperators& joined)
      : joined_(joined) {
    for (const import::ListedOperator& op : listed)
      by_name_[op.name] = operators[static_cast<size_t>(op.index)];
  }

  std::set<int32_t> of(const std::string& node) const {
    std::set<int32_t> found;
    if (const auto lookup = joined_.lookups.find(node); lookup != joined_.lookups.end()) {
      for (const std::string& part : lookup->second) found.merge(of_part(part));
      return found;
    }
    return of_part(node);
  }

 private:
  // Of a node as it was before it was joined with others under the name of the last.
  std::set<int32_t> of_part(const std::string& node) const {
    std::set<int32_t> found;
    // An operator that is several nodes gives its name to the last and begins the others' with it.
    const std::string* longest = nullptr;
    for (const auto& [name, index] : by_name_)
      if (node.starts_with(name) && (longest == nullptr || name.size() > longest->size()))
        longest = &name;
    if (longest != nullptr) found.insert(by_name_.at(*longest));
    return found;
  }

  const JoinedOperators& joined_;
  std::map<std::string, int32_t> by_name_;
};

// What is kept begins with values of its own, which no variable tensor of a file does.
bool begins_otherwise(const graph::Function& function) {
  return std::ranges::any_of(function.tensors, [](const graph::Tensor& tensor) {
    return tensor.variable && tensor.initial.valid();
  });
}

// The importer's complaints about single operators. Others are returned.
Diagnostics take_refusals(const Diagnostics& problems, const std::string& file,
                          const std::vector<import::ListedOperator>& listed, Region& region) {
  Diagnostics others;
  for (const Diagnostic& problem : problems.items()) {
    const auto op = std::ranges::find_if(listed, [&](const import::ListedOperator& each) {
      return problem.where == fmt::format("{}: {}", file, each.label);
    });
    if (op == listed.end())
      others.add(problem.where, problem.what, problem.hint);
    else
      region.refused[region.operators[static_cast<size_t>(op->index)]] = problem.what;
  }
  return others;
}

// Of a resource, which is read and assigned as a whole, whatever operators do so.
std::set<int32_t> accesses_of(const std::vector<State>& states, const Explanation::Operator& row) {
  const State* longest = nullptr;
  for (const State& state : states)
    if (is_access(state, row.kind, row.name) &&
        (longest == nullptr || state.name.size() > longest->name.size()))
      longest = &state;
  return longest == nullptr ? std::set<int32_t>() : longest->operators;
}

void refuse_all(Region& region, const std::string& reason) {
  for (const int32_t op : region.operators) region.refused[op] = reason;
}

}  // namespace

Result<std::vector<uint8_t>> cut_out(const Original& model, const std::vector<int32_t>& operators) {
  const Edges edges = edges_of(model, operators);
  ModelDraft draft;
  draft.is_part = true;
  std::map<int32_t, int32_t> number;
  for (const int32_t id : edges.all) {
    number[id] = static_cast<int32_t>(draft.tensors.size());
    draft.tensors.push_back({id});
  }
  const auto mapped = [&](const auto& ids) {
    std::vector<int32_t> result;
    for (const int32_t id : ids) result.push_back(id < 0 ? -1 : number.at(id));
    return result;
  };
  for (const int32_t index : operators)
    draft.operators.push_back({.original = index,
                               .inputs = mapped(model.op(index).inputs),
                               .outputs = mapped(model.op(index).outputs)});
  draft.inputs = mapped(edges.inputs);
  draft.outputs = mapped(edges.outputs);
  return write_model(&model, draft);
}

std::string reason_of(const Explanation::Operator& row, const std::string& npu) {
  for (const Offer& offer : row.offers)
    if (offer.device == npu && offer.reason) return *offer.reason;
  return "the CPU is to run it";
}

Result<Placed> place(const graph::Module& imported, const Setting& setting) {
  INTARSIA_TRY(const ReducedModule reduced, reduced_as_asked(imported, setting.options));
  const MemoryMap memory =
      planning_memory(setting.options.memory, setting.registry, setting.target);
  PartitionOptions asked = setting.options.partition;
  asked.pins.clear();
  asked.lowering = setting.options.lowering;
  asked.lowering.memory = &memory;
  Placed placed;
  placed.joined = join_operators(reduced.module, setting.registry, setting.target, asked);
  INTARSIA_TRY(placed.partitioned,
               partition(placed.joined.module, setting.registry, setting.target, asked));
  return placed;
}

void take_function(Region& region, graph::Module module, const Original& model,
                   const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  region.module = std::move(module);
  const graph::Function& entry = region.module.entry_function();
  if (entry.nodes.size() != 1)
    return refuse_all(region, "it is nothing that the NPU does in one piece");
  const graph::Node& call = entry.nodes[0];
  region.function = call.attrs<graph::CallAttrs>().callee;
  if (begins_otherwise(*region.module.find(region.function)))
    return refuse_all(region,
                      "its state begins with other values than the zero point, as which "
                      "variable tensors begin");
  const auto tensors_of = [&](const std::vector<graph::TensorId>& operands,
                              const std::vector<graph::TensorId>& edge,
                              const std::vector<int32_t>& ids) -> std::vector<int32_t> {
    std::vector<int32_t> result;
    for (const graph::TensorId operand : operands) {
      const auto at = std::ranges::find(edge, operand);
      if (at == edge.end()) return {};
      const int32_t id = ids.at(static_cast<size_t>(at - edge.begin()));
      if (model.bytes(id) != entry.tensor(operand).bytes()) return {};
      result.push_back(id);
    }
    return result;
  };
  region.inputs = tensors_of(call.inputs, entry.inputs, inputs);
  region.outputs = tensors_of(call.outputs, entry.outputs, outputs);
  if (region.inputs.size() != call.inputs.size() || region.inputs.empty() ||
      region.outputs.size() != outputs.size())
    refuse_all(region, "its operands are not those of the file any more");
}

Result<Region> compile_region(const Original& model, const std::vector<State>& states,
                              const std::vector<int32_t>& operators, const Setting& setting) {
  Region region;
  region.operators = operators;
  const Edges edges = edges_of(model, operators);
  if (edges.outputs.empty()) {
    refuse_all(region, "nothing reads its results");
    return region;
  }
  if (edges.inputs.empty()) {
    refuse_all(region, "it reads nothing that is computed");
    return region;
  }
  INTARSIA_TRY(const std::vector<uint8_t> file, cut_out(model, operators));
  ImportOptions import;
  import.file = model.file().name();
  import.foreign = setting.registry.foreign_formats();
  INTARSIA_TRY(const auto listed, import::listed_operators(file, import));
  const Result<graph::Module> imported = import_model(file, import);
  if (!imported.ok()) {
    const Diagnostics others = take_refusals(imported.error(), import.file, listed, region);
    if (region.refused.empty()) return others;
    return region;
  }
  INTARSIA_TRY(Placed placed, place(*imported, setting));
  const Origins origins(listed, operators, placed.joined);
  for (const Explanation::Operator& row : placed.partitioned.explanation.operators) {
    if (row.device == setting.npu.name) continue;
    std::set<int32_t> from = accesses_of(states, row);
    if (from.empty()) from = origins.of(row.name);
    for (const int32_t index : from) region.refused[index] = reason_of(row, setting.npu.name);
    if (from.empty()) refuse_all(region, reason_of(row, setting.npu.name));
  }
  if (!region.refused.empty()) return region;

  take_function(region, std::move(placed.partitioned.module), model,
                {edges.inputs.begin(), edges.inputs.end()},
                {edges.outputs.begin(), edges.outputs.end()});
  return region;
}

}  // namespace intarsia::tflite_writer
