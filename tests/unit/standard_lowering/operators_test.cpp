// Every operator in every type: random modules are lowered, proven in bounds, and give what the
// evaluator gives.
#include "lowering_testing.h"
#include "support/rounds.h"

namespace intarsia::testing {

namespace {

class Operators : public ::testing::TestWithParam<Case> {};

TEST_P(Operators, EqualTheEvaluator) {
  const auto last = static_cast<uint32_t>(rounds(500));
  for (uint32_t seed = 1; seed <= last; ++seed) {
    Random random(seed);
    const graph::Module module = lowerable_operator(random, GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph::print(module));
    const Result<tir::LoweredFunction> lowered =
        standard_graph_to_tir(module, module.entry_function());
    ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();

    tir::Module whole = lowered->module;
    whole.entry = lowered->entry;
    const Result<void> verified = tir::verify(whole);
    ASSERT_TRUE(verified.ok()) << verified.error().to_string();

    const Values inputs = random_inputs(random, module);
    const Values expected = evaluate(module, inputs);
    const Values actual = interpret(*lowered, inputs);
    ASSERT_EQ(actual.size(), expected.size());
    const graph::Function& function = module.entry_function();
    for (size_t i = 0; i < actual.size(); ++i) {
      const DataType type = function.tensor(function.outputs[i]).type;
      ASSERT_TRUE(same_values(type, actual[i], expected[i]));
    }
  }
}

TEST_P(Operators, AreDescribed) {
  Random random(1);
  const graph::Module module = lowerable_operator(random, GetParam());
  const auto lowered = standard_graph_to_tir(module, module.entry_function());
  ASSERT_TRUE(lowered.ok());
  const graph::Node& node = module.entry_function().nodes[0];
  const tir::Func& kernel = lowered->module.funcs[0];
  EXPECT_NE(kernel.origin.find(to_string(node.kind) == "reshape" ? "copy" : to_string(node.kind)),
            std::string::npos)
      << kernel.origin;
  EXPECT_EQ(kernel.macs, graph::mac_count(module.entry_function(), node));
  // A module that is one reshape copies its input: no operator of the model.
  EXPECT_EQ(kernel.node, node.kind == graph::OpKind::Reshape ? "" : node.name);
}

INSTANTIATE_TEST_SUITE_P(Standard, Operators, ::testing::ValuesIn(supported_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Many, Operators, ::testing::ValuesIn(cases_of_many_results()), case_name);

}  // namespace

}  // namespace intarsia::testing
