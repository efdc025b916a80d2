// Kernels where they pay, on both sides of that: by channels, by the core, by where constants lie and by what to optimise for.
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernel_cases.h"
#include "kernel_checks.h"
#include "kernel_program.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;

graph::Module average_of_3x3(Random& random, int64_t channels) {
  return plain_module(random, OpKind::AveragePool2d,
                      graph::Pool2dAttrs{3, 3, 2, 2, {1, 1, 1, 1}, graph::Activation::None},
                      {1, 7, 7, channels});
}

// A word or a vector of channels is worth a kernel; one channel, or a core without SIMD, is not.
TEST(Pooling, IsAKernelWhereItPays) {
  for (const auto& [core, channels, expected] : {std::tuple{"cortex-m4", 8, true},
                                                 {"cortex-m55", 5, true},
                                                 {"cortex-m4", 1, false},
                                                 {"cortex-m0", 8, false}}) {
    KernelProgram kernels(core);
    Random random(14);
    kernels.add(average_of_3x3(random, channels));
    EXPECT_EQ(kernels.calls("intarsia_average_pool_s8"), expected) << core << " " << channels;
    check(kernels);
  }
}

// Padding is written by itself, gap by gap, along each axis and however long. Where little lies between many gaps it is sooner written
// with everything else.
TEST(Padding, IsWrittenAloneWhereThatIsSoonerDone) {
  struct Case {
    Shape shape;
    graph::PadAttrs pads;
    bool alone;
  };
  for (const Case& c : {Case{{1, 9, 16, 9}, {{0, 1, 1, 0}, {0, 0, 1, 0}}, true},
                        {{1, 5, 6, 9}, {{0, 1, 1, 0}, {0, 0, 2, 0}}, false},
                        {{1, 5, 6, 200}, {{0, 1, 1, 0}, {0, 0, 2, 0}}, true},
                        {{2, 9, 16, 65}, {{0, 1, 1, 0}, {0, 0, 0, 0}}, true},
                        {{1, 5, 6, 800}, {{0, 0, 1, 80}, {0, 1, 0, 0}}, true},
                        {{1, 15, 6, 3}, {{0, 0, 1, 1}, {0, 1, 0, 0}}, false}})
    for (const char* core : {"cortex-m4", "cortex-m55"}) {
      KernelProgram kernels(core);
      Random random(15);
      kernels.add(moved_module(random, OpKind::Pad, DataType::Int8, c.shape, c.pads));
      const graph::Function& function = kernels.module(0).entry_function();
      const int64_t count = element_count(function.tensor(function.outputs[0]).shape);
      EXPECT_TRUE(kernels.calls("intarsia_copy_rows_s8"));
      EXPECT_EQ(kernels.text().find(fmt::format(", 1, {});", count)) == std::string::npos, c.alone)
          << core << " " << c.shape.back();
      check(kernels);
    }
}

// Laying rows and weights out is for several outputs: a window over its whole image, as a step of a streaming network has it, is
// loops. A column of outputs is a row, whose outputs are beside each other.
TEST(DepthwiseConvolutions, AreLoopsForOneOutput) {
  for (const auto& [core, height, width, kernel, tuned] :
       {std::tuple{"cortex-m4", 23, 1, 23, false},
        {"cortex-m33", 11, 1, 11, false},
        {"cortex-m4", 3, 3, 3, false},
        {"cortex-m4", 40, 1, 5, true},
        {"cortex-m7", 30, 1, 9, true},
        {"cortex-m4", 6, 6, 3, true},
        {"cortex-m0", 11, 1, 11, false},
        {"cortex-m3", 3, 3, 3, false},
        {"cortex-m0", 40, 1, 5, true},
        {"cortex-m3", 40, 1, 5, true}}) {
    KernelProgram kernels(core);
    Random random(31);
    const int64_t columns = width == 1 ? 1 : kernel;
    kernels.add(window_module(
        random, {OpKind::DepthwiseConv2d, 1, height, width, 16, 16, kernel, columns, 1}));
    EXPECT_EQ(kernels.tuned() == 1, tuned) << core << " " << height << " " << kernel;
    if (tuned && width == 1 && core != std::string_view("cortex-m0") &&
        core != std::string_view("cortex-m3")) {
      EXPECT_NE(kernels.text().find(fmt::format(".in_h = 1, .in_w = {}", height)),
                std::string::npos);
    }
    check(kernels);
  }
}

