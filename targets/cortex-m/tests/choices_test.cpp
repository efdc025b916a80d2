// Which kernel an operator gets, on both sides of every limit: of sums, shifts, scratch, shapes and ranges.
#include <algorithm>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "compiler/kernel_costs.h"
#include "compiler/kernels.h"
#include "kernel_cases.h"
#include "kernel_program.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;
using targets::cortex_m::CoreClass;
using targets::cortex_m::KernelFamily;
using targets::cortex_m::KernelWork;
using targets::cortex_m::operator_work;
using targets::cortex_m::OperatorWork;

constexpr int64_t kQuick = int64_t{1} << 30;  // sums of the quick arithmetic stay below

// A fully connected layer whose weights are all `weight`, but for those of the channels in `others`; scales are such that
// results are sums times `ratio`.
struct Layer {
  int64_t rows = 1, inputs = 4, outputs = 4, bias = 0, in_zero = 0, out_zero = 0;
  double ratio = 1.0 / 256;
  std::optional<double> last_ratio = {};  // of the last channel
  int weight = 1;
  std::optional<int> first = {}, second = {};
  graph::Activation activation = graph::Activation::None;
};

graph::Module module_of(const Layer& layer) {
  Random random(3);
  graph::Module module = fully_connected_module(random, layer.rows, layer.inputs, layer.outputs);
  graph::Function& function = module.functions[0];
  std::vector<uint8_t> weights, biases;
  for (int64_t c = 0; c < layer.outputs; ++c) {
    const int weight = c == 0   ? layer.first.value_or(layer.weight)
                       : c == 1 ? layer.second.value_or(layer.weight)
                                : layer.weight;
    weights.insert(weights.end(), static_cast<size_t>(layer.inputs), static_cast<uint8_t>(weight));
    for (int byte = 0; byte < 4; ++byte)
      biases.push_back(static_cast<uint8_t>(static_cast<uint64_t>(layer.bias) >> (8 * byte)));
  }
  function.nodes[0].attributes = [&] {
    graph::FullyConnectedAttrs attrs;
    attrs.activation = layer.activation;
    return attrs;
  }();
  for (const graph::TensorId id : function.nodes[0].inputs) {
    graph::Tensor& tensor = function.tensors[static_cast<size_t>(id.index)];
    if (!tensor.constant.valid()) {
      tensor.quantization = {{1.0f}, {layer.in_zero}, 0};
      continue;
    }
    const auto constant = static_cast<size_t>(tensor.constant.index);
    module.constants[constant].bytes = tensor.type == DataType::Int8 ? weights : biases;
    tensor.quantization.scale.assign(
        layer.last_ratio ? static_cast<size_t>(layer.outputs) : tensor.quantization.scale.size(),
        static_cast<float>(layer.ratio));
    if (layer.last_ratio) tensor.quantization.scale.back() = static_cast<float>(*layer.last_ratio);
  }
  function.tensors[static_cast<size_t>(function.outputs[0].index)].quantization = {
      {1.0f}, {layer.out_zero}, 0};
  return module;
}

// The name of the kernel that is called; empty for loops.
std::string kernel_of(const std::string& core, graph::Module module) {
  KernelProgram program(core);
  program.add(std::move(module));
  const std::string text = program.text();
  const size_t end = text.find("(&");
  if (program.tuned() == 0 || end == std::string::npos) return "";
  const size_t begin = text.find_last_of(" \n", end) + 1;
  return text.substr(begin, end - begin);
}
std::string kernel_of(const std::string& core, const Layer& layer) {
  return kernel_of(core, module_of(layer));
}

// A field of the only window of a module's program; 0 where there is none.
int64_t field_of(const std::string& core, graph::Module module, const std::string& field) {
  KernelProgram program(core);
  program.add(std::move(module));
  const std::string text = program.text(), before = "." + field + " = ";
  const size_t at = text.find(before);
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + before.size()));
}

