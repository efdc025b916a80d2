#include "requests/verify_operators.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "intarsia/diagnostics.h"
#include "intarsia/graph/tensor_values.h"
#include "target_kind/tolerated_steps.h"

namespace intarsia::requests {
namespace {

// A variable of which several operators know has a history that no operator alone has.
std::optional<Diagnostics> shared_state(const graph::Module& module) {
  const graph::Function& entry = module.entry_function();
  std::map<int32_t, std::string> owners;
  for (const graph::Node& node : entry.nodes) {
    std::set<int32_t> touched;
    for (const auto& ids : {node.inputs, node.outputs})
      for (const graph::TensorId id : ids)
        if (id.valid() && entry.tensor(id).variable) touched.insert(id.index);
    for (const int32_t id : touched)
      if (const auto [owner, fresh] = owners.try_emplace(id, node.name); !fresh)
        return Diagnostics(module.name,
                           fmt::format("operators '{}' and '{}' share state, and a device of the "
                                       "target rounds differently from the "
                                       "reference: neither can be compared alone",
                                       owner->second, node.name),
                           "verify it for a target without that device");
  }
  return std::nullopt;
}

// The node alone, its operands as inputs.
graph::Module alone(const graph::Module& module, const graph::Node& node,
                    std::vector<graph::TensorId>& operands) {
  graph::Module single = module;
  for (graph::Function& function : single.functions) {
    if (function.name != module.entry) continue;
    function.nodes = {node};
    function.outputs = node.outputs;
    function.inputs.clear();
    for (const graph::TensorId id : node.inputs) {
      if (!id.valid() || function.tensor(id).constant.valid() || function.tensor(id).variable)
        continue;
      if (std::find(function.inputs.begin(), function.inputs.end(), id) == function.inputs.end())
        function.inputs.push_back(id);
    }
    std::erase_if(function.outputs,
                  [&](graph::TensorId id) { return function.tensor(id).variable; });
    operands = function.inputs;
  }
  return single;
}

void add_output(graph::Function& function, graph::TensorId id) {
  if (std::find(function.outputs.begin(), function.outputs.end(), id) == function.outputs.end())
    function.outputs.push_back(id);
}

}  // namespace

graph::Module with_all_outputs(graph::Module module) {
  for (graph::Function& function : module.functions) {
    if (function.name != module.entry) continue;
    for (const graph::Node& node : function.nodes)
      for (const graph::TensorId id : node.outputs) add_output(function, id);
  }
  return module;
}

Result<graph::Module> with_outputs(const graph::Module& module,
                                   const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), "all") != names.end()) return with_all_outputs(module);
  graph::Module opened = module;
  Diagnostics problems;
  for (graph::Function& function : opened.functions) {
    if (function.name != opened.entry) continue;
    std::vector<std::string> known;
    for (const std::string& name : names) {
      bool found = false;
      for (const graph::Node& node : function.nodes)
        for (const graph::TensorId id : node.outputs) {
          known.push_back(node.name);
          if (node.name != name && function.tensor(id).name != name) continue;
          add_output(function, id);
          found = true;
        }
      if (found) continue;
      const std::string near = nearest_name(name, known);
      problems.add("--outputs", fmt::format("{} has no operator or tensor '{}'", module.name, name),
                   near.empty() ? "'intarsia dump MODEL --stage import' lists them"
                                : fmt::format("did you mean '{}'?", near));
    }
  }
  if (!problems.empty()) return problems;
  return opened;
}

graph::Module pinned_as(graph::Module module, const Explanation& explanation) {
  // An operator that became part of another one runs alone here, and may not be what the device takes.
  std::map<std::pair<std::string, std::string>, std::string> devices;
  for (const Explanation::Operator& row : explanation.operators)
    devices[{row.name, row.kind}] = row.device;
  for (graph::Function& function : module.functions) {
    if (function.name != module.entry) continue;
    for (graph::Node& node : function.nodes)
      if (const auto device = devices.find({node.name, std::string(graph::to_string(node.kind))});
          device != devices.end())
        node.pin = device->second;
  }
  return module;
}

std::map<std::string, int32_t> tolerances(const graph::Module& module,
                                          const Explanation& explanation,
                                          const TargetRegistry& registry,
                                          const TargetSpec& target) {
  std::map<std::string, int32_t> result;
  const graph::Function& entry = module.entry_function();
  for (const Explanation::Operator& row : explanation.operators)
    for (const Target& device : target.devices())
      for (const graph::Node& node : entry.nodes)
        if (device.name == row.device && node.name == row.name)
          result[row.name] = tolerated_steps(registry, device, entry, node);
  return result;
}

bool makes_integers_of_computed_floats(const graph::Module& module) {
  const graph::Function& entry = module.entry_function();
  const auto is_float = [&](graph::TensorId id) {
    return id.valid() && entry.tensor(id).type == DataType::Float32;
  };
  const auto has_floats = [&](const std::vector<graph::TensorId>& ids) {
    return std::ranges::any_of(ids, is_float);
  };
  bool computes = false, ends = false;
  for (const graph::Node& node : entry.nodes) {
    computes |= node.kind != graph::OpKind::Dequantize && has_floats(node.outputs);
    ends |= has_floats(node.inputs) && !std::ranges::all_of(node.outputs, is_float);
  }
  return computes && ends;
}

