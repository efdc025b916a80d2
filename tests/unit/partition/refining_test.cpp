// A kind that refines another keeps what it does not answer itself.
#include <gtest/gtest.h>

#include "intarsia/target_kind.h"

namespace intarsia {
namespace {

class BaseKind final : public TargetKind {
 public:
  BaseKind() {
    spec_.name = "base", spec_.role = Role::Cpu;
    spec_.attributes = {AttributeSpec::boolean("better", false, "refined")};
  }
  const KindSpec& spec() const override { return spec_; }
  std::vector<Pattern> patterns(const Target&) const override {
    return {{"relu", {graph::OpKind::Relu, {}}, nullptr}};
  }
  CostEstimate cost(const Target&, const graph::Module&, const graph::Function&,
                    const graph::Node&) const override {
    return {7, 3};
  }
  std::vector<std::string> notes(const Target&, const graph::Module&,
                                 const graph::Function&) const override {
    return {"noted"};
  }
  int32_t tolerance(const Target&, const graph::Node&) const override { return 5; }
  double transfer_microseconds(const Target&, int64_t bytes) const override {
    return static_cast<double>(bytes);
  }
  std::vector<MemoryPool> memories(const Target&, const LoweringOptions&) const override {
    return std::vector<MemoryPool>(2);
  }
  std::string memory_master(const Target&) const override { return "master"; }
  std::optional<Result<std::string>> disassemble(std::span<const uint8_t>) const override {
    return Result<std::string>("text");
  }
  RuntimePart runtime(const Target&) const override { return {.folder = "base"}; }
  SimulatorPart simulator(const Target&) const override { return {.header = "base.h"}; }

 private:
  KindSpec spec_;
};

class BetterKind final : public RefiningKind {
 public:
  using RefiningKind::RefiningKind;
  bool refines(const Target& target) const override {
    return *target.attributes.find("better") == AttributeValue(true);
  }
  int32_t tolerance(const Target& target, const graph::Node& node) const override {
    return base().tolerance(target, node) - 1;
  }
};

std::unique_ptr<RefiningKind> make_better(const TargetKind& base) {
  return std::make_unique<BetterKind>(base);
}

Target parsed(const TargetRegistry& registry, const std::string& text) {
  const Result<TargetSpec> spec = parse_target(registry.catalogue(), text);
  INTARSIA_CHECK(spec.ok(), text);
  return spec->host();
}

TEST(RefiningKind, AsksItsBaseWhatItDoesNotAnswer) {
  TargetRegistry registry;
  registry.add(std::make_unique<BaseKind>());
  registry.refine("base", make_better);
  const Target plain = parsed(registry, "base"), target = parsed(registry, "base -better=true");
  EXPECT_EQ(&registry.kind_of(plain), &registry.kind("base"));
  const TargetKind& better = registry.kind_of(target);
  ASSERT_NE(&better, &registry.kind("base"));
  const graph::Module module;
  const graph::Function function;
  const graph::Node node;
  EXPECT_EQ(better.tolerance(target, node), 4);
  EXPECT_EQ(&better.spec(), &registry.kind("base").spec());
  EXPECT_EQ(better.patterns(target).size(), 1u);
  EXPECT_EQ(better.cost(target, module, function, node).cycles, 7);
  EXPECT_EQ(better.cost(target, module, function, node).clock_mhz, 3);
  EXPECT_EQ(better.notes(target, module, function).size(), 1u);
  EXPECT_EQ(better.transfer_microseconds(target, 9), 9);
  EXPECT_EQ(better.memories(target, {}).size(), 2u);
  EXPECT_EQ(better.memory_master(target), "master");
  EXPECT_TRUE(better.disassemble({}).has_value());
  EXPECT_EQ(better.runtime(target).folder, "base");
  EXPECT_EQ(better.simulator(target).header, "base.h");
}

TEST(RefiningKind, MayBeMadeKnownBeforeItsBase) {
  TargetRegistry registry;
  registry.refine("base", make_better);
  registry.add(std::make_unique<BaseKind>());
  const Target target = parsed(registry, "base -better=true");
  EXPECT_NE(&registry.kind_of(target), &registry.kind("base"));
}

TEST(RefiningKind, IsNotMadeWithoutItsBase) {
  TargetRegistry registry;
  bool made = false;
  registry.refine("another", [&](const TargetKind& base) {
    made = true;
    return std::make_unique<BetterKind>(base);
  });
  registry.add(std::make_unique<BaseKind>());
  EXPECT_FALSE(made);
}

}  // namespace
}  // namespace intarsia