TEST(Choices, QuickSumsStayBelow2To30) {
  const Layer layer;
  const int64_t products = layer.inputs * 128;  // the most that they add up to
  for (const int64_t sign : {1, -1}) {
    EXPECT_EQ(kernel_of("cortex-m4", Layer{.bias = sign * (kQuick - 1 - products)}),
              "intarsia_dsp_dense_s8");
    EXPECT_EQ(kernel_of("cortex-m4", Layer{.bias = sign * (kQuick - products)}),
              "intarsia_dsp_dense_any_s8");
  }
  // The input's zero point joins the bias.
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.bias = kQuick - 1 - products - 4 * 7, .in_zero = -7}),
            "intarsia_dsp_dense_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.bias = kQuick - products - 4 * 7, .in_zero = -7}),
            "intarsia_dsp_dense_any_s8");
  // So do 32 bits bound what any kernel adds up.
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.bias = kMost - products}), "intarsia_dsp_dense_any_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.bias = kMost - products + 1}), "");
}

TEST(Choices, QuickShiftsAreOneToTwentyTwo) {
  const auto at = [](int exponent, int64_t bias) {
    return kernel_of("cortex-m4", Layer{.bias = bias, .ratio = std::ldexp(1.0, exponent)});
  };
  constexpr int64_t kLarge = 1 << 24;
  EXPECT_EQ(at(-1, 0), "intarsia_dsp_dense_any_s8");  // 2^-1 is one half times 2^0
  EXPECT_EQ(at(-2, 0), "intarsia_dsp_dense_s8");
  EXPECT_EQ(at(-23, kLarge), "intarsia_dsp_dense_s8");
  EXPECT_EQ(at(-24, kLarge), "intarsia_dsp_dense_any_s8");
  // Sums that are shifted away altogether: 2^22 is half of the last bit of a shift by 23.
  EXPECT_EQ(at(-24, (1 << 22) - 1 - 512), "intarsia_dsp_dense_s8");
  EXPECT_EQ(at(-24, (1 << 22) - 512), "intarsia_dsp_dense_any_s8");
  // Without weights the result is constant, whatever the scale.
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.bias = 3, .ratio = 4.0, .weight = 0}),
            "intarsia_dsp_dense_s8");
}

TEST(Choices, TwoWeightsHaveToFitAHalfword) {
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.first = -1, .second = -128}), "intarsia_thumb_conv_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.first = 0, .second = -128}), "intarsia_dsp_dense_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.first = -128, .second = -127}), "intarsia_dsp_dense_s8");
}

TEST(Choices, DenseLayersHaveOneRow) {
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.rows = 2}), "intarsia_dsp_conv_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.outputs = 5}), "intarsia_dsp_dense_s8");
}

// Of words and of four channels: rows are filled up, and results of fewer channels copied, where that is sooner done than widening the row.
TEST(Choices, RowsAreFilledUpForDenseLayers) {
  for (const int64_t inputs : {1, 3, 5, 10, 30, 33, 129})
    for (const int64_t outputs : {1, 3, 4, 24}) {
      SCOPED_TRACE(fmt::format("{} to {}", inputs, outputs));
      const Layer layer{.inputs = inputs, .outputs = outputs};
      EXPECT_EQ(kernel_of("cortex-m4", layer), "intarsia_dsp_dense_s8");
      EXPECT_EQ(field_of("cortex-m4", module_of(layer), "in_c"), (inputs + 3) / 4 * 4);
      EXPECT_EQ(field_of("cortex-m4", module_of(layer), "out_c"), std::max<int64_t>(outputs, 4));
    }
}

// The table of others has numbers of each channel.
TEST(Choices, RowsWhoseChannelsAreAlikeShareTheirNumbersOnHelium) {
  EXPECT_EQ(kernel_of("cortex-m55", Layer{}), "intarsia_mve_dense_shared_s8");
  EXPECT_EQ(kernel_of("cortex-m55", Layer{.outputs = 9}), "intarsia_mve_dense_shared_s8");
  EXPECT_EQ(kernel_of("cortex-m55", Layer{.outputs = 9, .last_ratio = 1.0 / 300}),
            "intarsia_mve_dense_s8");
  EXPECT_EQ(kernel_of("cortex-m55", Layer{.rows = 2}), "intarsia_mve_conv_s8");
}

