// Every kernel on this machine, through its portable twins of the cores' instructions, against the
// reference evaluator: all small shapes, and larger ones at random.
#include <cmath>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernel_cases.h"
#include "kernel_checks.h"
#include "kernel_program.h"
#include "support/c_program.h"
#include "support/needs.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;

class EveryCore : public ::testing::TestWithParam<const char*> {
 protected:
  void check_all(std::vector<graph::Module> modules) const {
    KernelProgram kernels(GetParam());
    kernels.add(std::move(modules));
    check(kernels);
  }
};

TEST_P(EveryCore, SmallConvolutions) {
  check_all(small_convolutions());
}
TEST_P(EveryCore, LargerConvolutions) {
  check_all(larger_convolutions());
}
TEST_P(EveryCore, ConvolutionsBesideEdges) {
  check_all(convolutions_beside_edges());
}
TEST_P(EveryCore, DeepConvolutions) {
  check_all(deep_convolutions());
}
TEST_P(EveryCore, DepthwiseConvolutions) {
  check_all(depthwise_convolutions());
}
TEST_P(EveryCore, DepthwiseConvolutionsOfFewPixels) {
  KernelProgram kernels(GetParam());
  kernels.add(depthwise_convolutions_of_few_pixels());
  for (const char* kernel :
       {"intarsia_dsp_depthwise_pixels_s8", "intarsia_dsp_depthwise_pixels_any_s8"})
    EXPECT_EQ(kernels.calls(kernel), GetParam() == std::string("cortex-m4")) << kernel;
  EXPECT_EQ(kernels.calls("intarsia_mve_depthwise_pixels_s8"),
            GetParam() == std::string("cortex-m55"));
  check(kernels);
}
TEST_P(EveryCore, DepthwiseConvolutionsOfLines) {
  check_all(depthwise_convolutions_of_lines());
}
TEST_P(EveryCore, WideDepthwiseOfLines) {
  check_all(wide_depthwise_of_lines());
}
TEST_P(EveryCore, DilatedDepthwiseConvolutionsAndMultipliers) {
  KernelProgram kernels(GetParam());
  kernels.add(dilated_depthwise_convolutions());
  for (const char* kernel :
       {"intarsia_dsp_depthwise_3x3_dilated_s8", "intarsia_dsp_depthwise_3x3_dilated_rectified_s8",
        "intarsia_dsp_depthwise_3x3_dilated_limited_s8"})
    EXPECT_EQ(kernels.calls(kernel), GetParam() == std::string("cortex-m4")) << kernel;
  check(kernels);
}
TEST_P(EveryCore, DepthwiseConvolutionsWithMultipliers) {
  KernelProgram kernels(GetParam());
  kernels.add(multiplied_depthwise_convolutions());
  for (const char* kernel :
       {"intarsia_dsp_depthwise_3x3_multiplied_s8",
        "intarsia_dsp_depthwise_3x3_multiplied_rectified_s8",
        "intarsia_dsp_depthwise_3x3_multiplied_limited_s8", "intarsia_dsp_depthwise_s8"})
    EXPECT_EQ(kernels.calls(kernel), GetParam() == std::string("cortex-m4")) << kernel;
  for (const char* kernel :
       {"intarsia_mve_depthwise_shared_pixels_s8", "intarsia_mve_depthwise_dense_s8",
        "intarsia_mve_depthwise_halving_s8", "intarsia_mve_depthwise_wide_s8"})
    EXPECT_EQ(kernels.calls(kernel), GetParam() == std::string("cortex-m55")) << kernel;
  check(kernels);
}
TEST_P(EveryCore, FullyConnected) {
  check_all(fully_connected_layers());
}
TEST_P(EveryCore, LongAndThin) {
  check_all(long_and_thin());
}
TEST_P(EveryCore, GroupedAndDilatedConvolutions) {
  check_all(grouped_and_dilated_convolutions());
}
TEST_P(EveryCore, TransposedConvolutions) {
  check_all(transposed_convolutions());
}
TEST_P(EveryCore, MatrixProducts) {
  check_all(matrix_products());
}
TEST_P(EveryCore, PoolingsAndRows) {
  check_all(poolings_and_rows());
}
TEST_P(EveryCore, WideConvolutions) {
  check_all(wide_convolutions());
}
TEST_P(EveryCore, WideDepthwiseOfThreeColumns) {
  KernelProgram kernels(GetParam());
  kernels.add(wide_depthwise_of_three_columns());
  for (const char* kernel :
       {"intarsia_dsp_depthwise_3x3_s16", "intarsia_dsp_depthwise_3x3_rectified_s16",
        "intarsia_dsp_depthwise_3x3_limited_s16", "intarsia_dsp_depthwise_3x3_dilated_s16",
        "intarsia_dsp_depthwise_3x3_dilated_rectified_s16",
        "intarsia_dsp_depthwise_3x3_dilated_limited_s16"})
    EXPECT_EQ(kernels.calls(kernel), GetParam() == std::string("cortex-m4")) << kernel;
  check(kernels);
}
TEST_P(EveryCore, WideDepthwiseWithMultipliers) {
  KernelProgram kernels(GetParam());
  kernels.add(wide_depthwise_with_multipliers());
  for (const char* kernel : {"intarsia_dsp_depthwise_3x3_multiplied_s16",
                             "intarsia_dsp_depthwise_3x3_multiplied_rectified_s16",
                             "intarsia_dsp_depthwise_3x3_multiplied_limited_s16"})
    EXPECT_EQ(kernels.calls(kernel), GetParam() == std::string("cortex-m4")) << kernel;
  EXPECT_EQ(kernels.calls("intarsia_mve_depthwise_shared_s16"),
            GetParam() == std::string("cortex-m55"));
  check(kernels);
}
TEST_P(EveryCore, WideDepthwiseOfAnyWindow) {
  KernelProgram kernels(GetParam());
  kernels.add(wide_depthwise_of_any_window());
  for (const char* kernel : {"intarsia_dsp_depthwise_s16", "intarsia_dsp_depthwise_rectified_s16",
                             "intarsia_dsp_depthwise_limited_s16"})
    EXPECT_EQ(kernels.calls(kernel), GetParam() == std::string("cortex-m4")) << kernel;
  check(kernels);
}
TEST_P(EveryCore, WideSumsAndPoolings) {
  check_all(wide_sums_and_poolings());
}
TEST_P(EveryCore, WideProductsAndCurves) {
  check_all(wide_products_and_curves());
}
TEST_P(EveryCore, SquaredDifferences) {
  check_all(squared_differences());
}
TEST_P(EveryCore, Extremes) {
  KernelProgram kernels(GetParam());
  kernels.add(extremes());
  const bool with_simd =
      GetParam() == std::string("cortex-m4") || GetParam() == std::string("cortex-m55");
  for (const char* kernel : {"larger_s8", "larger_s16", "smaller_s8", "smaller_s16", "clamp_s16"})
    EXPECT_EQ(kernels.calls(std::string("intarsia_each_") + kernel), with_simd) << kernel;
  check(kernels);
}
TEST_P(EveryCore, NormalizedRows) {
  KernelProgram kernels(GetParam());
  kernels.add(normalized_rows());
  const bool with_simd =
      GetParam() == std::string("cortex-m4") || GetParam() == std::string("cortex-m55");
  EXPECT_EQ(kernels.calls("intarsia_log_softmax_table_s8"), GetParam() != std::string("rv32imc"));
  EXPECT_EQ(kernels.calls("intarsia_l2_normalize_rows_s8"), with_simd);
  check(kernels);
}
TEST_P(EveryCore, WideMatrixProducts) {
  check_all(wide_matrix_products());
}
TEST_P(EveryCore, WideStagedConvolutions) {
  check_all(wide_staged_convolutions());
}
TEST_P(EveryCore, ConstantOperands) {
  check_all(constants_and_tables());
}
TEST_P(EveryCore, Additions) {
  check_all(additions());
}
TEST_P(EveryCore, DifferencesAndProducts) {
  check_all(differences_and_products());
}

