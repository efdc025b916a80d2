// How the kind presents itself, and what it says of the operators it leaves to the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/cut_out.h"
#include "intarsia/partition.h"
#include "kinds.h"

namespace intarsia::test::ethos_n {
namespace {

using testing::HasSubstr;

std::string parsed(const std::string& text) {
  return printed_target(make_registry(), text);
}

TEST(Kind, EveryTagIsAReadyComposite) {
  EXPECT_TRUE(make_registry().catalogue().check_tags().ok());
  EXPECT_EQ(parsed("ethos-n78-4tops-4ple"), "c + ethosn");
  for (const char* variant : {"1tops-4ple", "4tops-2ple", "8tops-2ple"})
    EXPECT_EQ(parsed(std::string("ethos-n78-") + variant),
              std::string("c + ethosn -variant=") + variant);
}

TEST(Kind, SaysWhichVariantsHaveKernels) {
  for (const char* variant : {"1tops-2ple", "2tops-2ple", "2tops-4ple"})
    EXPECT_THAT(
        parsed(std::string("c + ethosn -variant=") + variant),
        HasSubstr("no PLE kernels exist for the Ethos-N78 variant " + std::string(variant) +
                  "; write -variant=1tops-4ple or -variant=4tops-2ple or -variant=4tops-4ple or "
                  "-variant=8tops-2ple"));
  EXPECT_THAT(parsed("c + ethosn -variant=16tops"), HasSubstr("16tops"));
  EXPECT_THAT(
      parsed("ethos-n78-2tops-2ple"),
      HasSubstr("no PLE kernels exist for this Ethos-N78 variant; write ethos-n78-1tops-4ple or "
                "ethos-n78-4tops-2ple or ethos-n78-4tops-4ple or ethos-n78-8tops-2ple"));
}

// Layers read feature maps: a constant operand takes a rewrite.
TEST(Kind, TakesConstantOperandsInOtherOperators) {
  const Result<graph::Module> module = graph::parse(R"(intarsia.graph m
const @0 values = i8[1, 2, 3, 4]
func @main(%0) -> (%2) {
  %0 in: i8[1,1,1,4] q(0.5)
  %1 values: i8[1,1,1,4] q(0.5) = @0
  %2 out: i8[1,1,1,4] q(0.5)
  add sum(%1, %0) -> (%2) {}
}
entry @main
)");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const TargetRegistry registry = make_registry();
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "ethos-n78-4tops-4ple");
  ASSERT_TRUE(target.ok());
  const Result<Partitioned> partitioned = partition(*module, registry, *target);
  ASSERT_TRUE(partitioned.ok()) << partitioned.error().to_string();
  const Offer& npu = partitioned->explanation.operators.at(0).offers.at(1);
  EXPECT_THAT(npu.note, HasSubstr("as it is, operand 0 is a constant"));
}

// Operators that run together cost less than each by itself: what is between them stays in SRAM.
TEST(Kind, OperatorsTogetherCostLess) {
  const Result<graph::Module> module = graph::parse(R"(intarsia.graph m
func @main(%0) -> (%3) {
  %0 in: i8[1,64,64,32] q(0.5)
  %1 one: i8[1,32,32,32] q(0.5)
  %2 two: i8[1,16,16,32] q(0.5)
  %3 out: i8[1,8,8,32] q(0.5)
  max_pool2d first(%0) -> (%1) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
  max_pool2d second(%1) -> (%2) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
  max_pool2d third(%2) -> (%3) {filter_h=2, filter_w=2, stride_h=2, stride_w=2}
}
entry @main
)");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const TargetRegistry registry = make_registry();
  for (const std::string& text :
       {std::string("ethos-n78-4tops-4ple"), std::string("ethos-n78-1tops-4ple")}) {
    const Result<TargetSpec> spec = parse_target(registry.catalogue(), text);
    ASSERT_TRUE(spec.ok()) << spec.error().to_string();
    const Target& npu = spec->beside_host()[0];
    const graph::Function& function = module->entry_function();
    const graph::FunctionCutter cutter(function);
    const auto cycles = [&](const graph::Function& asked) {
      return registry.kind_of(npu).cost(npu, *module, asked, {}).cycles;
    };
    double apart = 0;
    for (int32_t n = 0; n < 3; ++n) {
      const graph::NodeId node{n};
      const double alone = cycles(cutter.cut({&node, 1}).function);
      EXPECT_GT(alone, 0) << text;
      apart += alone;
    }
    // What computes longer than it transfers saves nothing where it transfers less.
    EXPECT_LE(cycles(function), apart) << text;
    if (text == "ethos-n78-4tops-4ple") {
      EXPECT_LT(cycles(function), apart);
    }
    EXPECT_GT(cycles(function), apart / 3) << text;
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_n
