// A target is asked once whether it takes a match: an answer may be expensive, and two may differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"

namespace intarsia {
namespace {

constexpr const char* kBranches = R"(intarsia.graph branches
const @0 bias = i32[7, 9, -3, 4]
const @1 weights = x"0102030405060708090a0b0c0d0e0f10"
func @main(%0) -> (%6, %8) {
  %0 x: i8[1,4,4,4] q(0.5:0)
  %1 weights: i8[4,1,1,4] q(0.25) = @1
  %2 bias: i32[4] q(0.125) = @0
  %3 y: i8[1,4,4,4] q(0.5:1)
  %4 z: i8[1,4,4,4] q(0.5:1)
  %5 sum: i8[1,4,4,4] q(0.5:-3)
  %6 rectified: i8[1,4,4,4] q(0.5:-128)
  %7 pooled: i8[1,2,2,4] q(0.5:-3)
  %8 scores: i8[1,2,2,4] q(0.00390625:-128)
  conv2d first(%0, %1, %2) -> (%3)
  conv2d second(%3, %1, %2) -> (%4)
  add together(%3, %4) -> (%5)
  relu bend(%5) -> (%6)
  max_pool2d pool(%5) -> (%7) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
  softmax chance(%7) -> (%8) {beta=1}
}
entry @main
)";

using Counts = std::map<std::string, int>;

// The kinds of this build, which count in `asked` how often a pattern of theirs is asked about the same operators.
// Default services refer to the kind they were made for, so `all` has to stay.
TargetRegistry counting_registry(const TargetRegistry& all, Counts& asked) {
  TargetRegistry counting;
  for (const std::unique_ptr<TargetKind>& each : all.kinds()) {
    TargetKind kind = *each;
    kind.patterns = [&asked, made = kind.patterns](const Target& target) {
      std::vector<Pattern> patterns = made(target);
      for (Pattern& pattern : patterns)
        pattern.refuses = [&asked, device = target.name, name = pattern.name,
                           refuses = pattern.refuses](const PatternMatch& match) {
          std::string key = device + " " + name;
          for (size_t i = 0; i < match.nodes.size(); ++i) key += " " + match.node(i).name;
          ++asked[key];
          return refuses ? refuses(match) : std::nullopt;
        };
      return patterns;
    };
    counting.add(std::move(kind));
  }
  return counting;
}

class Legality : public testing::TestWithParam<const char*> {};

TEST_P(Legality, IsAskedOncePerMatch) {
  for (const PartitionPolicy policy : {PartitionPolicy::Priority, PartitionPolicy::Cost}) {
    Counts asked;
    TargetRegistry all;
    add_builtin_targets(all);
    const TargetRegistry registry = counting_registry(all, asked);
    const Result<TargetSpec> target = parse_target(registry.catalogue(), GetParam());
    ASSERT_TRUE(target.ok()) << target.error().to_string();
    CompileOptions options;
    options.memory.pools = {{"ram", 0}};
    options.package.resource_root = INTARSIA_SOURCE_DIR;
    options.partition.policy = policy;
    const Result<CompiledModel> model = run_pipeline(imported_model(*graph::parse(kBranches)),
                                                     registry, *target, options, Stage::Package);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    for (const Target& device : target->devices())
      EXPECT_TRUE(std::any_of(
          asked.begin(), asked.end(),
          [&](const auto& entry) { return entry.first.starts_with(device.name + " "); }))
          << device.name << " was not asked";
    for (const auto& [match, times] : asked) EXPECT_EQ(times, 1) << match;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Legality,
                         testing::Values("c", "cortex-m55+ethos-u55-128", "c+ethosn", "c+opencl",
                                         "a: cortex-m7; b: cortex-m4"),
                         [](const auto& info) { return "Target" + std::to_string(info.index); });

}  // namespace
}  // namespace intarsia
