// The evaluator itself (order, calls, variables, errors), pooling, means and moves by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eval_testing.h"

namespace intarsia::graph {
namespace {

using testing::ElementsAre;

// ---- the evaluator ----

TEST(Evaluator, VariablesLastFromRunToRun) {
  const Module module = with_main(R"((%0) -> (%2) {
    %0 x: i32[2]
    %1 total: i32[2] variable
    %2 y: i32[2]
    add sum(%0, %1) -> (%2)
    add keep(%0, %1) -> (%1)
  })");
  ASSERT_EQ(complaints(module), "");
  Evaluator evaluator(module);
  EXPECT_THAT(values<int32_t>(evaluator.run({bytes<int32_t>({1, 2})}).value()[0]),
              ElementsAre(1, 2));
  EXPECT_THAT(values<int32_t>(evaluator.run({bytes<int32_t>({10, 20})}).value()[0]),
              ElementsAre(11, 22));
  EXPECT_THAT(values<int32_t>(Evaluator(module).run({bytes<int32_t>({5, 6})}).value()[0]),
              ElementsAre(5, 6));
}

TEST(Evaluator, VariablesStartAtTheirZeroPoint) {
  EXPECT_THAT((result_of<float, int8_t>(R"((%0) -> (%2) {
    %0 x: i8[2] q(1)
    %1 state: i16[2] q(0.5:-300) variable
    %2 y: f32[2]
    dequantize d(%1) -> (%2)
  })",
                                        {1, 2})),
              ElementsAre(0, 0));
}

TEST(Evaluator, CallsAndObserver) {
  const Module module = parsed(R"(intarsia.graph m
func @twice(%0) -> (%1) { %0 x: i32[1] %1 y: i32[1] add inner(%0, %0) -> (%1) }
func @main(%0) -> (%2) {
  %0 x: i32[1]
  %1 m: i32[1]
  %2 y: i32[1]
  call first(%0) -> (%1) {callee=twice}
  call second(%1) -> (%2) {callee=twice}
}
entry @main)");
  ASSERT_EQ(complaints(module), "");
  std::vector<std::string> seen;
  const auto note = [](void* context, const Node& node, size_t output, const TensorValue& value) {
    static_cast<std::vector<std::string>*>(context)->push_back(
        fmt::format("{}.{}={}", node.name, output, values<int32_t>(value)[0]));
  };
  EXPECT_THAT(values<int32_t>(Evaluator(module).run({bytes<int32_t>({3})}, note, &seen).value()[0]),
              ElementsAre(12));
  EXPECT_THAT(seen, ElementsAre("inner.0=6", "first.0=6", "inner.0=12", "second.0=12"));
}

TEST(Evaluator, InputsAreChecked) {
  const Module module = with_main("(%0) -> (%0) { %0 x: i32[2] }");
  EXPECT_EQ(Evaluator(module).run({}).error().to_string(),
            "function 'main': got 0 inputs, takes 1\n");
  EXPECT_EQ(Evaluator(module).run({{1, 2, 3}}).error().to_string(),
            "function 'main': input 0 'x': got 3 bytes, takes 8\n");
  EXPECT_THAT(values<int32_t>(Evaluator(module).run({bytes<int32_t>({4, 5})}).value()[0]),
              ElementsAre(4, 5));
}

// ---- pooling and mean ----

TEST(EvalPool, AverageRoundsTiesAwayFromZero) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%1) {
    %0 x: i8[1,1,6,1] q(1:3)
    %1 y: i8[1,1,3,1] q(1:3)
    average_pool2d p(%0) -> (%1) {filter_w=2, stride_w=2}
  })",
                                         {1, 2, -1, -2, 5, 8})),
              ElementsAre(2, -2, 7));
}

TEST(EvalPool, AverageCountsOnlyWhatIsInside) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%1) {
    %0 x: i8[1,2,2,1] q(1)
    %1 y: i8[1,2,2,1] q(1)
    average_pool2d p(%0) -> (%1) {filter_h=2, filter_w=2, padding={bottom=1, right=1}}
  })",
                                         {1, 3, 5, 100})),
              ElementsAre(27, 52, 53, 100));
}

