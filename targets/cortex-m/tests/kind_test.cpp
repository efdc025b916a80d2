// Which targets are refined, and how.
#include <gtest/gtest.h>

#include "intarsia/builtin_targets.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}
namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

class Refinement : public ::testing::Test {
 protected:
  Refinement() {
    targets::c::add_kinds(registry_);
    targets::cortex_m::add_kinds(registry_);
  }
  bool refined(const std::string& text) {
    const Result<TargetSpec> target = parse_target(registry_.catalogue(), text);
    INTARSIA_CHECK(target.ok(), text);
    return &registry_.kind_of(target->host()) != &registry_.kind("c");
  }
  TargetRegistry registry_;
};

TEST_F(Refinement, TakesCoresByAnySpelling) {
  EXPECT_TRUE(refined("cortex-m4"));
  EXPECT_TRUE(refined("c -mcpu=cortex-m7"));
  EXPECT_TRUE(refined("cortex-m55"));
  EXPECT_TRUE(refined(R"({"kind":"c","mcpu":"cortex-m0"})"));
}

TEST_F(Refinement, LeavesOtherMachinesToPlainC) {
  EXPECT_FALSE(refined("c"));
}

TEST_F(Refinement, CanBeTurnedOff) {
  EXPECT_FALSE(refined("c -mcpu=cortex-m4 -kernels=portable"));
}

}  // namespace
}  // namespace intarsia::test::cortex_m
