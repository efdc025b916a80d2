// Convolutions and fully connected layers, by hand and against plain loops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "eval_testing.h"

namespace intarsia::graph {
namespace {

using testing::ElementsAre;

TEST(EvalConv, Int8ByHand) {
  // 2*1 + 4*2 + 6*3 + 8*4 = 60; + 6 = 66; * 0.5 * 1 / 1 = 33; - 3 = 30.
  const std::string body = R"((%0) -> (%3) {
    %0 x: i8[1,2,2,1] q(0.5:1)
    %1 w: i8[1,2,2,1] q(1) = @0
    %2 b: i32[1] = @1
    %3 y: i8[1,1,1,1] q(1:-3)
    conv2d c(%0, %1, %2) -> (%3))";
  const std::string constants = "const @0 w = i8[1, 2, 3, 4] const @1 b = i32[6]";
  EXPECT_THAT((result_of<int8_t, int8_t>(body + "}", {3, 5, 7, 9}, constants)), ElementsAre(30));
  EXPECT_THAT((result_of<int8_t, int8_t>(body + "{activation=relu6}}", {3, 5, 7, 9}, constants)),
              ElementsAre(3));
}

TEST(EvalConv, PaddingCountsAsZeroAndScalesArePerChannel) {
  // A 1x3 window over 2, 4 (zero point 1 taken off) with one element of padding at each end.
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%2) {
    %0 x: i8[1,1,2,1] q(1:1)
    %1 w: i8[2,1,3,1] q(axis=0; 1, 0.5) = @0
    %2 y: i8[1,1,2,2] q(1)
    conv2d c(%0, %1, _) -> (%2) {padding={left=1, right=1}}
  })",
                                         {3, 5}, "const @0 w = i8[1, 2, 3, 2, 4, 6]")),
              ElementsAre(16, 16, 10, 10));
}

TEST(EvalConv, Int4Weights) {
  // Nibbles, low first: 1, -2, 7, -8.
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%2) {
    %0 x: i8[1,1,1,2] q(1)
    %1 w: i4[2,1,1,2] q(1) = @0
    %2 y: i8[1,1,1,2] q(1)
    conv2d c(%0, %1) -> (%2)
  })",
                                         {3, 2}, "const @0 w = x\"e1 87\"")),
              ElementsAre(-1, 5));
}

TEST(EvalConv, Int16AccumulatesIn64Bits) {
  // 1024 * 32767 * 127 is 4261282816, past 2^32. The factor of 1e-6 is 17180 / 2^34.
  const Module module = with_main(R"((%0, %1) -> (%2) {
    %0 x: i16[1,1,1,1024] q(1)
    %1 w: i8[1,1,1,1024] q(1)
    %2 y: i16[1,1,1,1] q(1e6)
    conv2d c(%0, %1, _) -> (%2)
  })");
  EXPECT_THAT(values<int16_t>(evaluated(module, {bytes(std::vector<int16_t>(1024, 32767)),
                                                 bytes(std::vector<int8_t>(1024, 127))})),
              ElementsAre(4261));
}

TEST(EvalDepthwise, MultiplierRepeatsTheInputChannel) {
  EXPECT_THAT((result_of<int8_t, int8_t>(
                  R"((%0) -> (%3) {
    %0 x: i8[1,1,1,2] q(1)
    %1 w: i8[1,1,1,4] q(axis=3; 1, 1, 1, 2) = @0
    %2 b: i32[4] = @1
    %3 y: i8[1,1,1,4] q(1)
    depthwise_conv2d d(%0, %1, %2) -> (%3) {multiplier=2}
  })",
                  {3, -5}, "const @0 w = i8[1, 2, 3, 4] const @1 b = i32[0, 0, 0, 1]")),
              ElementsAre(3, 6, -15, -38));
}