// With strides, dilations and padding.
TEST(DepthwiseConvolutions, ColumnsAreRows) {
  KernelProgram kernels("cortex-m4");
  Random random(32);
  for (const auto& [stride, dilation, before] : {std::tuple{2, 1, 0}, {1, 3, 0}, {1, 1, 4}}) {
    WindowCase column{OpKind::DepthwiseConv2d, 1, 60, 1, 12, 12, 5, 1, stride, dilation};
    column.padding = {before, 0, before / 2, 0};
    kernels.add(window_module(random, column));
  }
  EXPECT_EQ(kernels.tuned(), 3u);
  check(kernels);
}

TEST(Floats, HaveKernelsOnCoresWithAFloatingPointUnit) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    kernels.add(float_convolutions());
    kernels.add(float_depthwise_convolutions());
    kernels.add(float_matrix_products());
    EXPECT_EQ(kernels.tuned(), kernels.count());
    check(kernels);
  }
}

// The constants of a group of channels are copied where they lie in a slower memory, and all pixels are enough to pay for it.
TEST(SlowConstants, AreCopiedByGroups) {
  for (const int32_t cycles : {1, 2, 5}) {
    KernelProgram kernels("cortex-m55");
    kernels.place_constants(cycles);
    for (const auto& make :
         {small_convolutions, larger_convolutions, long_and_thin, fully_connected_layers,
          wide_convolutions, depthwise_convolutions, dilated_depthwise_convolutions})
      kernels.add(make());
    Random random(21);
    kernels.add(window_module(random, {OpKind::Conv2d, 1, 8, 8, 64, 30, 3, 3, 1}));
    kernels.add(window_module(random, {OpKind::Conv2d, 2, 9, 7, 100, 61, 1, 1, 1}));
    kernels.add(window_module(random, {OpKind::Conv2d, 1, 49, 10, 1, 66, 10, 4, 2}));
    kernels.add(window_module(random, {OpKind::Conv2d, 1, 20, 20, 33, 9, 3, 3, 2}));
    EXPECT_EQ(kernels.copies_constants() > 0, cycles > 1);
    check(kernels);
  }
}

// Weights of many channels serve eight pixels where they wait and find no room in scratch; small code has one kernel.
TEST(DeepConvolutions, AreOneChannelByEightPixels) {
  const auto chosen = [](const WindowCase& c, int32_t cycles,
                         LoweringOptions::Optimise optimise = LoweringOptions::Optimise::Balanced) {
    KernelProgram kernels("cortex-m55");
    kernels.place_constants(cycles);
    Random random(38);
    kernels.add(window_module(random, c), optimise);
    return kernels.calls("intarsia_mve_deep_conv_s8");
  };
  WindowCase c{OpKind::Conv2d, 1, 8, 8, 128, 128, 3, 3, 1};
  c.padding = {1, 1, 1, 1};
  EXPECT_TRUE(chosen(c, 2));
  EXPECT_FALSE(chosen(c, 2, LoweringOptions::Optimise::Size));
  c.width = 3;  // fewer than four pixels
  EXPECT_FALSE(chosen(c, 2));
  c.width = 8, c.channels = 400;  // nor do eight pixels
  EXPECT_FALSE(chosen(c, 2));
  c.channels = 4;
  EXPECT_FALSE(chosen(c, 2));
  size_t deep = 0;
  for (const int32_t cycles : {1, 2, 5})
    for (graph::Module& module : deep_convolutions()) {
      KernelProgram kernels("cortex-m55");
      kernels.place_constants(cycles);
      kernels.add(std::move(module));
      deep += kernels.calls("intarsia_mve_deep_conv_s8");
    }
  // Of 48; of the others pairs take less time, or not a tenth more.
  EXPECT_GE(deep, 16U);
}

TEST(Optimise, SizeLeavesMeansToLoops) {
  for (const auto optimise :
       {LoweringOptions::Optimise::Size, LoweringOptions::Optimise::Balanced}) {
    KernelProgram kernels("cortex-m4");
    Random random(20);
    kernels.add(plain_module(random, OpKind::Mean, graph::ReduceAttrs{{1, 2}, true}, {1, 5, 5, 8}),
                optimise);
    EXPECT_EQ(kernels.calls("intarsia_mean_s8"), optimise == LoweringOptions::Optimise::Balanced);
    check(kernels);
  }
}