TEST_P(EveryCore, Prelus) {
  check_all(prelus());
}

TEST_P(EveryCore, ComparisonsAndQuotients) {
  KernelProgram kernels(GetParam());
  kernels.add(comparisons_and_quotients());
  for (const char* kernel :
       {"intarsia_each_above_s8", "intarsia_each_between_s8", "intarsia_each_quotient_s8"})
    EXPECT_TRUE(kernels.calls(kernel)) << kernel;
  check(kernels);
}

// Of a constant of one element, where there are many of the others.
TEST_P(EveryCore, ConstantsOfOneElementAreLookedUp) {
  KernelProgram kernels(GetParam());
  Random random(41);
  for (const OpKind kind : {OpKind::Mul, OpKind::Maximum, OpKind::Minimum, OpKind::Greater,
                            OpKind::LessEqual, OpKind::Equal, OpKind::SquaredDifference})
    for (const bool first : {false, true}) kernels.add(looked_up_module(random, kind, 130, first));
  EXPECT_TRUE(kernels.calls("intarsia_each_lookup_s8"));
  EXPECT_FALSE(kernels.calls("intarsia_each_product_s8"));
  check(kernels);
}

// Where products of several weights share a word, how many depends on their size.
TEST_P(EveryCore, WeightsOfEverySize) {
  std::vector<graph::Module> modules;
  Random random(31);
  for (const int64_t most : {1, 9, 31, 64, 127, 128})
    for (WindowCase c : {WindowCase{OpKind::Conv2d, 1, 6, 5, 12, 5, 3, 3, 1},
                         {OpKind::Conv2d, 2, 3, 3, 52, 6, 1, 1, 1},
                         {OpKind::Conv2d, 1, 5, 4, 64, 3, 3, 3, 1},
                         {OpKind::Conv2d, 1, 1, 9, 300, 2, 1, 1, 1},
                         {OpKind::DepthwiseConv2d, 1, 7, 4, 5, 5, 3, 3, 1},
                         {OpKind::DepthwiseConv2d, 1, 3, 8, 6, 6, 3, 3, 2}}) {
      c.most_weight = most;
      modules.push_back(window_module(random, c));
    }
  check_all(std::move(modules));
}

