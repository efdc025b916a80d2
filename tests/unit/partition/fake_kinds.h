// Kinds with just enough behaviour to partition for: a CPU that takes everything, and two devices
// that take named operators at a named cost.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "intarsia/partition.h"

namespace intarsia::testing_kinds {

constexpr int64_t kAnyChannels = 1 << 30;

// It takes the operators that have a cost here, of at most so many channels.
inline TargetKind fake_kind(std::string name, Role role,
                            const std::map<graph::OpKind, double>& cycles, double transfer,
                            int64_t most_channels = kAnyChannels) {
  TargetKind kind;
  kind.spec.name = std::move(name);
  kind.spec.summary = "for tests";
  kind.spec.role = role;
  kind.spec.attributes = {AttributeSpec::integer("id", 0, 0, 9, "tells devices apart")};
  kind.patterns = [cycles, most_channels](const Target&) {
    std::vector<Pattern> patterns;
    for (const auto& [op, cost] : cycles)
      patterns.push_back({std::string(graph::to_string(op)),
                          {op, {}},
                          [most_channels](const PatternMatch& m) -> std::optional<std::string> {
                            if (m.output().shape.back() <= most_channels) return std::nullopt;
                            return "more than " + std::to_string(most_channels) + " channels";
                          }});
    return patterns;
  };
  kind.cost = sum_of_operators([cycles](const Target&, const graph::Module&, const graph::Function&,
                                        const graph::Node& node) -> CostEstimate {
    const auto found = cycles.find(node.kind);
    return {found == cycles.end() ? 0 : found->second, 1};
  });
  kind.transfer_microseconds = [transfer](const Target&, int64_t bytes) {
    return transfer == 0 ? 0 : transfer + static_cast<double>(bytes) / 64;
  };
  return kind;
}

inline TargetRegistry make_registry(bool with_concat = false) {
  using graph::OpKind;
  TargetRegistry registry;
  std::map<OpKind, double> cpu = {
      {OpKind::Relu, 50}, {OpKind::Add, 40}, {OpKind::Mul, 30}, {OpKind::Softmax, 60}};
  if (with_concat) cpu[OpKind::Concat] = 20;
  registry.add(fake_kind("cpu", Role::Cpu, cpu, 0));
  registry.add(fake_kind("npu", Role::Accelerator, {{OpKind::Relu, 5}, {OpKind::Add, 9}}, 12, 16));
  registry.add(
      fake_kind("gpu", Role::Device, {{OpKind::Relu, 9}, {OpKind::Mul, 4}, {OpKind::Add, 7}}, 8));
  return registry;
}

}  // namespace intarsia::testing_kinds