// What a halfword of two weights leaves to the second sum is 24 bits. Beyond, a row is read where it lies: widened it would take
// twice its bytes.
TEST(Choices, LongSumsOfOneRowTakeNoScratch) {
  const auto at = [](int64_t inputs, int64_t outputs) {
    return kernel_of("cortex-m4", Layer{.inputs = inputs, .outputs = outputs, .weight = 127});
  };
  EXPECT_EQ(at(512, 4), "intarsia_dsp_dense_s8");
  EXPECT_EQ(at(520, 4), "intarsia_thumb_conv_s8");
  EXPECT_EQ(at(2048, 3), "intarsia_dsp_conv_s8");
  EXPECT_EQ(at(2052, 3), "intarsia_thumb_conv_s8");
}

TEST(Choices, RangesHaveKernelsOfTheirOwn) {
  constexpr auto kRelu = graph::Activation::Relu;
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.rows = 4, .out_zero = -128}),
            "intarsia_dsp_conv_rectified_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.rows = 4, .out_zero = -128, .activation = kRelu}),
            "intarsia_dsp_conv_rectified_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.rows = 4, .out_zero = -127}), "intarsia_dsp_conv_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.rows = 4, .out_zero = -127, .activation = kRelu}),
            "intarsia_dsp_conv_limited_s8");
  EXPECT_EQ(kernel_of("cortex-m4", Layer{.rows = 4, .ratio = 0.5, .activation = kRelu}),
            "intarsia_dsp_conv_any_s8");
  EXPECT_EQ(kernel_of("cortex-m0", Layer{.activation = kRelu}), "intarsia_thumb_conv_limited_s8");
}

// 16 kB of scratch at most: pairs of four pixels, or of one, and a copy of the window where it is not made of words.
TEST(Choices, ScratchIsBounded) {
  const auto at = [](const char* core, int64_t rows, int64_t inputs) {
    return kernel_of(core, Layer{.rows = rows, .inputs = inputs, .outputs = 5});
  };
  const std::string conv = "intarsia_dsp_conv_s8";
  EXPECT_EQ(at("cortex-m4", 4, 2048), conv);
  EXPECT_EQ(at("cortex-m4", 4, 2052), "");
  EXPECT_EQ(at("cortex-m4", 4, 1818), conv);  // 1820 bytes nine times
  EXPECT_EQ(at("cortex-m4", 4, 1821), "");
  EXPECT_EQ(at("cortex-m4", 3, 8192), conv);
  EXPECT_EQ(at("cortex-m4", 3, 8196), "");
  EXPECT_EQ(at("cortex-m4", 2, 5459), conv);
  EXPECT_EQ(at("cortex-m4", 2, 5461), "");
  // Six pixels share 64-bit products; beyond 16 kB one by one.
  EXPECT_EQ(at("cortex-m3", 6, 1364), "intarsia_long_conv_s8");
  EXPECT_EQ(at("cortex-m3", 6, 1368), "intarsia_thumb_conv_s8");
  EXPECT_EQ(at("cortex-m3", 6, 1167), "intarsia_long_conv_s8");
  EXPECT_EQ(at("cortex-m3", 6, 1169), "intarsia_thumb_conv_s8");
  EXPECT_EQ(at("cortex-m3", 5, 64), "intarsia_thumb_conv_s8");
  EXPECT_EQ(at("cortex-m0", 6, 64), "intarsia_thumb_conv_s8");
}

// Inputs of an SVDF layer are widened to 16 bits first. Scales are random: not all of them suit the kernels.
TEST(Choices, ScratchOfRecurrentLayersIsBounded) {
  const auto has_kernel = [](int64_t inputs) {
    for (uint32_t seed = 0; seed < 8; ++seed) {
      Random random(seed);
      KernelProgram program("cortex-m4");
      program.add(svdf_module(random, DataType::Int8, inputs, 2, 2));
      if (program.tuned() != 0) return true;
    }
    return false;
  };
  EXPECT_TRUE(has_kernel(8192));
  EXPECT_FALSE(has_kernel(8193));
}

TEST(Choices, ShapesFitSixteenBits) {
  EXPECT_EQ(kernel_of("cortex-m0", Layer{.inputs = 32767}), "intarsia_thumb_conv_s8");
  EXPECT_EQ(kernel_of("cortex-m0", Layer{.inputs = 32768}), "");
}

std::string pooling(const char* core, OpKind kind, int64_t filter_h, int64_t filter_w,
                    int64_t channels, int64_t stride = 1) {
  Random random(5);
  return kernel_of(
      core, plain_module(
                random, kind,
                graph::Pool2dAttrs{filter_h, filter_w, stride, stride, {}, graph::Activation::None},
                {1, 17, 18, channels}));
}

