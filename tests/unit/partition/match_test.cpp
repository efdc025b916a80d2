#include <gtest/gtest.h>

#include "intarsia/plugin/pattern.h"

namespace intarsia {
namespace {

using graph::NodeId;
using graph::OpKind;

graph::Module pad_and_add(bool pad_read_twice) {
  const std::string second = pad_read_twice ? "%1" : "%0";
  return *graph::parse(R"(intarsia.graph m
func @main(%0) -> (%3) {
  %0 in: i8[1,4] q(0.5)
  %1 p: i8[1,4] q(0.5)
  %2 r: i8[1,4] q(0.5)
  %3 s: i8[1,4] q(0.5)
  relu p(%0) -> (%1)
  relu r()" + second + R"() -> (%2)
  add s(%1, %2) -> (%3)
}
entry @main
)");
}

const Pattern kAddOfRelu{"relu+add", {OpKind::Add, {PatternOp{OpKind::Relu, {}}}}, nullptr};

TEST(Match, FindsTheOperatorBelow) {
  const graph::Module module = pad_and_add(false);
  const auto found = match(kAddOfRelu, module, module.functions[0], NodeId{2});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->nodes, (std::vector<NodeId>{NodeId{2}, NodeId{0}}));
  EXPECT_FALSE(match(kAddOfRelu, module, module.functions[0], NodeId{0}).has_value());
}

TEST(Match, AnInnerResultThatOthersReadIsNotSwallowed) {
  const graph::Module module = pad_and_add(true);
  EXPECT_FALSE(match(kAddOfRelu, module, module.functions[0], NodeId{2}).has_value());
}

TEST(Match, AnInnerResultThatIsAnOutputIsNotSwallowed) {
  graph::Module module = pad_and_add(false);
  module.functions[0].outputs.push_back(graph::TensorId{1});
  EXPECT_FALSE(match(kAddOfRelu, module, module.functions[0], NodeId{2}).has_value());
}

}  // namespace
}  // namespace intarsia