std::string describe_difference(const graph::Node& node, const graph::Tensor& tensor, size_t sample,
                                const graph::TensorValue& reference,
                                const graph::TensorValue& program, int32_t steps) {
  const auto difference = graph::first_difference(tensor, reference, program, steps);
  if (!difference) return "";
  return fmt::format("operator '{}' ({}), tensor '{}', sample {}, {}", node.name,
                     graph::to_string(node.kind), tensor.name, sample,
                     difference->text(tensor.shape));
}

Result<std::vector<Values>> evaluate(const graph::Module& module,
                                     const std::vector<Values>& samples) {
  graph::Evaluator evaluator(module);
  std::vector<Values> results;
  for (const Values& sample : samples) {
    INTARSIA_TRY(Values values, evaluator.run(sample));
    results.push_back(std::move(values));
  }
  return results;
}

namespace {

// Of the tensors of the entry that are known: its inputs and the results of `opened`.
std::map<int32_t, const graph::TensorValue*> known_values(const graph::Function& entry,
                                                          const Values& sample,
                                                          const Values& results) {
  std::map<int32_t, const graph::TensorValue*> values;
  for (size_t i = 0; i < entry.inputs.size(); ++i) values[entry.inputs[i].index] = &sample[i];
  for (size_t i = 0; i < entry.outputs.size(); ++i) values[entry.outputs[i].index] = &results[i];
  return values;
}

// Adds what one result of the node tells.
void compare(const graph::Node& node, const graph::Tensor& tensor, size_t sample,
             const graph::TensorValue& expected, const graph::TensorValue& actual,
             OperatorCheck::Row& row) {
  if (row.difference.empty()) {
    row.difference = describe_difference(node, tensor, sample, expected, actual, row.allowed);
    if (!row.difference.empty() && row.allowed > 0)
      row.difference +=
          fmt::format(", which is more than the {} that its device may differ by", row.allowed);
  }
  if (row.allowed > 0)
    row.largest = std::max(row.largest, graph::largest_steps(tensor, expected, actual));
}

Result<void> check_alone(const graph::Module& opened, const graph::Node& node,
                         const std::vector<Values>& samples, const std::vector<Values>& results,
                         OperatorCheck::Row& row) {
  const graph::Function& entry = opened.entry_function();
  std::vector<graph::TensorId> operands;
  const graph::Module single = alone(opened, node, operands);
  graph::Evaluator evaluator(single);
  for (size_t s = 0; s < samples.size(); ++s) {
    const auto values = known_values(entry, samples[s], results[s]);
    Values inputs;
    for (const graph::TensorId id : operands) inputs.push_back(*values.at(id.index));
    INTARSIA_TRY(const Values expected, evaluator.run(inputs));
    const std::vector<graph::TensorId>& made = single.entry_function().outputs;
    for (size_t o = 0; o < made.size(); ++o)
      compare(node, entry.tensor(made[o]), s, expected[o], *values.at(made[o].index), row);
  }
  return {};
}

void check_in_place(const graph::Module& opened, const graph::Node& node,
                    const std::vector<Values>& samples, const std::vector<Values>& expected,
                    const std::vector<Values>& results, OperatorCheck::Row& row) {
  const graph::Function& entry = opened.entry_function();
  for (size_t s = 0; s < samples.size(); ++s) {
    const auto wanted = known_values(entry, samples[s], expected[s]),
               actual = known_values(entry, samples[s], results[s]);
    for (const graph::TensorId id : node.outputs)
      if (const auto found = wanted.find(id.index); found != wanted.end())
        compare(node, entry.tensor(id), s, *found->second, *actual.at(id.index), row);
  }
}

}  // namespace

Result<OperatorCheck> check_operators(const graph::Module& opened,
                                      const std::map<std::string, int32_t>& allowed,
                                      const std::vector<Values>& samples,
                                      const std::vector<Values>& results) {
  const std::optional<Diagnostics> shared = shared_state(opened);
  const bool is_exact =
      std::all_of(allowed.begin(), allowed.end(), [](const auto& row) { return row.second == 0; });
  if (shared && !is_exact) return *shared;
  std::vector<Values> expected;
  if (shared) {
    INTARSIA_TRY(expected, evaluate(opened, samples));
  }
  OperatorCheck check;
  for (const graph::Node& node : opened.entry_function().nodes) {
    OperatorCheck::Row row{node.name};
    if (const auto found = allowed.find(node.name); found != allowed.end())
      row.allowed = found->second;
    if (shared)
      check_in_place(opened, node, samples, expected, results, row);
    else
      INTARSIA_TRY_VOID(check_alone(opened, node, samples, results, row));
    if (check.difference.empty()) check.difference = row.difference;
    check.largest = std::max(check.largest, row.largest);
    check.rows.push_back(std::move(row));
  }
  return check;
}

}  // namespace intarsia::requests