// Rows first and then columns where that saves more cycles than its code is worth; else pixel by pixel.
TEST(Choices, PoolingByRowsPaysWhereItSavesMuch) {
  for (const auto& [kind, kernel] :
       {std::pair{OpKind::AveragePool2d, "intarsia_rows_average_pool_s8"},
        {OpKind::MaxPool2d, "intarsia_rows_max_pool_s8"}}) {
    EXPECT_EQ(pooling("cortex-m4", kind, 3, 3, 3), kernel);
    EXPECT_EQ(pooling("cortex-m4", kind, 2, 2, 40, 2), kernel);
    EXPECT_EQ(pooling("cortex-m55", kind, 3, 3, 40), kernel);
    EXPECT_EQ(pooling("cortex-m4", kind, 2, 2, 1, 2), "");
    EXPECT_EQ(pooling("cortex-m3", kind, 3, 3, 40), "");
  }
  EXPECT_EQ(pooling("cortex-m4", OpKind::MaxPool2d, 3, 3, 4, 3), "intarsia_max_pool_s8");
}

// Averages of four elements, where sixteen channels share what a pixel takes; of four channels loops take no longer.
TEST(Choices, SmallAveragesOfManyChannelsHaveAKernelOnDsp) {
  EXPECT_EQ(pooling("cortex-m4", OpKind::AveragePool2d, 1, 4, 16, 4), "intarsia_average_pool_s8");
  EXPECT_EQ(pooling("cortex-m4", OpKind::AveragePool2d, 1, 4, 4, 4), "");
}

// A vector, or some words, of places serve all pixels.
TEST(Choices, ChannelsThatAreShuffledArePicked) {
  const auto is_picked = [](const char* core, const Shape& shape) {
    Random random(6);
    KernelProgram program(core);
    program.add(moved_module(random, OpKind::Transpose, DataType::Int8, shape,
                             graph::TransposeAttrs{{0, 1, 2, 4, 3}}));
    return program.calls("intarsia_pick_rows_s8");
  };
  for (const char* core : {"cortex-m4", "cortex-m55"}) {
    EXPECT_TRUE(is_picked(core, {1, 8, 8, 3, 8})) << core;
    EXPECT_FALSE(is_picked(core, {1, 1, 3, 3, 8})) << core;
  }
  EXPECT_FALSE(is_picked("cortex-m4", {1, 8, 8, 3, 100}));
}

TEST(Choices, MeansPayWhereSumsAreLong) {
  const auto mean = [](const char* core, int64_t count, int64_t inner, int64_t outer = 2) {
    Random random(6);
    return kernel_of(core, plain_module(random, OpKind::Mean, graph::ReduceAttrs{{1}, true},
                                        {outer, count, inner})) == "intarsia_mean_s8";
  };
  EXPECT_TRUE(mean("cortex-m4", 4, 4));
  EXPECT_FALSE(mean("cortex-m4", 3, 4));
  EXPECT_FALSE(mean("cortex-m4", 9, 3));
  EXPECT_TRUE(mean("cortex-m4", 64, 1));
  EXPECT_FALSE(mean("cortex-m4", 63, 1));
  EXPECT_TRUE(mean("cortex-m4", 24, 1, 64));
  EXPECT_FALSE(mean("cortex-m4", 7, 1, 640));
  EXPECT_TRUE(mean("cortex-m55", 16, 1));
  EXPECT_FALSE(mean("cortex-m55", 15, 1));
  for (const char* core : {"cortex-m0", "cortex-m3"}) {
    EXPECT_TRUE(mean(core, 9, 8)) << core;
    EXPECT_FALSE(mean(core, 8, 8)) << core;
    EXPECT_FALSE(mean(core, 9, 6)) << core;
    EXPECT_FALSE(mean(core, 64, 1)) << core;
  }
}

TEST(Choices, SumsOfAnyStepHaveAKernelWhereTheyFit32Bits) {
  const auto sum = [](int64_t count, float step) {
    Random random(6);
    graph::Module module =
        plain_module(random, OpKind::Sum, graph::ReduceAttrs{{1}, true}, {2, count, 8});
    graph::Function& function = module.functions[0];
    function.tensors[function.outputs[0].at()].quantization.scale = {
        step * function.tensor(function.inputs[0]).quantization.scale[0]};
    return kernel_of("cortex-m4", std::move(module)) == "intarsia_mean_s8";
  };
  EXPECT_TRUE(sum(40, 8.0f));
  EXPECT_TRUE(sum(40, 1.0f));
  EXPECT_TRUE(sum(40, 0.1f));
  EXPECT_FALSE(sum(40, 1.0f / 131072));
}

