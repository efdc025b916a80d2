#include "verify_operators.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <fmt/format.h>

namespace intarsia::cli {
namespace {

bool is_8_bit(DataType type) {
  return type == DataType::Int8 || type == DataType::UInt8;
}

int32_t largest_difference(const graph::Tensor& tensor, const graph::TensorValue& a,
                           const graph::TensorValue& b) {
  const auto value = [&](uint8_t byte) {
    return tensor.type == DataType::Int8 ? static_cast<int32_t>(static_cast<int8_t>(byte))
                                         : static_cast<int32_t>(byte);
  };
  int32_t largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(value(a[i]) - value(b[i])));
  return largest;
}

// A variable of which several operators know has a history that no operator alone has.
Result<void> check_state_is_of_one(const graph::Module& module) {
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
  return {};
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

}  // namespace

graph::Module with_all_outputs(graph::Module module) {
  for (graph::Function& function : module.functions) {
    if (function.name != module.entry) continue;
    for (const graph::Node& node : function.nodes)
      for (const graph::TensorId id : node.outputs)
        if (std::find(function.outputs.begin(), function.outputs.end(), id) ==
            function.outputs.end())
          function.outputs.push_back(id);
  }
  return module;
}

graph::Module pinned_as(graph::Module module, const Explanation& explanation) {
  std::map<std::string, std::string> members;
  for (const Explanation::Operator& row : explanation.operators) members[row.name] = row.member;
  for (graph::Function& function : module.functions) {
    if (function.name != module.entry) continue;
    for (graph::Node& node : function.nodes)
      if (const auto member = members.find(node.name); member != members.end())
        node.pin = member->second;
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
    for (const Target& member : target.members())
      for (const graph::Node& node : entry.nodes)
        if (member.name == row.member && node.name == row.name)
          result[row.name] = registry.kind_of(member).tolerance(member, node);
  return result;
}

// The floating-point helpers of a C library and of a host differ in the last bits.
bool agree(const graph::Tensor& tensor, const graph::TensorValue& reference,
           const graph::TensorValue& program, int32_t tolerance) {
  if (reference.size() != program.size()) return false;
  if (tolerance > 0 && is_8_bit(tensor.type))
    return largest_difference(tensor, reference, program) <= tolerance;
  if (tensor.type != DataType::Float32) return reference == program;
  for (size_t i = 0; i + 4 <= reference.size(); i += 4) {
    float x, y;
    std::memcpy(&x, &reference[i], 4);
    std::memcpy(&y, &program[i], 4);
    if (!(std::abs(x - y) <= 4e-5f * std::max(1.0f, std::abs(x)))) return false;
  }
  return true;
}

std::string describe_difference(const graph::Node& node, const graph::Tensor& tensor, size_t sample,
                                const graph::TensorValue& reference,
                                const graph::TensorValue& program) {
  const auto at = std::mismatch(reference.begin(), reference.end(), program.begin());
  return fmt::format(
      "operator '{}' ({}), tensor '{}', sample {}, byte {}: reference {:#04x}, program {:#04x}",
      node.name, graph::to_string(node.kind), tensor.name, sample, at.first - reference.begin(),
      *at.first, *at.second);
}

Result<OperatorCheck> check_operators(const graph::Module& opened,
                                      const std::map<std::string, int32_t>& allowed,
                                      const std::vector<Values>& samples,
                                      const std::vector<Values>& results) {
  INTARSIA_TRY_VOID(check_state_is_of_one(opened));
  const graph::Function& entry = opened.entry_function();
  OperatorCheck check;
  for (const graph::Node& node : entry.nodes) {
    const auto found = allowed.find(node.name);
    const int32_t tolerance = found != allowed.end() ? found->second : 0;
    std::vector<graph::TensorId> operands;
    const graph::Module single = alone(opened, node, operands);
    for (size_t s = 0; s < samples.size(); ++s) {
      std::map<int32_t, const graph::TensorValue*> values;
      for (size_t i = 0; i < entry.inputs.size(); ++i)
        values[entry.inputs[i].index] = &samples[s][i];
      for (size_t i = 0; i < entry.outputs.size(); ++i)
        values[entry.outputs[i].index] = &results[s][i];
      Values inputs;
      for (const graph::TensorId id : operands) inputs.push_back(*values.at(id.index));
      graph::Evaluator evaluator(single);
      INTARSIA_TRY(const Values expected, evaluator.run(inputs));
      const std::vector<graph::TensorId>& made = single.entry_function().outputs;
      for (size_t o = 0; o < made.size(); ++o) {
        const graph::Tensor& tensor = entry.tensor(made[o]);
        const graph::TensorValue& actual = *values.at(made[o].index);
        if (!agree(tensor, expected[o], actual, tolerance)) {
          check.difference = describe_difference(node, tensor, s, expected[o], actual);
          if (tolerance > 0)
            check.difference +=
                fmt::format(", which is more than the {} that its device may differ by", tolerance);
          return check;
        }
        if (tolerance > 0 && is_8_bit(tensor.type))
          check.largest = std::max(check.largest, largest_difference(tensor, expected[o], actual));
      }
    }
  }
  return check;
}

}  // namespace intarsia::cli