TEST(Optimise, SizeHasNoTableOfExponentials) {
  for (const auto optimise :
       {LoweringOptions::Optimise::Size, LoweringOptions::Optimise::Balanced}) {
    KernelProgram kernels("cortex-m4");
    Random random(15);
    kernels.add(plain_module(random, OpKind::Softmax, graph::SoftmaxAttrs{}, {2, 10}), optimise);
    EXPECT_EQ(kernels.calls("intarsia_softmax_table_s8"),
              optimise == LoweringOptions::Optimise::Balanced);
    check(kernels);
  }
}

// A classifier's row is not worth the code that takes elements some at a time.
TEST(Softmax, OfManyElementsInLongRowsTakesSomeAtATime) {
  for (const char* core : {"cortex-m4", "cortex-m33"})
    for (const auto& [shape, many] : {std::pair{Shape{40, 13}, true},
                                      {Shape{3, 260}, true},
                                      {Shape{200, 7}, false},
                                      {Shape{1, 12}, false}}) {
      KernelProgram kernels(core);
      Random random(16);
      kernels.add(plain_module(random, OpKind::Softmax, graph::SoftmaxAttrs{}, shape));
      EXPECT_EQ(kernels.calls("intarsia_softmax_rows_s8"), many) << core;
      check(kernels);
    }
}

// How often it stands in the program.
size_t calls_of(const KernelProgram& kernels, const std::string& kernel) {
  size_t count = 0;
  const std::string text = kernels.text();
  for (size_t at = 0; (at = text.find(" " + kernel + "(", at)) != std::string::npos; ++at) ++count;
  return count;
}

// A number for each short row: a call takes several of them, in both directions and where the rows repeat too.
TEST(Broadcasting, ShortRowsShareACall) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    Random random(51);
    kernels.add(binary_module(random, OpKind::Mul, {1, 32, 4}, {1, 32, 1}));
    kernels.add(wide_sum_module(random, OpKind::Sub, {1, 16, 1}, {1, 16, 8}, 0.0003f, 0.0002f,
                                graph::Activation::None));
    kernels.add(binary_module(random, OpKind::Add, {1, 32, 1}, {1, 1, 4}));
    EXPECT_EQ(calls_of(kernels, "intarsia_spread_s8"), 2U);
    EXPECT_EQ(calls_of(kernels, "intarsia_spread_s16"), 1U);
    EXPECT_EQ(calls_of(kernels, "intarsia_copy_rows_s8"), 1U);
    check(kernels);
  }
}

// All values of a byte, where a loop would scale each element, or limit each of sixteen by itself.
TEST(Elements, LimitsAtAnotherScaleAreLookedUp) {
  for (const char* core : {"cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    Random random(53);
    kernels.add(
        plain_module(random, OpKind::Relu, graph::ReluAttrs{graph::Activation::Relu6}, {1, 300}));
    EXPECT_TRUE(kernels.calls("intarsia_each_lookup_s8")) << core;
    check(kernels);
  }
}

// Windows of two rows and columns and of one become windows of two by two with four times the channels, where these share more than
// the further taps cost.
TEST(TransposedConvolution, ResultsOfAStrideAreOneConvolutionOfFewChannels) {
  for (const auto& [core, kernel] : {std::pair{"cortex-m4", "intarsia_staged_dsp_conv"},
                                     {"cortex-m55", "intarsia_staged_mve_conv"}}) {
    for (const auto& [channels, calls] : {std::pair{1, 1U}, {64, 4U}}) {
      KernelProgram kernels(core);
      Random random(52);
      WindowCase c{OpKind::TransposeConv2d, 1, 8, 8, 64, channels, 3, 3, 2};
      c.padding = {0, 0, 1, 1};
      kernels.add(window_module(random, c));
      size_t made = 0;
      for (const char* way : {"", "_by_four", "_by_four_rectified", "_by_four_limited",
                              "_rectified", "_limited", "_any"})
        made += calls_of(kernels, std::string(kernel) + way + "_s8");
      EXPECT_EQ(made, calls) << core << " " << channels;
      check(kernels);
    }
  }
}

// A single channel, which was a loop.
TEST(TransposedConvolution, ResultsOfAStrideHaveAKernelWithoutSimd) {
  for (const char* core : {"cortex-m0", "cortex-m3", "rv32imc"}) {
    KernelProgram kernels(core);
    Random random(52);
    WindowCase c{OpKind::TransposeConv2d, 1, 8, 8, 16, 1, 3, 3, 2};
    c.padding = {0, 0, 1, 1};
    kernels.add(window_module(random, c));
    EXPECT_EQ(kernels.tuned(), kernels.count()) << core;
    check(kernels);
  }
}

}  // namespace
}  // namespace intarsia::test::cortex_m