TEST(Choices, ProductsShiftByOneToSixteen) {
  const auto product = [](int exponent) {
    Random random(7);
    graph::Module module = binary_module(random, OpKind::Mul, {2, 8}, {2, 8});
    for (graph::Tensor& tensor : module.functions[0].tensors) tensor.quantization.scale = {1.0f};
    module.functions[0]
        .tensors[static_cast<size_t>(module.functions[0].outputs[0].index)]
        .quantization.scale = {std::ldexp(1.0f, -exponent)};
    return kernel_of("cortex-m4", std::move(module)) == "intarsia_each_product_s8";
  };
  EXPECT_FALSE(product(-1));
  EXPECT_TRUE(product(-2));
  EXPECT_TRUE(product(-17));
  EXPECT_FALSE(product(-18));
}

// Each element reads its result from the table, which waits in a slow memory; a few hundred repay a copy.
TEST(Choices, TablesInASlowMemoryAreCopied) {
  const auto families = [](int64_t count, int64_t waits) {
    Random random(7);
    const graph::Module module = byte_function_module(random, OpKind::Logistic, count);
    const graph::Function& function = module.functions[0];
    const auto work = operator_work(CoreClass::Mve, module, function, function.nodes[0], waits);
    std::vector<KernelFamily> all;
    for (const KernelWork& part : work.value_or(OperatorWork{}).kernels) all.push_back(part.family);
    return all;
  };
  const std::vector<KernelFamily> alone{KernelFamily::Lookup},
      copied{KernelFamily::CopiedRows, KernelFamily::Lookup};
  EXPECT_EQ(families(1024, 0), alone);
  EXPECT_EQ(families(256, 1), alone);
  EXPECT_EQ(families(1024, 1), copied);
}

// As before a network is trained: what is below zero becomes nothing.
TEST(Choices, AlphasOfAlmostNothingHaveAKernel) {
  for (const float scale : {1e-30f, 1e-9f, 1e-3f}) {
    Random random(7);
    EXPECT_EQ(kernel_of("cortex-m4", prelu_of_almost_nothing(random, DataType::Int8, scale)),
              "intarsia_each_prelu_s8")
        << scale;
    EXPECT_EQ(kernel_of("cortex-m55", prelu_of_almost_nothing(random, DataType::Int16, scale)),
              "intarsia_each_prelu_s16")
        << scale;
  }
}

TEST(Choices, DepthwiseWindowsOfTheSmallCoresHaveFifteenRows) {
  const auto depthwise = [](int64_t rows) {
    Random random(8);
    return kernel_of("cortex-m0",
                     window_module(random, {OpKind::DepthwiseConv2d, 1, 18, 4, 2, 2, rows, 2, 1}));
  };
  EXPECT_TRUE(depthwise(15).starts_with("intarsia_thumb_depthwise")) << depthwise(15);
  EXPECT_EQ(depthwise(16), "");
}

TEST(Choices, DepthwiseOnDspHasAKernelForEveryWindow) {
  const auto depthwise = [](int64_t channels, int64_t outputs, int64_t dilation, int64_t stride) {
    Random random(9);
    WindowCase c{OpKind::DepthwiseConv2d, 1, 24, 24, channels, outputs, 3, 3, stride};
    c.dilation_w = dilation;
    return kernel_of("cortex-m4", window_module(random, c));
  };
  EXPECT_TRUE(depthwise(4, 4, 1, 1).starts_with("intarsia_dsp_depthwise_3x3_"));
  for (const auto& [channels, outputs, dilation, stride] :
       {std::tuple{3, 3, 1, 1}, {4, 8, 1, 1}, {4, 4, 2, 1}, {4, 4, 1, 3}})
    EXPECT_TRUE(
        depthwise(channels, outputs, dilation, stride).starts_with("intarsia_dsp_depthwise_"))
        << channels << " " << outputs << " " << dilation << " " << stride;
  EXPECT_EQ(depthwise(32, 32, 2, 2), "intarsia_dsp_depthwise_pixels_s8");
  EXPECT_EQ(depthwise(4, 8, 2, 2), "");  // nor for several outputs a channel with both
}