TEST_P(EveryCore, ClangCompilesThemWithoutAWarning) {
  const std::vector<std::string> compilers = testing::c_compilers();
  if (std::find(compilers.begin(), compilers.end(), "clang") == compilers.end())
    GTEST_SKIP() << needs("clang") << "it is not installed";
  KernelProgram kernels(GetParam());
  Random random(5);
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 6, 6, 8, 12, 3, 3, 1}));
  kernels.add(window_module(random, {OpKind::DepthwiseConv2d, 1, 6, 6, 16, 16, 3, 3, 1}));
  check(kernels, "clang");
}

// Shapes of networks do not fall back to loops, where these are not faster: maps of few pixels on cores without SIMD.
TEST_P(EveryCore, TakesWhatNetworksAreMadeOf) {
  KernelProgram kernels(GetParam());
  Random random(6);
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 12, 10, 1, 64, 10, 4, 2}));
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 9, 9, 3, 8, 3, 3, 2}));
  kernels.add(window_module(random, {OpKind::Conv2d, 1, 5, 5, 64, 64, 1, 1, 1}));
  kernels.add(fully_connected_module(random, 1, 64, 12));
  kernels.add(window_module(random, {OpKind::DepthwiseConv2d, 1, 25, 20, 16, 16, 3, 3, 1}));
  kernels.add(window_module(random, {OpKind::DepthwiseConv2d, 1, 33, 33, 8, 8, 5, 5, 2}));
  EXPECT_EQ(kernels.tuned(), kernels.count());
  check(kernels);
}