TEST(EvalPool, MaximumAndActivation) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%1) {
    %0 x: i8[1,2,2,2] q(0.5:-10)
    %1 y: i8[1,1,1,2] q(0.5:-10)
    max_pool2d p(%0) -> (%1) {filter_h=2, filter_w=2, activation=relu6}
  })",
                                         {-20, -50, -60, -70, -80, 90, -30, 1})),
              ElementsAre(-10, 2));
  EXPECT_THAT((result_of<float, float>(R"((%0) -> (%1) {
    %0 x: f32[1,1,2,2]
    %1 y: f32[1,1,1,2]
    max_pool2d p(%0) -> (%1) {filter_w=2}
  })",
                                       {-1, 2, -3, 4})),
              ElementsAre(-1, 4));
}

TEST(EvalMean, DividesInTheFactor) {
  const auto mean = [](std::string_view attributes, std::string_view shape) {
    return fmt::format(
        "(%0) -> (%1) {{ %0 x: i8[2,3] q(1:1) %1 y: i8[{}] q(0.5:-1) "
        "mean m(%0) -> (%1) {{{}}} }}",
        shape, attributes);
  };
  // Real values 0 1 2 / 9 19 30, doubled, minus 1.
  const std::vector<int8_t> input = {1, 2, 3, 10, 20, 31};
  EXPECT_THAT((result_of<int8_t, int8_t>(mean("axes=[1]", "2"), input)), ElementsAre(1, 38));
  EXPECT_THAT((result_of<int8_t, int8_t>(mean("axes=[0], keep_dims=true", "1,3"), input)),
              ElementsAre(8, 19, 31));
  EXPECT_THAT((result_of<int8_t, int8_t>(mean("axes=[0,1]", ""), input)), ElementsAre(19));
  EXPECT_THAT((result_of<float, float>("(%0) -> (%1) { %0 x: f32[2,2] %1 y: f32[2] "
                                       "mean m(%0) -> (%1) {axes=[0]} }",
                                       {1, 2, 3, 6})),
              ElementsAre(2, 4));
}

// ---- moves ----

TEST(EvalPad, FillsWithTheZeroPoint) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%1) {
    %0 x: i8[2,2] q(1:-7)
    %1 y: i8[3,4] q(1:-7)
    pad p(%0) -> (%1) {before=[1,0], after=[0,2]}
  })",
                                         {1, 2, 3, 4})),
              ElementsAre(-7, -7, -7, -7, 1, 2, -7, -7, 3, 4, -7, -7));
  EXPECT_THAT((result_of<float, float>("(%0) -> (%1) { %0 x: f32[1] %1 y: f32[2] "
                                       "pad p(%0) -> (%1) {before=[1], after=[0]} }",
                                       {5})),
              ElementsAre(0, 5));
}

TEST(EvalReshape, KeepsTheBytes) {
  EXPECT_THAT((result_of<int16_t, int16_t>("(%0) -> (%1) { %0 x: i16[2,2] %1 y: i16[4] "
                                           "reshape r(%0) -> (%1) {shape=[4]} }",
                                           {1, -2, 300, 4})),
              ElementsAre(1, -2, 300, 4));
}

// ---- counting ----

TEST(MacCount, ByHand) {
  const Module module = with_main(R"((%0) -> (%5) {
    %0 x: f32[1,4,4,2]
    %1 w: f32[3,2,2,2]
    %2 m: f32[1,3,3,3]
    %3 d: f32[1,2,2,3]
    %4 n: f32[1,2,2,3]
    %5 y: f32[1,5]
    %6 f: f32[5,12]
    conv2d c(%0, %1, _) -> (%2)
    depthwise_conv2d d(%2, %3, _) -> (%4)
    fully_connected f(%4, %6, _) -> (%5)
    relu r(%5) -> (%5)
  })");
  const Function& main = module.entry_function();
  EXPECT_EQ(mac_count(main, main.nodes[0]), 27 * 8);
  EXPECT_EQ(mac_count(main, main.nodes[1]), 12 * 4);
  EXPECT_EQ(mac_count(main, main.nodes[2]), 60);
  EXPECT_EQ(mac_count(main, main.nodes[3]), 0);
}

}  // namespace
}  // namespace intarsia::graph