TEST(Choices, DepthwiseWindowsOfOneRowArePairsOfColumns) {
  const auto columns = [](int64_t rows, int64_t taps, int64_t dilation, int64_t stride) {
    Random random(9);
    WindowCase c{OpKind::DepthwiseConv2d, 1, rows, 64, 16, 16, rows, taps, stride};
    c.dilation_w = dilation, c.stride_w = stride;
    return field_of("cortex-m4", window_module(random, c), "group");
  };
  EXPECT_EQ(columns(1, 13, 1, 1), 1);
  EXPECT_EQ(columns(1, 9, 3, 1), 3);
  EXPECT_EQ(columns(1, 9, 1, 2), 1);
  EXPECT_EQ(columns(1, 9, 1, 3),
            0);  // an odd stride leaves the second column of a pair to other windows
  EXPECT_EQ(columns(2, 9, 1, 1), 0);
}

// Where most of each window is padding what is inside is taken pixel by pixel, if that saves what the code is worth.
TEST(Choices, DepthwiseWindowsThatAreMostlyPaddingAreTakenByPixels) {
  const auto depthwise = [](int64_t size, int64_t channels) {
    Random random(9);
    WindowCase c{OpKind::DepthwiseConv2d, 1, size, size, channels, channels, 5, 5, 1};
    c.padding = {2, 2, 2, 2}, c.small_multipliers = true;
    return kernel_of("cortex-m4", window_module(random, c));
  };
  EXPECT_EQ(depthwise(3, 256), "intarsia_dsp_depthwise_pixels_s8");
  EXPECT_TRUE(depthwise(3, 4).starts_with("intarsia_dsp_depthwise_")) << depthwise(3, 4);
  EXPECT_EQ(depthwise(3, 4).find("pixels"), std::string::npos) << depthwise(3, 4);
  EXPECT_EQ(depthwise(16, 64).find("pixels"), std::string::npos) << depthwise(16, 64);
}

// Groups of few channels are one convolution whose weights are mostly zero, which lays windows out once and has fuller blocks of channels.
TEST(Choices, GroupsOfFewChannelsAreOneConvolution) {
  const auto kernel = [](const char* core, int64_t inputs, int64_t outputs, int64_t size) {
    Random random(9);
    WindowCase c{OpKind::Conv2d, 1, 16, 16, inputs, outputs, size, size, 1};
    c.groups = 3, c.small_multipliers = true;
    return kernel_of(core, window_module(random, c));
  };
  EXPECT_TRUE(kernel("cortex-m0", 12, 15, 1).starts_with("intarsia_thumb_conv_"));
  EXPECT_TRUE(kernel("cortex-m4", 12, 15, 1).starts_with("intarsia_dsp_conv_"));
  EXPECT_EQ(kernel("cortex-m55", 12, 15, 1), "intarsia_mve_conv_s8");
  for (const char* core : {"cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"})
    EXPECT_TRUE(kernel(core, 96, 96, 3).starts_with("intarsia_staged_")) << core;
}

// How windows of a convolution are laid out on cores with DSP instructions, by the amounts of its kernel; empty where none are.
std::vector<double> windows_laid_out(WindowCase c) {
  Random random(9);
  c.small_multipliers = true;
  const graph::Module module = window_module(random, c);
  const graph::Function& function = module.functions[0];
  const auto work =
      operator_work(CoreClass::Dsp, module, function, function.nodes[0]).value_or(OperatorWork{});
  for (const KernelWork& part : work.kernels)
    if (part.family == KernelFamily::DspWindows) return part.amounts;
  return {};
}

// Rows of windows are filled up to words where laying four pixels out together saves more than products with the filling take, as of a
// first layer's three channels; not where there are many channels of results.
TEST(Choices, RowsOfWindowsAreFilledUpWhereThatSavesTime) {
  const auto fours = [](int64_t outputs) {
    return windows_laid_out({OpKind::Conv2d, 1, 33, 33, 3, outputs, 3, 3, 2}).at(0);
  };
  EXPECT_GT(fours(24), 0);
  EXPECT_EQ(fours(128), 0);
}

