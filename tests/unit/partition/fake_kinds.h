// Kinds with just enough behaviour to partition for: a CPU that takes everything, and two devices
// that take named operators at a named cost.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "intarsia/partition.h"

namespace intarsia::testing_kinds {

class FakeKind final : public TargetKind {
 public:
  FakeKind(std::string name, Role role, std::map<graph::OpKind, double> cycles, double transfer)
      : cycles_(std::move(cycles)), transfer_(transfer) {
    spec_.name = std::move(name);
    spec_.summary = "for tests";
    spec_.role = role;
    spec_.attributes = {AttributeSpec::integer("id", 0, 0, 9, "tells members apart")};
  }
  const KindSpec& spec() const override { return spec_; }
  std::vector<Pattern> patterns(const Target&) const override {
    std::vector<Pattern> patterns;
    for (const auto& [kind, cost] : cycles_)
      patterns.push_back({std::string(graph::to_string(kind)),
                          {kind, {}},
                          [limit = limit_](const PatternMatch& m) -> std::optional<std::string> {
                            if (m.output().shape.back() <= limit) return std::nullopt;
                            return "more than " + std::to_string(limit) + " channels";
                          }});
    return patterns;
  }
  CostEstimate cost(const Target&, const graph::Module&, const graph::Function&,
                    const graph::Node& node) const override {
    const auto found = cycles_.find(node.kind);
    return {found == cycles_.end() ? 0 : found->second, 1};
  }
  double transfer_microseconds(const Target&, int64_t bytes) const override {
    return transfer_ == 0 ? 0 : transfer_ + static_cast<double>(bytes) / 64;
  }
  int64_t limit_ = 1 << 30;

 private:
  KindSpec spec_;
  std::map<graph::OpKind, double> cycles_;
  double transfer_;
};

inline TargetRegistry make_registry(bool with_concat = false) {
  using graph::OpKind;
  TargetRegistry registry;
  std::map<OpKind, double> cpu = {
      {OpKind::Relu, 50}, {OpKind::Add, 40}, {OpKind::Mul, 30}, {OpKind::Softmax, 60}};
  if (with_concat) cpu[OpKind::Concat] = 20;
  registry.add(std::make_unique<FakeKind>("cpu", Role::Cpu, std::move(cpu), 0));
  auto npu = std::make_unique<FakeKind>(
      "npu", Role::Accelerator, std::map<OpKind, double>{{OpKind::Relu, 5}, {OpKind::Add, 9}}, 12);
  npu->limit_ = 16;
  registry.add(std::move(npu));
  registry.add(std::make_unique<FakeKind>(
      "gpu", Role::Device,
      std::map<OpKind, double>{{OpKind::Relu, 9}, {OpKind::Mul, 4}, {OpKind::Add, 7}}, 8));
  return registry;
}

}  // namespace intarsia::testing_kinds
