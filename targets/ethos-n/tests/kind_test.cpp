// How the kind presents itself, and what it says of the operators it leaves to the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace intarsia::test::ethos_n