// Small code shares the kernel for limited results; otherwise each range has its own.
TEST(Optimise, SizeSharesKernels) {
  for (const auto optimise : {LoweringOptions::Optimise::Size, LoweringOptions::Optimise::Speed}) {
    KernelProgram kernels("cortex-m4");
    Random random(10);
    WindowCase c{OpKind::Conv2d, 1, 6, 6, 8, 12, 3, 3, 1};
    kernels.add(window_module(random, c), optimise);
    c.activation = graph::Activation::ReluN1To1;
    kernels.add(window_module(random, c), optimise);
    EXPECT_TRUE(kernels.calls("intarsia_dsp_conv_by_four_limited_s8"));
    EXPECT_EQ(kernels.calls("intarsia_dsp_conv_by_four_s8"),
              optimise == LoweringOptions::Optimise::Speed);
    check(kernels);
  }
}

// All 65536 pairs of operands, for scales from where most results saturate to where few differ from the zero point.
TEST_P(EveryCore, EveryPairOfOperands) {
  KernelProgram kernels(GetParam());
  Random random(17);
  for (int i = 0; i < 12; ++i)
    for (const OpKind kind : {OpKind::Sub, OpKind::Mul})
      kernels.add(binary_module(random, kind, {256, 256}, {256, 256}));
  EXPECT_EQ(kernels.tuned(), kernels.count());
  check(kernels, "gcc", [](Random&, const graph::Module&) {
    std::vector<graph::TensorValue> values(2);
    for (int pair = 0; pair < 65536; ++pair) {
      values[0].push_back(static_cast<uint8_t>(pair >> 8));
      values[1].push_back(static_cast<uint8_t>(pair));
    }
    return values;
  });
}

TEST(WideElements, ShapesOfNetworksAreKernels) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    Random random(38);
    kernels.add(wide_matmul_module(random, {2, 32, 16}, {2, 16, 32}, false));
    kernels.add(wide_matmul_module(random, {32, 16}, {32, 16}, true));
    WideCase c{OpKind::TransposeConv2d, 6, 6, 16, 8, 2, 2, 2};
    kernels.add(staged_wide_module(random, c, 1));
    c.kernel_h = c.kernel_w = 3;
    kernels.add(staged_wide_module(random, c, 1));
    c.kind = OpKind::Conv2d, c.stride = 1;
    kernels.add(staged_wide_module(random, c, 2));
    EXPECT_EQ(kernels.tuned(), kernels.count());
    EXPECT_TRUE(kernels.calls("intarsia_matmul_s16"));
    check(kernels);
    KernelProgram dilated(core);
    c.height = c.width = 12, c.dilation = 2, c.padding = {2, 2, 2, 2};
    dilated.add(staged_wide_module(random, c, 1));
    KernelProgram row(core);
    row.add(wide_module(random, {OpKind::FullyConnected, 1, 1, 27, 7}));
    EXPECT_EQ(row.calls("intarsia_mve_dense_s16"), core == std::string("cortex-m55"));
    check(row);
    EXPECT_TRUE(dilated.calls("intarsia_staged_dsp_conv_s16") ||
                dilated.calls("intarsia_staged_mve_conv_s16"))
        << core;
    check(dilated);
  }
}

// All values of an element, in a curve and by itself: -32768 squared is the largest product.
TEST(WideElements, EveryValue) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    Random random(36);
    constexpr int64_t kValues = 65536;
    for (const OpKind kind : {OpKind::Logistic, OpKind::Tanh})
      for (const float scale : {0.0001f, 0.0003f, 1.0f / 4096})
        kernels.add(wide_curve_module(random, kind, kValues, scale));
    for (const float scale : {0.00003f, 0.0002f, 0.0003f, 1.0f / 4096})
      for (const float ratio : {0.01f, 0.4f, 0.9983f, 1.0f, 3.0f, 77.0f})
        for (const OpKind kind : {OpKind::HardSwish, OpKind::Quantize, OpKind::Relu})
          kernels.add(wide_curve_module(random, kind, kValues, scale, scale * ratio));
    for (const float steps : {100000.0f, 32767.5f, 32768.0f, 16384.0f, 5.0f})
      kernels.add(
          wide_product_module(random, {kValues}, {kValues}, steps, graph::Activation::None));
    EXPECT_TRUE(kernels.calls("intarsia_each_sigmoid_s16"));
    EXPECT_TRUE(kernels.calls("intarsia_each_tanh_s16"));
    EXPECT_TRUE(kernels.calls("intarsia_each_product_s16"));
    EXPECT_TRUE(kernels.calls("intarsia_each_hard_swish_s16"));
    EXPECT_TRUE(kernels.calls("intarsia_each_rescale_s16"));
    EXPECT_TRUE(kernels.calls("intarsia_each_relu_s16"));
    check(kernels, "gcc", [](Random&, const graph::Module& module) {
      std::vector<graph::TensorValue> values(module.entry_function().inputs.size());
      for (graph::TensorValue& value : values)
        for (int64_t i = 0; i < kValues; ++i)
          value.push_back(static_cast<uint8_t>(i)), value.push_back(static_cast<uint8_t>(i >> 8));
      return values;
    });
  }
}

