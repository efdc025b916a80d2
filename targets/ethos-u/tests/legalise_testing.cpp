#include "legalise_testing.h"

#include <gtest/gtest.h>

#include "legalise/patterns.h"

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
  const Program program = legalise(module, module.entry_function());
  const std::vector<std::string> wrong = violations(program);
  ASSERT_TRUE(wrong.empty()) << wrong[0] << "\n" << print(program) << graph::print(module);
  const auto expected = graph::Evaluator(module).run(inputs);
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  std::vector<std::string> seen;
  const auto got = execute(program, inputs, &seen);
  EXPECT_TRUE(seen.empty()) << seen[0] << "\n" << print(program);
  EXPECT_EQ(got, *expected) << print(program) << graph::print(module);
}

}  // namespace intarsia::test::ethos_u