TEST(EvalFullyConnected, RowsAndBias) {
  EXPECT_THAT((result_of<int8_t, int8_t>(R"((%0) -> (%3) {
    %0 x: i8[2,1,2] q(0.5:-1)
    %1 w: i8[2,2] q(2) = @0
    %2 b: i32[2] = @1
    %3 y: i8[2,2] q(1:5)
    fully_connected f(%0, %1, %2) -> (%3)
  })",
                                         {0, 1, 2, 3},
                                         "const @0 w = i8[1, 2, -3, 4] const @1 b = i32[10, -10]")),
              ElementsAre(20, 0, 26, 2));
}

// 16 bits of the factor are used, and the product of the scales in float would give another last one: -3952.
TEST(EvalFullyConnected, MultipliesScalesAsTfliteMicroDoes) {
  EXPECT_THAT((result_of<int16_t, int16_t>(
                  R"((%0) -> (%3) {
    %0 x: i16[1,1] q(0.0005877904)
    %1 w: i8[1,1] q(0.0022801699) = @0
    %2 b: i64[1] = @1
    %3 y: i16[1,1] q(0.0002474945)
    fully_connected f(%0, %1, %2) -> (%3)
  })",
                  {0}, "const @0 w = i8[1] const @1 b = i64[-729688]")),
              ElementsAre(-3951));
}

TEST(EvalFullyConnected, Float) {
  EXPECT_THAT((result_of<float, float>(
                  R"((%0) -> (%3) {
    %0 x: f32[1,2]
    %1 w: f32[2,2] = @0
    %2 b: f32[2] = @1
    %3 y: f32[1,2]
    fully_connected f(%0, %1, %2) -> (%3) {activation=relu}
  })",
                  {0.5f, -2}, "const @0 w = f32[1, 2, 4, 0.25] const @1 b = f32[1, 0.125]")),
              ElementsAre(0, 1.625f));
}

// ---- against plain loops, over random geometries ----

struct RandomConvolution {
  explicit RandomConvolution(uint32_t seed) : random(seed) {
    batch = pick(1, 2), height = pick(1, 9), width = pick(1, 9);
    groups = pick(1, 3), depth = pick(1, 4), filters = groups * pick(1, 3);
    kernel_h = pick(1, 4), kernel_w = pick(1, 4);
    stride_h = pick(1, 3), stride_w = pick(1, 3), dilation_h = pick(1, 3), dilation_w = pick(1, 3);
    top = pick(0, 4), left = pick(0, 4);
    bottom = top + std::max<int64_t>(0, (kernel_h - 1) * dilation_h + 1 - height - 2 * top);
    right = left + std::max<int64_t>(0, (kernel_w - 1) * dilation_w + 1 - width - 2 * left);
    out_h = (height + top + bottom - (kernel_h - 1) * dilation_h - 1) / stride_h + 1;
    out_w = (width + left + right - (kernel_w - 1) * dilation_w - 1) / stride_w + 1;
  }
  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint32_t>(most - least + 1));
  }

  // %0 input, %1 weights of the shape given; the real factor is 1, so that the sums come out.
  std::string text(std::string_view kind, std::string_view weights, std::string_view more) const {
    const int64_t channels = groups * depth;
    return fmt::format(
        "(%0, %1) -> (%2) {{ %0 x: i16[{},{},{},{}] q(1) %1 w: i8[{}] q(1) "
        "%2 y: i16[{},{},{},{}] q(1) {} c(%0, %1, _) -> (%2) {{stride_h={}, stride_w={}, "
        "dilation_h={}, dilation_w={}, padding={{top={}, left={}, bottom={}, right={}}}{}}} }}",
        batch, height, width, channels, weights, batch, out_h, out_w, filters, kind, stride_h,
        stride_w, dilation_h, dilation_w, top, left, bottom, right, more);
  }
  template <typename T>
  std::vector<T> numbers(int64_t count) {
    std::vector<T> result;
    for (int64_t i = 0; i < count; ++i) result.push_back(static_cast<T>(pick(-20, 20)));
    return result;
  }
  // Sum over the window for one output element; `weight` of (kernel row, kernel column, channel).
  template <typename Weight>
  int64_t sum(const std::vector<int16_t>& input, int64_t n, int64_t y, int64_t x, int64_t first,
              int64_t count, Weight&& weight) const {
    int64_t total = 0;
    for (int64_t i = 0; i < kernel_h; ++i)
      for (int64_t j = 0; j < kernel_w; ++j)
        for (int64_t c = 0; c < count; ++c) {
          const int64_t in_y = y * stride_h - top + i * dilation_h;
          const int64_t in_x = x * stride_w - left + j * dilation_w;
          if (in_y < 0 || in_y >= height || in_x < 0 || in_x >= width) continue;
          const int64_t at = ((n * height + in_y) * width + in_x) * groups * depth + first + c;
          total += input[static_cast<size_t>(at)] * weight(i, j, c);
        }
    return total;
  }

  std::mt19937 random;
  int64_t batch, height, width, groups, depth, filters, kernel_h, kernel_w;
  int64_t stride_h, stride_w, dilation_h, dilation_w, top, left, bottom, right, out_h, out_w;
};

