// The same questions as legalise_testing.cpp answers, asked of the whole compiler and the
// simulator.
#include <gtest/gtest.h>

#include "compiled.h"
#include "compiler/patterns.h"
#include "legalise_testing.h"

namespace intarsia::test::ethos_u {

std::string refusal(const graph::Module& module, const graph::Function& function,
                    const graph::Node& node) {
  const graph::NodeId id{static_cast<int32_t>(&node - function.nodes.data())};
  for (const Pattern& pattern : targets::ethos_u::patterns())
    if (const auto found = match(pattern, module, function, id))
      return pattern.refuses(*found).value_or("");
  return "no pattern";
}

void expect_same(const graph::Module& module, const std::vector<graph::TensorValue>& inputs) {
  static uint32_t turn = 0;  // all configurations in turn
  constexpr const char* kTargets[] = {"ethos-u55-128", "ethos-u65-512", "ethos-u55-32",
                                      "ethos-u55-256", "ethos-u55-64",  "ethos-u65-256"};
  const std::string text = graph::print(module);
  const std::string target = kTargets[turn++ % std::size(kTargets)];
  SCOPED_TRACE(target);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, {.target = target});
  ASSERT_TRUE(model.ok()) << model.error().to_string() << "\n" << text;
  const SimulatedRun run = simulate(*model, inputs);
  ASSERT_EQ(run.problem, "") << text;
  const auto expected = graph::Evaluator(module).run(inputs);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(run.outputs, *expected)
      << text << print(targets::ethos_u::legalise(module, module.entry_function()));
}

}  // namespace intarsia::test::ethos_u