// All fours of an image whose first and last windows of a row are beside an edge, and whose rows are no fours, are laid out together but for
// those that would read before and behind the input.
TEST(Choices, WindowsBesideEdgesAreLaidOutWithTheirNeighbours) {
  const auto windows = [](int64_t width, int64_t channels, int64_t kernel) {
    WindowCase c{OpKind::Conv2d, 1, 12, width, channels, 24, kernel, kernel, 1};
    c.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    return windows_laid_out(c);
  };
  constexpr size_t kTogether = 0, kAlone = 3;
  const std::vector<double> fours = windows(12, 8, 3), others = windows(13, 8, 3);
  EXPECT_EQ(fours.at(kTogether),
            36 - 4);  // two rows of windows see the first row of the image, and two the last
  EXPECT_EQ(fours.at(kAlone), 4 * 4);
  EXPECT_GE(others.at(kTogether), 39 - 4);
  EXPECT_LE(others.at(kAlone), 4 * 12);
}

graph::Module padded_convolution(int64_t height, int64_t width, int64_t channels, int64_t outputs,
                                 int64_t kernel_h, int64_t kernel_w, int64_t stride = 1) {
  Random random(9);
  WindowCase c{OpKind::Conv2d, 1, height, width, channels, outputs, kernel_h, kernel_w, stride};
  c.padding = {(kernel_h - 1) / 2, (kernel_w - 1) / 2, kernel_h / 2, kernel_w / 2};
  return window_module(random, c);
}

// Windows of many columns take longer to lay out than their products with few channels: neighbours' results are channels of one window.
TEST(Choices, FewChannelsOfNeighbouringColumnsGoTogether) {
  const graph::Module electrodes = padded_convolution(22, 64, 1, 4, 1, 32),
                      attention = padded_convolution(24, 24, 2, 1, 7, 7),
                      many = padded_convolution(22, 64, 1, 64, 1, 32),
                      odd = padded_convolution(22, 61, 1, 4, 1, 32);
  for (const char* core : {"cortex-m0", "cortex-m4"}) {
    EXPECT_EQ(field_of(core, electrodes, "out_c") % 4, 0) << core;
    EXPECT_GT(field_of(core, electrodes, "out_c"), 4) << core;
    EXPECT_EQ(field_of(core, electrodes, "out_c") * field_of(core, electrodes, "out_w"), 4 * 64);
    EXPECT_EQ(field_of(core, electrodes, "kernel_w"), 31 + field_of(core, electrodes, "stride_w"));
    EXPECT_EQ(field_of(core, many, "out_c"), 64) << core;
    EXPECT_EQ(field_of(core, odd, "out_c"), 4) << core;  // 61 columns are not several times as many
  }
  for (const char* core : {"cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"})
    EXPECT_GT(field_of(core, attention, "out_c"), 1) << core;
}

// Of axes of a few sensors all columns go together: what a window sees of the padding alone is left out, and rows become pixels.
TEST(Choices, RowsOfAFewColumnsBecomePixels) {
  const graph::Module sensors = padded_convolution(128, 3, 1, 8, 4, 3);
  for (const char* core : {"cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"}) {
    SCOPED_TRACE(core);
    EXPECT_EQ(field_of(core, sensors, "out_w"), 128);
    EXPECT_EQ(field_of(core, sensors, "in_c"), 3);
    EXPECT_EQ(field_of(core, sensors, "out_c"), 3 * 8);
    EXPECT_EQ(field_of(core, sensors, "kernel_h"), 1);
    EXPECT_EQ(field_of(core, sensors, "kernel_w"), 4);
    EXPECT_EQ(field_of(core, sensors, "pad_left"), 1);
  }
}

TEST(Choices, WindowsOfIntSixteenGoTogetherToo) {
  Random random(9);
  WideCase c;
  c.height = 22, c.width = 64, c.out_channels = 4, c.kernel_w = 32, c.padding = {0, 15, 0, 16};
  EXPECT_GT(field_of("cortex-m4", wide_module(random, c), "out_c"), 4);
  c.width = 3, c.height = 64, c.kernel_w = 3, c.kernel_h = 4, c.padding = {1, 1, 2, 1};
  const graph::Module sensors = wide_module(random, c);
  EXPECT_EQ(field_of("cortex-m4", sensors, "in_c"), 3);
  EXPECT_EQ(field_of("cortex-m4", sensors, "out_w"), 64);
}

