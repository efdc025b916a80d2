// Elementwise operators and softmax, by hand and against real arithmetic.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "eval_testing.h"

namespace intarsia::graph {
namespace {

using testing::ElementsAre;

TEST(EvalAdd, Int8WithBroadcast) {
  // a: 1.5, -0.5 (scale 0.5); b: 1, 2 along the first axis; output scale 1, ties away from zero.
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%2) {
    %0 a: i8[2] q(0.5:10)
    %1 b: i8[2,1] q(1) = @0
    %2 y: i8[2,2] q(1:-1)
    add s(%0, %1) -> (%2)
  })",
                                         {13, 9}, "const @0 b = i8[1, 2]")),
              ElementsAre(2, 0, 3, 1));
}

TEST(EvalMul, Int8) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%1) {
    %0 a: i8[3] q(0.5:-1)
    %1 y: i8[3] q(0.25:2)
    mul s(%0, %0) -> (%1)
  })",
                                         {1, -4, 100})),
              ElementsAre(6, 11, 127));
}

// As LiteRT has it: what has no logarithm gives the least result.
TEST(EvalLog, Int8) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%1) {
    %0 a: i8[6] q(0.05:-120)
    %1 y: i8[6] q(0.03:10)
    log s(%0) -> (%1)
  })",
                                         {-128, -120, -119, -118, -117, 127})),
              ElementsAre(-128, -128, -90, -67, -53, 94));
}

TEST(EvalBinary, PlainNumbers) {
  EXPECT_THAT(
      (result_of<int32_t, int32_t>(
          "(%0) -> (%1) { %0 a: i32[2] %1 y: i32[2] mul s(%0, %0) -> (%1) }", {-3, 1 << 20})),
      ElementsAre(9, 0));
  EXPECT_THAT(
      (result_of<float, float>("(%0) -> (%1) { %0 a: f32[2] %1 y: f32[2] add s(%0, %0) -> (%1) "
                               "{activation=relu_n1_to_1} }",
                               {-3, 0.25f})),
      ElementsAre(-1, 0.5f));
}

TEST(EvalRelu, Rescales) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%1) {
    %0 x: i8[4] q(1:5)
    %1 y: i8[4] q(0.5:-128)
    relu r(%0) -> (%1)
  })",
                                         {-100, 5, 6, 127})),
              ElementsAre(-128, -128, -126, 116));
}

// What stands for almost nothing is in the middle, and not beyond the range of the fixed point.
TEST(EvalSigmoid, OfAScaleOfAlmostNothing) {
  for (const char* scale : {"1e-9", "1e-12", "1e-40"}) {
    const auto made = [&](const char* function, const char* quantization) {
      return result_of<int8_t, int8_t>(fmt::format(R"((%0) -> (%1) {{
        %0 x: i8[3] q({}:7)
        %1 y: i8[3] q({})
        {} s(%0) -> (%1)
      }})",
                                                   scale, quantization, function),
                                       {-128, 7, 127});
    };
    EXPECT_THAT(made("logistic", "0.00390625:-128"), ElementsAre(0, 0, 0)) << scale;
    EXPECT_THAT(made("tanh", "0.0078125"), ElementsAre(0, 0, 0)) << scale;
  }
}

TEST(EvalQuantize, FloatsRoundAwayAndSaturate) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT((result_of<int8_t, float>(
                  R"((%0) -> (%1) {
    %0 x: f32[8]
    %1 y: i8[8] q(0.5:1)
    quantize q(%0) -> (%1)
  })",
                  {0, 0.25f, -0.25f, 1e30f, -kInfinity, kInfinity, std::nanf(""), 3.2f})),
              ElementsAre(1, 2, 0, 127, -128, 127, -128, 7));
}

TEST(EvalQuantize, BetweenIntegers) {
  EXPECT_THAT(
      (result_of<int8_t, int16_t>(
          "(%0) -> (%1) { %0 x: i16[3] q(0.01) %1 y: i8[3] q(1:-5) quantize q(%0) -> (%1) }",
          {149, 150, -32768})),
      ElementsAre(-4, -3, -128));
  EXPECT_THAT((result_of<uint8_t, int8_t>(
                  "(%0) -> (%1) { %0 x: i8[3] q(1) %1 y: u8[3] q(1:128) quantize q(%0) -> (%1) }",
                  {-128, 0, 127})),
              ElementsAre(0, 128, 255));
}

TEST(EvalDequantize, Int8) {
  EXPECT_THAT((result_of<float, int8_t>(
                  "(%0) -> (%1) { %0 x: i8[2] q(0.25:-1) %1 y: f32[2] dequantize d(%0) -> (%1) }",
                  {-1, 3})),
              ElementsAre(0, 1));
}