// Each difference from the largest element beside it, by the factors of usual scales, of scales so coarse that few are not zero,
// and by one that is shifted to the left.
TEST(WideSoftmax, EveryDifference) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    Random random(39);
    constexpr int64_t kValues = 65536;
    for (const float scale : {1.0f / 32768, 0.0004f, 10.0f / 65535, 0.01f, 1.3f})
      kernels.add(wide_softmax_module(random, kValues, 2, scale, 1));
    EXPECT_TRUE(kernels.calls("intarsia_softmax_rows_s16"));
    check(kernels, "gcc", [](Random&, const graph::Module&) {
      graph::TensorValue value;
      for (int64_t i = 0; i < kValues; ++i)
        for (const int64_t element : {int64_t{32767}, i})
          value.push_back(static_cast<uint8_t>(element)),
              value.push_back(static_cast<uint8_t>(element >> 8));
      return std::vector<graph::TensorValue>{value};
    });
  }
}

TEST(WideSoftmax, RowsOfAnyLength) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    Random random(40);
    for (const int64_t count : {1, 2, 7, 8, 9, 40, 1001})
      for (const float beta : {0.3f, 1.0f, 2.5f})
        kernels.add(wide_softmax_module(random, 3, count, random.real(0.00001f, 0.001f), beta));
    EXPECT_TRUE(kernels.calls("intarsia_softmax_rows_s16"));
    check(kernels);
  }
  KernelProgram coarse("cortex-m4");
  Random random(41);
  coarse.add(wide_softmax_module(random, 3, 9, 30, 1));
  EXPECT_FALSE(coarse.calls("intarsia_softmax_rows_s16"));
  check(coarse);
}

// Of all elements, with zero points at the ends and between, and a square.
TEST(WideElements, FromOneScaleAndZeroPointToOthers) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    Random random(37);
    const auto q = [](float scale, int64_t zero_point) {
      return graph::Quantization{{scale}, {zero_point}, 0};
    };
    constexpr DataType kByte = DataType::Int8, kWord = DataType::Int16;
    for (const float ratio : {0.003f, 0.41f, 1.0f, 3.7f, 128.0f, 5000.0f}) {
      for (const int64_t zero : {-128, -3, 0, 127}) {
        kernels.add(
            requantize_module(random, kByte, q(0.02f * ratio, zero), kWord, q(0.02f, 0), 256));
        kernels.add(requantize_module(random, kByte, q(0.02f * ratio, -zero - 1), kWord,
                                      q(0.02f, 99 * zero), 256));
        kernels.add(
            requantize_module(random, kWord, q(0.02f * ratio, 0), kByte, q(0.02f, zero), 65536));
        kernels.add(requantize_module(random, kWord, q(0.02f * ratio, 250 * zero), kWord,
                                      q(0.02f, 200 * zero + 1), 65536));
      }
    }
    kernels.add(square_module(random, 65536, 1.0f / 32767, 1.0f / 32767));
    for (const char* kernel :
         {"requantize_s16", "requantize_s8_s16", "requantize_s16_s8", "product_s16"})
      EXPECT_TRUE(kernels.calls(std::string("intarsia_each_") + kernel)) << kernel;
    check(kernels, "gcc", [](Random&, const graph::Module& module) {
      const graph::Tensor& input =
          module.entry_function().tensor(module.entry_function().inputs[0]);
      graph::TensorValue value;
      for (int64_t i = 0; i < element_count(input.shape); ++i) {
        value.push_back(static_cast<uint8_t>(i));
        if (input.type == DataType::Int16) value.push_back(static_cast<uint8_t>(i >> 8));
      }
      return std::vector<graph::TensorValue>{value};
    });
  }
}

