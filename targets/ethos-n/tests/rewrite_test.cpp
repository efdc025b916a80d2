// What an operator is rewritten into computes what it computes: bit for bit in the reference evaluator, averages and
// sums within 1, since they are rounded in another direction or at another place.
#include <algorithm>

#include <gtest/gtest.h>

#include "legalise/rewrite.h"
#include "support/random_operator.h"

namespace intarsia::targets::ethos_n {
namespace {

using graph::OpKind;
using intarsia::testing::Random;

struct Kind {
  OpKind kind;
  int tolerance;
};
void PrintTo(const Kind& kind, std::ostream* out) {
  *out << graph::to_string(kind.kind);
}

class Rewritten : public ::testing::TestWithParam<Kind> {};

TEST_P(Rewritten, ComputesTheSame) {
  Random random(static_cast<uint32_t>(GetParam().kind) + 400);
  int rewritten = 0;
  for (int i = 0; i < 400; ++i) {
    const graph::Module module =
        intarsia::testing::random_operator(random, GetParam().kind, DataType::Int8);
    const graph::Function& function = module.entry_function();
    const graph::Node& node = function.nodes.at(0);
    const auto inputs = intarsia::testing::random_inputs(random, module);
    const auto expected = graph::Evaluator(module).run(inputs);
    ASSERT_TRUE(expected.ok());
    for (const Way& way : ways_to_rewrite(module, function, node)) {
      const std::optional<Rewriting> made = way();
      if (!made) continue;
      ++rewritten;
      const auto told = [&] { return graph::print(module) + "as\n" + graph::print(made->module); };
      const Result<void> good = graph::verify(made->module);
      ASSERT_TRUE(good.ok()) << good.error().to_string() << told();
      std::vector<graph::TensorValue> operands;
      for (const graph::TensorId id : made->operands)
        operands.push_back(inputs.at(
            static_cast<size_t>(std::find(function.inputs.begin(), function.inputs.end(), id) -
                                function.inputs.begin())));
      const auto values = graph::Evaluator(made->module).run(operands);
      ASSERT_TRUE(values.ok()) << values.error().to_string() << told();
      ASSERT_EQ(values->size(), expected->size());
      for (size_t o = 0; o < values->size(); ++o) {
        ASSERT_EQ((*values)[o].size(), (*expected)[o].size()) << told();
        for (size_t k = 0; k < (*values)[o].size(); ++k)
          ASSERT_LE(std::abs(static_cast<int8_t>((*values)[o][k]) -
                             static_cast<int8_t>((*expected)[o][k])),
                    GetParam().tolerance)
              << "element " << k << told();
      }
    }
  }
  EXPECT_GT(rewritten, 50);
}

INSTANTIATE_TEST_SUITE_P(
    All, Rewritten,
    ::testing::Values(Kind{OpKind::Conv2d, 0}, Kind{OpKind::DepthwiseConv2d, 0},
                      Kind{OpKind::TransposeConv2d, 0}, Kind{OpKind::FullyConnected, 0},
                      Kind{OpKind::AveragePool2d, 1}, Kind{OpKind::Mean, 1}, Kind{OpKind::Relu, 0},
                      Kind{OpKind::LeakyRelu, 0}, Kind{OpKind::MaxPool2d, 0}, Kind{OpKind::Add, 1},
                      Kind{OpKind::Sub, 1}, Kind{OpKind::Mul, 1}, Kind{OpKind::Concat, 0},
                      Kind{OpKind::Pack, 0}, Kind{OpKind::Split, 0}, Kind{OpKind::Unpack, 0},
                      Kind{OpKind::Slice, 0}, Kind{OpKind::Transpose, 0},
                      Kind{OpKind::SpaceToDepth, 0}, Kind{OpKind::DepthToSpace, 0}),
    [](const auto& info) { return std::string(graph::to_string(info.param.kind)); });

}  // namespace
}  // namespace intarsia::targets::ethos_n