// Each quantised operator against real arithmetic: at most one step away from the rounded result.
TEST(EvalElementwise, IsWithinOneStepOfRealArithmetic) {
  std::mt19937 random(5);
  const auto uniform = [&](double least, double most) {
    return least + (most - least) * (random() / 4294967296.0);
  };
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    const auto a_scale = static_cast<float>(std::exp(uniform(-5, 1)));
    const auto b_scale = static_cast<float>(std::exp(uniform(-5, 1)));
    const bool is_add = round % 2 == 0;
    const double out_scale =
        is_add ? uniform(1, 3) * std::max(a_scale, b_scale) : uniform(20, 200) * a_scale * b_scale;
    const auto zero = [&] { return static_cast<int>(uniform(-128, 127)); };
    const int a_zero = zero(), b_zero = zero(), out_zero = zero();
    const Module module = with_main(fmt::format(
        "(%0, %1) -> (%2) {{ %0 a: i8[256] q({:.9g}:{}) %1 b: i8[256] q({:.9g}:{}) %2 y: i8[256] "
        "q({:.9g}:{}) {} s(%0, %1) -> (%2) }}",
        a_scale, a_zero, b_scale, b_zero, static_cast<float>(out_scale), out_zero,
        is_add ? "add" : "mul"));
    std::vector<int8_t> a(256), b(256);
    for (size_t i = 0; i < 256; ++i) {
      a[i] = static_cast<int8_t>(i);
      b[i] = static_cast<int8_t>(random());
    }
    const auto result = values<int8_t>(evaluated(module, {bytes(a), bytes(b)}));
    ASSERT_EQ(result.size(), 256u);
    for (size_t i = 0; i < 256; ++i) {
      const double x = a_scale * static_cast<double>(a[i] - a_zero);
      const double y = b_scale * static_cast<double>(b[i] - b_zero);
      const double real = (is_add ? x + y : x * y) / static_cast<float>(out_scale) + out_zero;
      ASSERT_NEAR(result[i], std::clamp(std::round(real), -128.0, 127.0), 1) << print(module);
      compared += result[i] > -128 && result[i] < 127;
    }
  }
  EXPECT_GT(compared, 10000);
}

// ---- softmax ----

std::string softmax(std::string_view input, std::string_view output, int count) {
  return fmt::format("(%0) -> (%1) {{ %0 x: {0} %1 y: {1} softmax s(%0) -> (%1) }}",
                     fmt::format(fmt::runtime(input), count),
                     fmt::format(fmt::runtime(output), count));
}

TEST(EvalSoftmax, EqualElementsShareEqually) {
  EXPECT_THAT((result_of<int8_t, int8_t>(
                  softmax("i8[1,{}] q(0.1:5)", "i8[1,{}] q(0.00390625:-128)", 4), {7, 7, 7, 7})),
              ElementsAre(-64, -64, -64, -64));
  EXPECT_THAT(
      (result_of<int16_t, int8_t>(
          softmax("i8[1,{}] q(0.1:5)", "i16[1,{}] q(1.52587891e-05:-32768)", 4), {7, 7, 7, 7})),
      ElementsAre(-16384, -16384, -16384, -16384));
  const std::vector<int8_t> many(4095, 3);
  const auto result = result_of<int8_t, int8_t>(
      softmax("i8[1,{}] q(0.1:5)", "i8[1,{}] q(0.00390625:-128)", 4095), many);
  EXPECT_EQ(result, std::vector<int8_t>(4095, -128));
}

TEST(EvalSoftmax, IsNearRealArithmetic) {
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    const float scale = 0.001f * static_cast<float>(1 + random() % 500);
    std::vector<int8_t> bytes8(10);
    std::vector<int16_t> words(10);
    std::vector<double> exponentials;
    double sum = 0;
    for (size_t i = 0; i < 10; ++i) {
      bytes8[i] = static_cast<int8_t>(random());
      words[i] = bytes8[i];
      exponentials.push_back(std::exp(scale * static_cast<double>(bytes8[i])));
      sum += exponentials.back();
    }
    const std::string q = fmt::format("q({:.9g})", scale);
    const auto as8 = result_of<int8_t, int8_t>(
        softmax("i8[1,{}] " + q, "i8[1,{}] q(0.00390625:-128)", 10), bytes8);
    const auto as16 = result_of<int16_t, int8_t>(
        softmax("i8[1,{}] " + q, "i16[1,{}] q(1.52587891e-05:-32768)", 10), bytes8);
    const auto from16 = result_of<int16_t, int16_t>(
        softmax("i16[1,{}] " + q, "i16[1,{}] q(3.05175781e-05)", 10), words);
    for (size_t i = 0; i < 10; ++i) {
      const double expected = exponentials[i] / sum;
      EXPECT_NEAR((as8[i] + 128) / 256.0, expected, 1.0 / 256);
      EXPECT_NEAR((as16[i] + 32768) / 65536.0, expected, 2.0 / 65536);
      // Each exponential below e^-10 still counts as up to 2 / 32768.
      EXPECT_NEAR(from16[i] / 32768.0, expected, 24.0 / 32768);
    }
  }
}

// Results of TFLite Micro's reference kernels for one row.
TEST(EvalSoftmax, EqualsRecordedResults) {
  const std::vector<int8_t> row = {-128, -70, -33, -5, 0, 9, 40, 41, 80, 99};
  EXPECT_THAT(
      (result_of<int16_t, int8_t>(
          softmax("i8[1,{}] q(0.06)", "i16[1,{}] q(1.52587891e-05:-32768)", 10), row)),
      ElementsAre(-32768, -32766, -32751, -32676, -32644, -32555, -31399, -31315, -17680, 14409));
  EXPECT_THAT((result_of<int8_t, int8_t>(
                  softmax("i8[1,{}] q(0.02)", "i8[1,{}] q(0.00390625:-128)", 10), row)),
              ElementsAre(-127, -125, -122, -117, -116, -113, -100, -100, -67, -38));
  EXPECT_THAT((result_of<int16_t, int16_t>(
                  softmax("i16[1,{}] q(0.0006)", "i16[1,{}] q(3.05175781e-05)", 10),
                  {-9000, -5000, -1234, -5, 0, 77, 400, 1500, 2200, 3000})),
              ElementsAre(9, 95, 914, 1911, 1917, 2007, 2436, 4714, 7174, 11593));
}

TEST(EvalSoftmax, Float) {
  const auto result = result_of<float, float>(softmax("f32[1,{}]", "f32[1,{}]", 2), {1000, 1001});
  EXPECT_NEAR(result[0], 0.26894142, 1e-6);
  EXPECT_NEAR(result[1], 0.73105858, 1e-6);
}

}  // namespace
}  // namespace intarsia::graph