TEST(Resizing, IsAsTheEvaluatorHasIt) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    kernels.add(resizings());
    EXPECT_TRUE(kernels.calls("intarsia_resize_bilinear_s8"));
    EXPECT_TRUE(kernels.calls("intarsia_resize_bilinear_s16"));
    check(kernels);
  }
  // Weights that a kernel's sums have no room for are the loops'.
  Random random(42);
  for (const int64_t width : {2047, 20000}) {
    KernelProgram kernels("cortex-m4");
    kernels.add(resize_module(random, DataType::Int8, {1, 1, 10, 4}, {1, width, false, false}));
    EXPECT_EQ(kernels.calls("intarsia_resize_bilinear_s8"), width == 2047);
    check(kernels);
  }
}

TEST(Hybrid, IsBitForBitAsTheLoops) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    kernels.add(hybrid_layers());
    const std::string name = core == std::string("cortex-m4") ? "dsp" : "mve";
    EXPECT_TRUE(kernels.calls("intarsia_staged_" + name + "_hybrid"));
    EXPECT_TRUE(kernels.calls("intarsia_hybrid_depthwise"));
    check(kernels);
  }
}

TEST(Shifted, WeightsOfNineBitsAreKernels) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    kernels.add(shifted_layers());
    EXPECT_TRUE(kernels.calls("intarsia_staged_dsp_shifted_s8"));
    EXPECT_EQ(kernels.calls("intarsia_staged_mve_shifted_s8"), core == std::string("cortex-m55"));
    EXPECT_EQ(kernels.calls("intarsia_mve_depthwise_wide_s8"), core == std::string("cortex-m55"));
    EXPECT_EQ(kernels.tuned(), kernels.count());
    check(kernels);
  }
}

// Rows whose numbers are steps and halves of them, and rows of zeros.
graph::TensorValue rows_of_halves(Random& random, const graph::Module& module) {
  const graph::Function& function = module.entry_function();
  const int64_t rows = function.nodes[0].attrs<graph::QuantizeRowsAttrs>().rows,
                count = element_count(function.tensor(function.inputs[0]).shape) / rows;
  graph::TensorValue bytes;
  for (int64_t row = 0; row < rows; ++row) {
    const bool zeros = random.chance(10);
    for (int64_t i = 0; i < count; ++i) {
      float value = static_cast<float>(random.range(-254, 254)) * 0.5f;
      if (i < 2) value = i == 0 ? 127.0f : -128.0f;
      if (random.chance(20)) value = std::nextafter(value, random.chance(50) ? 1e9f : -1e9f);
      if (zeros) value = 0;
      const auto* of_value = reinterpret_cast<const uint8_t*>(&value);
      bytes.insert(bytes.end(), of_value, of_value + sizeof value);
    }
  }
  return bytes;
}

TEST(Rows, OfFloatsBecomeSteps) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    kernels.add(rows_to_steps());
    EXPECT_TRUE(kernels.calls("intarsia_row_to_steps"));
    EXPECT_TRUE(kernels.calls("intarsia_row_to_steps_asymmetric"));
    EXPECT_TRUE(kernels.calls("intarsia_rows_to_steps_together"));
    check(kernels);
    check(kernels, "gcc", [](Random& random, const graph::Module& module) {
      return std::vector<graph::TensorValue>{rows_of_halves(random, module)};
    });
  }
}

TEST(Elements, OfFloatsAndThoseThatMove) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    kernels.add(float_elements());
    kernels.add(moved_rows());
    for (const char* name : {"each_sum_f32", "each_difference_f32", "each_product_f32",
                             "copy_rows_s8", "copy_rows_s16", "copy_rows_f32", "pick_rows_s8",
                             "pick_rows_s16", "turn_s8", "turn_s16", "turn_f32"})
      EXPECT_TRUE(kernels.calls(std::string("intarsia_") + name)) << name;
    check(kernels);
  }
}