TEST(EvalConv, EqualsPlainLoops) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomConvolution g(seed);
    const std::string weights_shape =
        fmt::format("{},{},{},{}", g.filters, g.kernel_h, g.kernel_w, g.depth);
    const auto input = g.numbers<int16_t>(g.batch * g.height * g.width * g.groups * g.depth);
    const auto weights = g.numbers<int8_t>(g.filters * g.kernel_h * g.kernel_w * g.depth);
    const std::vector<int16_t> result = values<int16_t>(
        evaluated(with_main(g.text("conv2d", weights_shape, "")), {bytes(input), bytes(weights)}));
    size_t at = 0;
    for (int64_t n = 0; n < g.batch; ++n)
      for (int64_t y = 0; y < g.out_h; ++y)
        for (int64_t x = 0; x < g.out_w; ++x)
          for (int64_t f = 0; f < g.filters; ++f) {
            const int64_t group = f / (g.filters / g.groups);
            const int64_t expected = g.sum(
                input, n, y, x, group * g.depth, g.depth, [&](int64_t i, int64_t j, int64_t c) {
                  return weights[static_cast<size_t>(
                      ((f * g.kernel_h + i) * g.kernel_w + j) * g.depth + c)];
                });
            ASSERT_EQ(result[at++], expected) << "seed " << seed;
          }
    ASSERT_EQ(at, result.size());
  }
}

TEST(EvalDepthwise, EqualsPlainLoops) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomConvolution g(seed);
    const int64_t multiplier = g.pick(1, 3), channels = g.groups * g.depth;
    g.filters = channels * multiplier;
    const std::string weights_shape = fmt::format("1,{},{},{}", g.kernel_h, g.kernel_w, g.filters);
    const auto input = g.numbers<int16_t>(g.batch * g.height * g.width * channels);
    const auto weights = g.numbers<int8_t>(g.kernel_h * g.kernel_w * g.filters);
    const std::vector<int16_t> result =
        values<int16_t>(evaluated(with_main(g.text("depthwise_conv2d", weights_shape,
                                                   fmt::format(", multiplier={}", multiplier))),
                                  {bytes(input), bytes(weights)}));
    size_t at = 0;
    for (int64_t n = 0; n < g.batch; ++n)
      for (int64_t y = 0; y < g.out_h; ++y)
        for (int64_t x = 0; x < g.out_w; ++x)
          for (int64_t f = 0; f < g.filters; ++f) {
            const int64_t expected =
                g.sum(input, n, y, x, f / multiplier, 1, [&](int64_t i, int64_t j, int64_t) {
                  return weights[static_cast<size_t>((i * g.kernel_w + j) * g.filters + f)];
                });
            ASSERT_EQ(result[at++], expected) << "seed " << seed;
          }
    ASSERT_EQ(at, result.size());
  }
}

}  // namespace
}  // namespace intarsia::graph
