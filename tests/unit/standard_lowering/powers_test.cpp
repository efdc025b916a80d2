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

}  // namespace

}  // namespace intarsia::testing