TEST(FloatCurves, AreTheScalarFunctions) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core);
    kernels.add(float_curves());
    for (const char* name : {"each_exp", "each_logistic", "each_tanh", "each_hard_swish",
                             "each_elu", "each_gelu_tanh", "softmax_rows"})
      EXPECT_TRUE(kernels.calls(fmt::format("intarsia_{}_f32", name))) << core << " " << name;
    EXPECT_EQ(kernels.calls("intarsia_each_gelu_f32"), core == std::string("cortex-m55"));
    check(kernels, "gcc", [](Random& random, const graph::Module& module) {
      return std::vector<graph::TensorValue>{floats_of_curves(random, module)};
    });
  }
}

// Of a beta below zero the largest element has the least share.
TEST(FloatCurves, SoftmaxOfOrderTurnedRoundIsLoops) {
  KernelProgram kernels("cortex-m4");
  Random random(44);
  kernels.add(float_softmax_module(random, 3, 9, -0.5f));
  EXPECT_FALSE(kernels.calls("intarsia_softmax_rows_f32"));
  check(kernels);
}

TEST(FloatSteps, HalvesAndWhatIsNoNumber) {
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    KernelProgram kernels(core), back(core);
    kernels.add(floats_to_steps());
    EXPECT_TRUE(kernels.calls("intarsia_quantize_f32_s8"));
    EXPECT_TRUE(kernels.calls("intarsia_quantize_f32_s16"));
    check(kernels, "gcc", [](Random& random, const graph::Module& module) {
      return std::vector<graph::TensorValue>{floats_between_steps(random, module)};
    });
    back.add(steps_to_floats());
    EXPECT_TRUE(back.calls("intarsia_dequantize_s8_f32"));
    EXPECT_TRUE(back.calls("intarsia_dequantize_s16_f32"));
    check(back);
  }
}

// All values of a byte, and counts that fill no vector.
TEST_P(EveryCore, Lookups) {
  KernelProgram kernels(GetParam());
  Random random(39);
  for (const OpKind kind :
       {OpKind::Logistic, OpKind::Tanh, OpKind::HardSwish, OpKind::LeakyRelu, OpKind::Quantize})
    for (const int64_t count : {1, 3, 4, 16, 17, 256, 1000})
      kernels.add(byte_function_module(random, kind, count));
  EXPECT_TRUE(kernels.calls("intarsia_each_lookup_s8"));
  check(kernels, "gcc", [](Random&, const graph::Module& module) {
    graph::TensorValue value;
    for (int64_t i = 0;
         i < element_count(module.entry_function().tensor(module.entry_function().inputs[0]).shape);
         ++i)
      value.push_back(static_cast<uint8_t>(i));
    return std::vector<graph::TensorValue>{value};
  });
}

// What is taken off one constant, or added to one, as unrolled recurrent layers have it: one step for all values of the other operand.
TEST_P(EveryCore, ConstantsAreOperandsOfKernels) {
  KernelProgram kernels(GetParam());
  Random random(37);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub})
    for (const bool first : {false, true})
      for (int i = 0; i < 4; ++i)
        kernels.add(constant_operand_module(random, kind, DataType::Int8, {1, 64}, {1}, first));
  EXPECT_EQ(kernels.tuned(), kernels.count());
  check(kernels);
}

TEST(Broadcasting, ProductsByChannelAreKernels) {
  KernelProgram kernels("cortex-m4");
  Random random(18);
  kernels.add(binary_module(random, OpKind::Mul, {1, 4, 4, 8}, {1, 1, 1, 8}));
  kernels.add(binary_module(random, OpKind::Mul, {8}, {1, 4, 4, 8}));
  EXPECT_EQ(kernels.tuned(), kernels.count());
  check(kernels);
}

TEST_P(EveryCore, MeansAndSums) {
  check_all(means_and_sums());
}

INSTANTIATE_TEST_SUITE_P(CortexM, EveryCore,
                         ::testing::Values("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55",
                                           "rv32imc"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace intarsia::test::cortex_m
