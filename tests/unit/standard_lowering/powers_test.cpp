// Powers by a constant of few factors are products.
#include <fmt/format.h>

#include "lowering_testing.h"

namespace intarsia::testing {

namespace {

graph::Module power(const std::string& exponents, size_t count) {
  const std::string text = fmt::format(R"(intarsia.graph power
const @0 exponents = f32[{}]
func @main(%0) -> (%2) {{
  %0 x: f32[2,4]
  %1 e: f32[{}] = @0
  %2 y: f32[2,4]
  pow p(%0, %1) -> (%2)
}}
entry @main
)",
                                       exponents, count);
  Result<graph::Module> module = graph::parse(text);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().to_string());
  return *module;
}

TEST(Powers, OfFewFactorsAreProducts) {
  struct Exponent {
    const char* values;
    size_t count;
    bool is_product;
  };
  for (const Exponent& e :
       {Exponent{"2", 1, true}, Exponent{"3", 1, true}, Exponent{"4", 1, true},
        Exponent{"3, 3, 3, 3", 4, true}, Exponent{"2, 2, 3, 2", 4, false}, Exponent{"5", 1, false},
        Exponent{"1", 1, false}, Exponent{"2.5", 1, false}, Exponent{"-2", 1, false}}) {
    SCOPED_TRACE(e.values);
    const graph::Module module = power(e.values, e.count);
    const auto lowered = standard_graph_to_tir(module, module.entry_function());
    ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
    tir::Module whole = lowered->module;
    whole.entry = lowered->entry;
    ASSERT_TRUE(tir::verify(whole).ok());
    EXPECT_EQ(tir::print(whole).find("intarsia_pow_f32") == std::string::npos, e.is_product);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> x = {0.0f, -0.0f, 1.5f, -2.25f, kInfinity, -kInfinity, -1e-3f, 3e4f};
    graph::TensorValue input(x.size() * sizeof(float));
    std::memcpy(input.data(), x.data(), input.size());
    const Values expected = evaluate(module, {input}), actual = interpret(*lowered, {input});
    EXPECT_TRUE(same_values(DataType::Float32, actual[0], expected[0]));
  }
}

// Steps of the result that are smaller than those of squares, with a zero point that 32 bits might not hold beside them.
TEST(Powers, SquaredDifferencesInSmallSteps) {
  for (const char* type : {"i8", "i16"})
    for (const char* scale : {"3e-6", "0.0009", "0.004", "1e-9"}) {
      SCOPED_TRACE(fmt::format("{} {}", type, scale));
      const int zero = std::string_view(type) == "i8" ? 100 : 0;
      const Result<graph::Module> module = graph::parse(fmt::format(R"(intarsia.graph squares
func @main(%0, %1) -> (%2) {{
  %0 x: {0}[16,256] q(0.03:0)
  %1 x: {0}[16,1] q(0.02:0)
  %2 y: {0}[16,256] q({1}:{2})
  squared_difference n0(%0, %1) -> (%2)
}}
entry @main
)",
                                                                    type, scale, zero));
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      const auto lowered = standard_graph_to_tir(*module, module->entry_function());
      ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
      Random random(3);
      const Values inputs = random_inputs(random, *module);
      const Values expected = evaluate(*module, inputs), actual = interpret(*lowered, inputs);
      EXPECT_EQ(actual, expected);
    }
}

}  // namespace

}  // namespace intarsia::testing
