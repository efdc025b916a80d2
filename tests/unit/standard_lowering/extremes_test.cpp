// The largest and the smallest of floats among which some are no numbers.
#include <limits>

#include <fmt/format.h>

#include "lowering_testing.h"

namespace intarsia::testing {

namespace {

TEST(Extremes, LeaveOutWhatIsNoNumber) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {kNaN, 2.0f, -1.0f, 3.0f, kNaN, -4.0f,
                                5.0f, kNaN, kNaN,  kNaN, kNaN, kNaN};
  graph::TensorValue input(x.size() * sizeof(float));
  std::memcpy(input.data(), x.data(), input.size());
  for (const char* kind : {"reduce_max", "reduce_min"}) {
    SCOPED_TRACE(kind);
    const Result<graph::Module> module = graph::parse(fmt::format(R"(intarsia.graph extreme
func @main(%0) -> (%1) {{
  %0 x: f32[3,4]
  %1 y: f32[3]
  {} r(%0) -> (%1) {{axes=[1]}}
}}
entry @main
)",
                                                                  kind));
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const auto lowered = standard_graph_to_tir(*module, module->entry_function());
    ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
    const Values expected = evaluate(*module, {input}), actual = interpret(*lowered, {input});
    EXPECT_TRUE(same_values(DataType::Float32, actual[0], expected[0]));
  }
}

// One byte, and no float.
TEST(Extremes, TruthIsPaddedWithTruth) {
  for (const char* value : {"01", "00"}) {
    SCOPED_TRACE(value);
    const Result<graph::Module> module = graph::parse(fmt::format(R"(intarsia.graph padded
const @0 value = x"{}"
func @main(%0) -> (%2) {{
  %0 x: bool[2,2]
  %1 value: bool[1] = @0
  %2 y: bool[4,3]
  pad_v2 p(%0, %1) -> (%2) {{before=[1, 0], after=[1, 1]}}
}}
entry @main
)",
                                                                  value));
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const auto lowered = standard_graph_to_tir(*module, module->entry_function());
    ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
    const graph::TensorValue input{1, 0, 0, 1};
    EXPECT_EQ(interpret(*lowered, {input}), evaluate(*module, {input}));
  }
}

}  // namespace

}  // namespace intarsia::testing
