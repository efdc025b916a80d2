// The operator of docs/adding-an-operator.md, which this program has and the compiler has not: three files that the page
// changes are all that it takes to read it from a model, to compute it, and to write it as C.
#include "unit/standard_lowering/lowering_testing.h"

#include <algorithm>
#include <cmath>

#include "intarsia/plugin/op_families.h"
#include "unit/import/onnx_model.h"

namespace intarsia::testing {
namespace {

graph::OpKind sign() {
  const auto kind = graph::op_kind_from_string("sign");
  EXPECT_TRUE(kind.has_value());
  return kind.value_or(graph::OpKind::Neg);
}

float sign_of(float x) {
  return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f;
}

TEST(NewOperator, IsAmongThoseThatRandomTestsDraw) {
  std::vector<DataType> types;
  for (const Case& c : supported_cases())
    if (c.kind == sign()) types.push_back(c.type);
  EXPECT_EQ(types, (std::vector{DataType::Int8, DataType::Float32}));
  EXPECT_TRUE(graph::is_elementwise_unary(sign()));
}

TEST(NewOperator, ComputesWhatItsNameSaysInTheEvaluatorAndInC) {
  for (const DataType type : {DataType::Int8, DataType::Float32})
    for (uint32_t seed = 1; seed <= 200; ++seed) {
      Random random(seed);
      const graph::Module module = lowerable_operator(random, {sign(), type});
      SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph::print(module));
      const auto lowered = standard_graph_to_tir(module, module.entry_function());
      ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
      const Values inputs = random_inputs(random, module);
      const Values expected = evaluate(module, inputs), actual = interpret(*lowered, inputs);
      ASSERT_EQ(actual.size(), 1u);
      EXPECT_EQ(actual[0], expected[0]);
      if (type != DataType::Float32) continue;
      for (size_t at = 0; at < inputs[0].size(); at += sizeof(float)) {
        float x = 0, y = 0;
        std::memcpy(&x, &inputs[0][at], sizeof x), std::memcpy(&y, &actual[0][at], sizeof y);
        EXPECT_EQ(y, sign_of(x)) << x;
      }
    }
}

TEST(NewOperator, RefusesTypesThatItsRowDoesNotList) {
  Random random(1);
  graph::Module module = random_operator(random, sign(), DataType::Float32);
  for (graph::Tensor& tensor : module.functions[0].tensors) tensor.type = DataType::Int64;
  const auto verified = graph::verify(module);
  ASSERT_FALSE(verified.ok());
  const std::string text = verified.error().to_string();
  EXPECT_NE(text.find("it takes i8 -> i8 | f32 -> f32"), std::string::npos) << text;
}

TEST(NewOperator, IsReadFromOnnxFiles) {
  onnx_models::Model signs;
  signs.input("x", {1, 4}).output("y");
  signs.node("Sign", {"x"}, {"y"});
  const auto module = signs.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->entry_function().nodes.size(), 1u);
  EXPECT_EQ(module->entry_function().nodes[0].kind, sign());
}

}  // namespace
}  // namespace intarsia::testing