// A filter of one channel is a convolution, but where its columns are dilated.
TEST(Choices, DepthwiseOfOneChannelIsAConvolution) {
  const auto depthwise = [](int64_t columns, int64_t dilation) {
    Random random(10);
    WindowCase c{OpKind::DepthwiseConv2d, 1, 9, 9, 1, 8, 3, columns, 1};
    c.dilation_w = dilation;
    return kernel_of("cortex-m4", window_module(random, c));
  };
  EXPECT_EQ(depthwise(3, 1), "intarsia_dsp_conv_by_four_s8");
  EXPECT_TRUE(depthwise(1, 1).starts_with("intarsia_dsp_conv_"));
  EXPECT_TRUE(depthwise(1, 2).starts_with("intarsia_dsp_conv_"));
  const std::string dilated = depthwise(3, 2);
  EXPECT_EQ(dilated.find("_dsp_conv_"), std::string::npos) << dilated;
}

// Two channels share a halfword where it holds both weights, and sums that fit 24 bits can be told apart; and where four channels at a
// time are faster.
TEST(Choices, FourChannelsAtATime) {
  const auto kernel = [](int64_t inputs, int64_t outputs, int first, int second) {
    return kernel_of(
        "cortex-m4",
        Layer{.rows = 4, .inputs = inputs, .outputs = outputs, .first = first, .second = second});
  };
  const std::string by_four = "intarsia_dsp_conv_by_four_s8", by_two = "intarsia_dsp_conv_s8";
  EXPECT_EQ(kernel(64, 8, -127, 127), by_four);
  EXPECT_EQ(kernel(64, 8, 0, -128), by_four);
  EXPECT_EQ(kernel(64, 8, -128, 127), by_four);
  EXPECT_EQ(kernel(64, 8, -1, -128), by_two);
  EXPECT_EQ(kernel(515, 8, 127, 127), by_four);
  EXPECT_EQ(kernel(517, 8, 127, 127), by_two);
  EXPECT_EQ(kernel(517, 8, 127, 126), by_four);
  EXPECT_EQ(kernel(64, 3, 1, 1), by_two);
  EXPECT_EQ(kernel(64, 6, 1, 1), by_two);
  EXPECT_EQ(kernel(64, 7, 1, 1), by_four);
  EXPECT_EQ(kernel(4, 8, 1, 1), by_two);
}

// As many bits behind the point as leave room for the sums: where the result's scale is finer than both operands', there are fewer,
// and what the zero points add is more than the range of the results.
TEST(Choices, SumsAndDifferencesAreOneStep) {
  for (const float out : {0.07f, 0.02f, 0.01f})
    for (const OpKind kind : {OpKind::Add, OpKind::Sub})
      for (const std::string core : {"cortex-m0", "cortex-m4", "cortex-m55"}) {
        SCOPED_TRACE(fmt::format("{} on {}", out, core));
        Random random(3);
        graph::Module module = binary_module(random, kind, {1, 40}, {1, 40});
        graph::Function& function = module.functions[0];
        const auto quantise = [&](graph::TensorId id, float scale, int64_t zero_point) {
          function.tensors[static_cast<size_t>(id.index)].quantization = {{scale}, {zero_point}, 0};
        };
        quantise(function.nodes[0].inputs[0], 0.05f, -100);
        quantise(function.nodes[0].inputs[1], 0.0437f, kind == OpKind::Add ? -90 : 90);
        quantise(function.nodes[0].outputs[0], out, 5);
        EXPECT_EQ(kernel_of(core, std::move(module)), "intarsia_each_sum_s8");
      }
}

// Kernels read the fields of a window as 16 bits.
TEST(Choices, WindowsFitIntoSixteenBits) {
  const auto fits = [](int64_t in_w, int64_t pad_left) {
    targets::cortex_m::Window window;
    window.in_w = in_w, window.pad_left = pad_left;
    return window.fits();
  };
  EXPECT_TRUE(fits(32767, -32768));
  EXPECT_FALSE(fits(32768, 0));
  EXPECT_FALSE(fits(0, -32769));
}

}  // namespace
}  // namespace intarsia::test::cortex_m
