// Each step of dead-channel elimination on the smallest graph that shows it, and on one that it must leave alone.
#include "passes/dead_channel_elimination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using namespace test;
using ::testing::ElementsAre;

int64_t output_channels(const ReducedModule& result, const std::string& name) {
  return result.module.entry_function().tensor(node(result, name).outputs[0]).shape.back();
}

template <typename T>
std::vector<T> constant(const ReducedModule& result, const std::string& name, size_t operand) {
  const Function& function = result.module.entry_function();
  const std::vector<uint8_t>& bytes =
      result.module.constant(function.tensor(node(result, name).inputs.at(operand)).constant).bytes;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// ---- channels ----

TEST(EliminationChannels, AConstantGoesToTheBias) {
  const ReducedModule result =
      reduced(parsed(two_convolutions("1,1", "", "1,4,4,1"),
                     kTwoConvolutions + "const @2 v = i8[3, 4] const @3 c = i32[7]"));
  EXPECT_EQ(output_channels(result, "first"), 1);
  EXPECT_THAT(constant<int8_t>(result, "first", 1), ElementsAre(2));
  EXPECT_THAT(constant<int32_t>(result, "first", 2), ElementsAre(6));
  EXPECT_THAT(constant<int8_t>(result, "second", 1), ElementsAre(3));
  EXPECT_THAT(constant<int32_t>(result, "second", 2), ElementsAre(7 + 5 * 4));
  EXPECT_EQ(result.before.macs, 64);
  EXPECT_EQ(result.after.macs, 32);
  ASSERT_EQ(result.actions.size(), 2u);
  EXPECT_EQ(result.actions[0].what, "1 of 2 output channels removed");
  EXPECT_EQ(result.actions[0].why, "outputs that no input changes: 1");
  EXPECT_EQ(result.actions[1].what, "1 of 2 input channels removed");
  EXPECT_NE(result.actions[1].why.find("went to the bias"), std::string::npos);
}

const std::string kWindow =
    "const @2 v = i8[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2] const @3 c = i32[7]";

TEST(EliminationChannels, AConstantThatPaddingInterruptsStays) {
  const ReducedModule padded = reduced(
      parsed(two_convolutions("3,3", "{padding={top=1, left=1, bottom=1, right=1}}", "1,4,4,1"),
             kTwoConvolutions + kWindow));
  EXPECT_EQ(output_channels(padded, "first"), 2);
  EXPECT_TRUE(padded.actions.empty());
  const ReducedModule inside =
      reduced(parsed(two_convolutions("3,3", "", "1,2,2,1"), kTwoConvolutions + kWindow));
  EXPECT_EQ(output_channels(inside, "first"), 1);
  EXPECT_THAT(constant<int32_t>(inside, "second", 2), ElementsAre(7 + 9 * 5 * 2));
}

TEST(EliminationChannels, TheZeroPointIsNoInterruption) {
  const std::string zero = "const @0 w = i8[2, 0] const @1 b = i32[6, -10] ";
  const ReducedModule result = reduced(
      parsed(two_convolutions("3,3", "{padding={top=1, left=1, bottom=1, right=1}}", "1,4,4,1"),
             zero + kWindow));
  EXPECT_EQ(output_channels(result, "first"), 1);
  EXPECT_THAT(constant<int32_t>(result, "second", 2), ElementsAre(7));
}

TEST(EliminationChannels, ASumThatTheBiasCannotHoldStays) {
  const ReducedModule result =
      reduced(parsed(two_convolutions("1,1", "", "1,4,4,1"),
                     kTwoConvolutions + "const @2 v = i8[3, 4] const @3 c = i32[2147483640]"));
  EXPECT_EQ(output_channels(result, "first"), 2);
}

TEST(EliminationChannels, WhatIsReadWithZerosOnlyGoes) {
  const std::string constants =
      "const @0 w = i8[2, 5] const @1 b = i32[6, 10] const @2 v = i8[3, 0] const @3 c = i32[7]";
  const ReducedModule result = reduced(parsed(two_convolutions("1,1", "", "1,4,4,1"), constants));
  EXPECT_EQ(output_channels(result, "first"), 1);
  EXPECT_EQ(result.actions.at(0).why, "outputs read with zero weights only: 1");
}

TEST(EliminationChannels, OneChannelAlwaysRemains) {
  const std::string constants =
      "const @0 w = i8[2, 5] const @1 b = i32[6, 10] const @2 v = i8[0, 0] const @3 c = i32[7]";
  EXPECT_EQ(
      output_channels(reduced(parsed(two_convolutions("1,1", "", "1,4,4,1"), constants)), "first"),
      1);
}

// conv -> depthwise 3x3 SAME -> conv; channel 1 of the first is constant.
std::string with_depthwise(const std::string& first_zero_point) {
  return R"((%0) -> (%9) {
    %0 x: i8[1,4,4,1] q(0.5:1)
    %1 w: i8[2,1,1,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 t: i8[1,4,4,2] q(1:)" +
         first_zero_point + R"()
    %4 d: i8[1,3,3,2] q(axis=3; 0.25, 0.5) = @2
    %5 e: i32[2] = @3
    %6 u: i8[1,4,4,2] q(1:-128)
    %7 v: i8[1,1,1,2] q(1) = @4
    %8 c: i32[1] = @5
    %9 y: i8[1,4,4,1] q(1)
    conv2d first(%0, %1, %2) -> (%3) {activation=relu}
    depthwise_conv2d middle(%3, %4, %5) -> (%6) {padding={top=1, left=1, bottom=1, right=1}, activation=relu}
    conv2d last(%6, %7, %8) -> (%9)
  })";
}
std::string depthwise_constants(const std::string& biases) {
  return "const @0 w = i8[2, 0] const @1 b = i32[" + biases +
         "] const @2 d = i8[1, 1, 2, 2, 1, 1, 3, 3, 1, 1, 4, 4, 1, 1, 2, 2, 1, 1] const @3 e = "
         "i32[1, 20] "
         "const @4 v = i8[3, 5] const @5 c = i32[7]";
}

TEST(EliminationChannels, BordersBehindADepthwiseConvolution) {
  // The constant is above the zero point: the depthwise convolution makes borders of it.
  EXPECT_EQ(output_channels(reduced(parsed(with_depthwise("-3"), depthwise_constants("6, 10"))),
                            "middle"),
            2);
  // At the zero point there are none, and 20 * 0.5 = 10 goes on into the bias.
  const ReducedModule result = reduced(parsed(with_depthwise("-3"), depthwise_constants("6, -10")));
  EXPECT_EQ(output_channels(result, "first"), 1);
  EXPECT_EQ(output_channels(result, "middle"), 1);
  EXPECT_THAT(constant<int32_t>(result, "last", 2), ElementsAre(7 + 10 * 5));
  EXPECT_EQ(node(result, "middle").attrs<graph::DepthwiseConv2dAttrs>().multiplier, 1);
  const Function& function = result.module.entry_function();
  EXPECT_THAT(function.tensor(node(result, "middle").inputs[1]).quantization.scale,
              ElementsAre(0.25f));
  EXPECT_EQ(function.tensor(node(result, "middle").outputs[0]).name, "u");
}

// Both arms of an addition have a dead channel: at 1 and at `right`.
std::string residual_constants(const std::string& left, const std::string& right) {
  return "const @0 l = i8[" + left + "] const @1 b = i32[4, 6] const @2 r = i8[" + right +
         "] const @3 v = i8[2, 3] const @4 c = i32[1]";
}
const std::string kResidual = R"((%0) -> (%9) {
    %0 x: i8[1,2,2,1] q(0.5:1)
    %1 l: i8[2,1,1,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 t: i8[1,2,2,2] q(1)
    %4 r: i8[2,1,1,1] q(1) = @2
    %5 u: i8[1,2,2,2] q(1)
    %6 s: i8[1,2,2,2] q(2)
    %7 v: i8[1,1,1,2] q(1) = @3
    %8 c: i32[1] = @4
    %9 y: i8[1,2,2,1] q(1)
    conv2d left(%0, %1, %2) -> (%3)
    conv2d right(%0, %4, %2) -> (%5)
    add sum(%3, %5) -> (%6)
    conv2d last(%6, %7, %8) -> (%9)
  })";

TEST(EliminationChannels, AnAdditionKeepsWhatOneArmNeeds) {
  EXPECT_EQ(output_channels(reduced(parsed(kResidual, residual_constants("3, 0", "5, 2"))), "left"),
            2);
  const ReducedModule both = reduced(parsed(kResidual, residual_constants("3, 0", "5, 0")));
  EXPECT_EQ(output_channels(both, "left"), 1);
  EXPECT_EQ(output_channels(both, "right"), 1);
  EXPECT_EQ(output_channels(both, "sum"), 1);
}

TEST(EliminationChannels, ABroadcastOperandIsReadByEveryChannel) {
  const ReducedModule result =
      reduced(parsed(R"((%0, %1) -> (%7) {
    %0 x: i8[1,2,2,1] q(0.5:1)
    %1 z: i8[1,2,2,1] q(1)
    %2 w: i8[2,1,1,1] q(1) = @0
    %3 b: i32[2] = @1
    %4 t: i8[1,2,2,2] q(1)
    %5 s: i8[1,2,2,2] q(2)
    %6 v: i8[1,1,1,2] q(1) = @2
    %7 y: i8[1,2,2,1] q(1)
    conv2d first(%0, %2, %3) -> (%4)
    add sum(%4, %1) -> (%5)
    conv2d last(%5, %6) -> (%7)
  })",
                     "const @0 w = i8[2, 0] const @1 b = i32[6, 10] const @2 v = i8[3, 4]"));
  EXPECT_TRUE(result.actions.empty());
}

TEST(EliminationChannels, PiecesOfAConcatenationLoseTheirOwn) {
  const ReducedModule result = reduced(
      parsed(R"((%0) -> (%6) {
    %0 x: i8[1,2,2,2] q(1:1)
    %1 w: i8[2,1,1,2] q(1) = @0
    %2 b: i32[2] = @1
    %3 t: i8[1,2,2,2] q(1:1)
    %4 all: i8[1,2,2,4] q(1:1)
    %5 v: i8[1,1,1,4] q(1) = @2
    %6 y: i8[1,2,2,1] q(1)
    conv2d first(%0, %1, %2) -> (%3)
    concat all(%3, %0) -> (%4) {axis=3}
    conv2d last(%4, %5) -> (%6)
  })",
             "const @0 w = i8[0, 0, 2, 3] const @1 b = i32[6, 10] const @2 v = i8[1, 2, 3, 4]"));
  EXPECT_EQ(output_channels(result, "first"), 1);
  EXPECT_EQ(output_channels(result, "all"), 3);
  EXPECT_THAT(constant<int8_t>(result, "last", 1), ElementsAre(2, 3, 4));
  EXPECT_THAT(constant<int32_t>(result, "last", 2), ElementsAre(6));
}

TEST(EliminationChannels, AFlattenedPictureLosesColumns) {
  const ReducedModule result =
      reduced(parsed(R"((%0) -> (%7) {
    %0 x: i8[1,1,2,1] q(0.5:1)
    %1 w: i8[2,1,1,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 t: i8[1,1,2,2] q(1)
    %4 f: i8[1,4] q(1)
    %5 v: i8[1,4] q(1) = @2
    %6 c: i32[1] = @3
    %7 y: i8[1,1] q(1)
    conv2d first(%0, %1, %2) -> (%3)
    reshape flat(%3) -> (%4) {shape=[1,4]}
    fully_connected last(%4, %5, %6) -> (%7)
  })",
                     "const @0 w = i8[2, 0] const @1 b = i32[6, 10] const @2 v "
                     "= i8[1, 2, 3, 4] const @3 c = i32[7]"));
  EXPECT_THAT(node(result, "flat").attrs<graph::ReshapeAttrs>().shape, ElementsAre(1, 2));
  EXPECT_THAT(constant<int8_t>(result, "last", 1), ElementsAre(1, 3));
  EXPECT_THAT(constant<int32_t>(result, "last", 2), ElementsAre(7 + 5 * 2 + 5 * 4));
}

TEST(EliminationChannels, Int4Weights) {
  // 1, 2, 3 of which the middle one is unread; then 1, 0, -1.
  const ReducedModule result = reduced(parsed(R"((%0) -> (%4) {
    %0 x: i8[1,1] q(1)
    %1 w: i4[3,1] q(1) = @0
    %2 t: i8[1,3] q(1)
    %3 v: i4[1,3] q(1) = @1
    %4 y: i8[1,1] q(1)
    fully_connected first(%0, %1) -> (%2)
    fully_connected last(%2, %3) -> (%4)
  })",
                                              "const @0 w = x\"21 03\" const @1 v = x\"01 0f\""));
  EXPECT_THAT(constant<uint8_t>(result, "first", 1), ElementsAre(0x31));
  EXPECT_THAT(constant<uint8_t>(result, "last", 1), ElementsAre(0xf1));
}

TEST(EliminationChannels, AFullyConnectedLayerMayKeepOneOfItsScales) {
  const std::string body = R"((%0) -> (%4) {
    %0 x: i8[1,1] q(0.1)
    %1 w: i8[3,1] q(axis=0; SCALES) = @0
    %2 t: i8[1,3] q(1)
    %3 v: i8[1,3] q(1) = @1
    %4 y: i8[1,1] q(1)
    fully_connected first(%0, %1) -> (%2)
    fully_connected last(%2, %3) -> (%4)
  })";
  const auto with_scales = [&](const std::string& scales) {
    std::string text = body;
    text.replace(text.find("SCALES"), 6, scales);
    return reduced(parsed(text, "const @0 w = i8[5, 6, 7] const @1 v = i8[0, 1, 0]"));
  };
  EXPECT_EQ(output_channels(with_scales("0.1, 0.1, 0.2"), "first"), 1);
  EXPECT_EQ(output_channels(with_scales("0.1, 0.5, 0.2"), "first"), 1);
}

TEST(EliminationChannels, SignaturesAndStateStay) {
  const std::string constants =
      "const @0 w = i8[2, 0] const @1 b = i32[6, 10] const @2 v = i8[3, 4]";
  const std::string body = R"((%0) -> (%3, %5) {
    %0 x: i8[1,2,2,1] q(0.5:1)
    %1 w: i8[2,1,1,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 t: i8[1,2,2,2] q(1)
    %4 v: i8[1,1,1,2] q(1) = @2
    %5 y: i8[1,2,2,1] q(1)
    conv2d first(%0, %1, %2) -> (%3)
    conv2d last(%3, %4) -> (%5)
  })";
  EXPECT_EQ(output_channels(reduced(parsed(body, constants)), "first"), 2);
  std::string state = body;
  state.replace(state.find("(%3, %5)"), 8, "(%5)");
  EXPECT_EQ(output_channels(reduced(parsed(state, constants)), "first"), 1);
  state.replace(state.find("%3 t: i8[1,2,2,2] q(1)"), 22, "%3 t: i8[1,2,2,2] q(1) variable");
  EXPECT_EQ(output_channels(reduced(parsed(state, constants)), "first"), 2);
}

// ---- padding ----

std::string pad_before(const std::string& operators,
                       const std::string& padded_zero_point = "-128") {
  return R"((%0) -> (%5) {
    %0 x: i8[1,4,4,1] q(0.5:-128)
    %1 w: i8[1,3,3,1] q(1) = @0
    %2 b: i32[1] = @1
    %3 p: i8[1,6,6,1] q(0.5:)" +
         padded_zero_point + R"()
    %4 u: i8[1,4,4,1] q(0.5:-128)
    %5 y: i8[1,4,4,1] q(0.5:-128)
    pad pad(%0) -> (%3) {before=[0,1,1,0], after=[0,1,1,0]}
    )" + operators +
         "\n}";
}

TEST(EliminationPadding, BecomesTheConvolutionsOwn) {
  const ReducedModule result = reduced(parsed(pad_before("conv2d c(%3, %1, %2) -> (%5)"), kPadded));
  EXPECT_THAT(nodes(result), ElementsAre("conv2d c"));
  EXPECT_EQ(node(result, "c").attrs<graph::Conv2dAttrs>().padding, (graph::Padding2d{1, 1, 1, 1}));
  EXPECT_THAT(nodes(reduced(parsed(pad_before("depthwise_conv2d c(%3, %1, %2) -> (%5)"), kPadded))),
              ElementsAre("depthwise_conv2d c"));
}

TEST(EliminationPadding, StaysWhereItWouldCount) {
  // An average does not count what is outside; another zero point adds to a sum.
  EXPECT_EQ(
      nodes(reduced(parsed(pad_before("average_pool2d c(%3) -> (%5) {filter_h=3, filter_w=3}"),
                           kPadded)))
          .size(),
      2u);
  EXPECT_EQ(
      nodes(reduced(parsed(pad_before("conv2d c(%3, %1, %2) -> (%5)", "-7"), kPadded))).size(), 2u);
}

TEST(EliminationPadding, AMaximumIgnoresTheLeastValue) {
  const std::string pool = "max_pool2d c(%3) -> (%5) {filter_h=3, filter_w=3}";
  EXPECT_THAT(nodes(reduced(parsed(pad_before(pool), kPadded))), ElementsAre("max_pool2d c"));
  std::string other = pad_before(pool);
  for (size_t at; (at = other.find(":-128")) != std::string::npos;) other.replace(at, 5, ":-7");
  EXPECT_EQ(nodes(reduced(parsed(other, kPadded))).size(), 2u);
}

TEST(EliminationPadding, IsPinnedOrIsAnOutput) {
  const Module module = parsed(pad_before("conv2d c(%3, %1, %2) -> (%5)"), kPadded);
  EXPECT_EQ(nodes(reduced(module, {{"pad"}})).size(), 2u);
  std::string output = pad_before("conv2d c(%3, %1, %2) -> (%5)");
  output.replace(output.find("(%5)"), 4, "(%5, %3)");
  EXPECT_EQ(nodes(reduced(parsed(output, kPadded))).size(), 2u);
}

// ---- single operators ----

// From x, %0, to y; `tensors` numbers the others from 1, and %y is the next.
std::string unary_chain(const std::string& operators, const std::string& tensors) {
  std::string text = "(%0) -> (%y) {\n %0 x: i8[1,2,3] q(0.5:-128)\n" + tensors + operators + "\n}";
  const std::string last = std::to_string(std::ranges::count(tensors, '\n'));  // one a line
  for (size_t at; (at = text.find("%y")) != std::string::npos;) text.replace(at + 1, 1, last);
  return text;
}

TEST(EliminationOperators, AReluThatCannotClampGoes) {
  const std::string tensors = "%1 a: i8[1,2,3] q(0.5:-128)\n %y y: i8[1,2,3] q(0.25:-128)\n";
  EXPECT_THAT(
      nodes(reduced(parsed(unary_chain("relu r(%0) -> (%1)\n quantize q(%1) -> (%y)", tensors)))),
      ElementsAre("quantize q"));
  // Relu6 of steps of 0.5 clamps at 12.
  EXPECT_EQ(nodes(reduced(parsed(unary_chain(
                      "relu r(%0) -> (%1) {activation=relu6}\n quantize q(%1) -> (%y)", tensors))))
                .size(),
            2u);
}

TEST(EliminationOperators, OutputsKeepTheirNames) {
  const ReducedModule result =
      reduced(parsed(unary_chain("quantize q(%0) -> (%1)\n relu r(%1) -> (%y)",
                                 "%1 a: i8[1,2,3] q(0.25:-128)\n %y y: i8[1,2,3] q(0.25:-128)\n")));
  EXPECT_THAT(nodes(result), ElementsAre("quantize q"));
  EXPECT_EQ(result.module.entry_function().tensor(result.module.entry_function().outputs[0]).name,
            "y");
  // An output cannot be the input itself.
  EXPECT_THAT(
      nodes(reduced(parsed(unary_chain("relu r(%0) -> (%y)", "%y y: i8[1,2,3] q(0.5:-128)\n")))),
      ElementsAre("relu r"));
}

TEST(EliminationOperators, ChainsOfRequantisation) {
  // To a finer scale and back loses nothing; to a coarser one does.
  const std::string back =
      "quantize a(%0) -> (%1)\n quantize b(%1) -> (%2)\n relu r(%2) -> (%y) {activation=relu6}";
  const auto tensors = [](const std::string& between) {
    return "%1 a: " + between + "\n %2 b: i8[1,2,3] q(0.5:-128)\n %y y: i8[1,2,3] q(0.5:-128)\n";
  };
  EXPECT_THAT(nodes(reduced(parsed(unary_chain(back, tensors("i16[1,2,3] q(0.25)"))))),
              ElementsAre("relu r"));
  // The relu rescales by itself, but what the first one rounds away is gone.
  EXPECT_THAT(nodes(reduced(parsed(unary_chain(back, tensors("i8[1,2,3] q(1:-128)"))))),
              ElementsAre("quantize a", "relu r"));
}

TEST(EliminationOperators, FloatsBetweenIntegers) {
  const ReducedModule result =
      reduced(parsed(unary_chain("dequantize d(%0) -> (%1)\n quantize q(%1) -> (%y)",
                                 "%1 a: f32[1,2,3]\n %y y: i8[1,2,3] q(0.5:-120)\n")));
  EXPECT_THAT(nodes(result), ElementsAre("quantize q"));
  EXPECT_EQ(result.actions.at(0).pass, "chain");
}

// What moves floats moves the integers that they were made of, where single elements are computed behind it.
TEST(EliminationOperators, MovesOfFloats) {
  const auto apart = [](const std::string& from, const std::string& behind,
                        const std::string& made) {
    return reduced(parsed(fmt::format(R"((%0) -> (%{2}) {{
 %0 x: {0} q(0.5:-20)
 %1 real: f32[2,6]
 %2 a: f32[2,3]
 %3 b: f32[2,3]
 %4 c: f32[2,3]
 %5 y: i8[2,3] q(0.5:3)
 %6 z: i8[2,3] q(0.25:3)
 dequantize d(%0) -> (%1)
 split s(%1) -> (%2, %3) {{axis=1, sizes=[3,3]}}
 {1}
}})",
                                      from, behind, made)));
  };
  const std::string both = "quantize q(%2) -> (%5)\n quantize r(%3) -> (%6)";
  const ReducedModule result = apart("i8[2,6]", both, "5, %6");
  EXPECT_THAT(nodes(result), ElementsAre("split s", "quantize q", "quantize r"));
  EXPECT_EQ(result.actions.at(0).pass, "order");
  EXPECT_THAT(nodes(apart("i8[2,6]",
                          "logistic l(%2) -> (%4)\n quantize q(%4) -> (%5)\n"
                          " quantize r(%3) -> (%6)",
                          "5, %6")),
              ElementsAre("split s", "dequantize d_s_0", "logistic l", "quantize q", "quantize r"));
  // Other readers, and floats that leave the function, want them as they are.
  EXPECT_THAT(nodes(apart("i8[2,6]", "add l(%2, %3) -> (%4)\n quantize q(%4) -> (%5)", "5")),
              ElementsAre("dequantize d", "split s", "add l", "quantize q"));
  EXPECT_THAT(nodes(apart("i8[2,6]", "quantize q(%2) -> (%5)", "5, %3")),
              ElementsAre("dequantize d", "split s", "quantize q"));
  // Of a part that nobody reads there is nothing to convert.
  EXPECT_THAT(nodes(apart("i8[2,6]", "quantize q(%2) -> (%5)", "5")),
              ElementsAre("split s", "quantize q"));
}

TEST(EliminationOperators, ReshapesOfReshapes) {
  EXPECT_THAT(
      nodes(reduced(parsed(unary_chain(
          "reshape a(%0) -> (%1) {shape=[6]}\n reshape b(%1) -> (%2) {shape=[3,2]}\n reshape c(%2) "
          "-> (%y) {shape=[1,6]}",
          "%1 a: i8[6] q(0.5:-128)\n %2 b: i8[3,2] q(0.5:-128)\n %y y: i8[1,6] q(0.5:-128)\n")))),
      ElementsAre("reshape c"));
}

// A selection by a condition that is the same everywhere, as what guards a sum of exponentials of integers has it.
TEST(EliminationOperators, SelectionsThatAreKnown) {
  const auto select = [](const char* order, const char* said) {
    return nodes(reduced(
        parsed(fmt::format("(%0) -> (%4) {{\n %0 x: i8[1,3] q(0.1:-128)\n %1 c: bool[1,3] = @0\n"
                           " %2 zero: i8[] q(0.1:-128) = @1\n %3 y: i8[1,3] q(0.1:-128)\n"
                           " %4 z: i8[1,3] q(0.0078125:0)\n"
                           " select pick(%1, {0}) -> (%3)\n tanh after(%3) -> (%4)\n}}",
                           order),
               fmt::format("const @0 c = bool[{}] const @1 z = i8[-128]", said))));
  };
  EXPECT_THAT(select("%0, %2", "true,true,true"), ElementsAre("tanh after"));
  EXPECT_THAT(select("%2, %0", "false,false,false"), ElementsAre("tanh after"));
  EXPECT_THAT(select("%2, %0", "true,true,true"), ElementsAre("minimum pick", "tanh after"));
  EXPECT_THAT(select("%0, %2", "true,false,true"), ElementsAre("minimum pick", "tanh after"));
}

TEST(EliminationOperators, NeutralConstants) {
  const std::string tensors =
      "%1 one: i8[3] q(0.5) = @0\n %2 a: i8[1,2,3] q(0.5:-128)\n %3 zero: i8[1] q(0.5:5) = @1\n"
      " %4 b: i8[1,2,3] q(0.5:-128)\n %y y: i8[1,2,3] q(0.5:-128)\n";
  const std::string operators =
      "mul m(%0, %1) -> (%2)\n add a(%3, %2) -> (%4)\n relu r(%4) -> (%y) {activation=relu6}";
  EXPECT_THAT(nodes(reduced(parsed(unary_chain(operators, tensors),
                                   "const @0 c = i8[2, 2, 2] const @1 z = i8[5]"))),
              ElementsAre("relu r"));
  EXPECT_THAT(nodes(reduced(parsed(unary_chain(operators, tensors),
                                   "const @0 c = i8[2, 3, 2] const @1 z = i8[6]"))),
              ElementsAre("mul m", "add a"));  // which clamps
}

TEST(EliminationOperators, ARelusRangeBecomesTheConvolutions) {
  const std::string body = R"((%0) -> (%3) {
    %0 x: i8[1,2,2,1] q(0.5:1)
    %1 w: i8[2,1,1,1] q(1) = @0
    %2 t: i8[1,2,2,2] q(1:-3)
    %3 y: i8[1,2,2,2] q(1:-3)
    conv2d c(%0, %1) -> (%2)
    relu r(%2) -> (%3) {activation=relu6}
  })";
  const Module module = parsed(body, "const @0 w = i8[2, 3]");
  const ReducedModule result = reduced(module);
  EXPECT_THAT(nodes(result), ElementsAre("conv2d c"));
  EXPECT_EQ(node(result, "c").attrs<graph::Conv2dAttrs>().activation, graph::Activation::Relu6);
  EXPECT_EQ(nodes(reduced(module, {{"r"}})).size(), 2u);
  Module pinned = module;
  pinned.functions[0].nodes[1].pin = "somewhere";
  EXPECT_EQ(nodes(reduced(pinned)).size(), 2u);
}

TEST(EliminationOperators, UnreadAndConstantOnesGo) {
  const ReducedModule result = reduced(parsed(R"((%0) -> (%4) {
    %0 x: i8[3] q(0.5:1)
    %1 c: i8[3] q(1) = @0
    %2 d: i8[3] q(0.5)
    %3 e: i8[3] q(0.5)
    %4 y: i8[3] q(1)
    quantize q(%1) -> (%2)
    relu unread(%0) -> (%3)
    add a(%0, %2) -> (%4)
  })",
                                              "const @0 c = i8[1, -2, 100]"));
  EXPECT_THAT(nodes(result), ElementsAre("add a"));
  EXPECT_THAT(constant<int8_t>(result, "a", 1), ElementsAre(2, -4, 127));
}

TEST(EliminationOperators, AMeanOfOneElementIsAReshape) {
  EXPECT_THAT(nodes(reduced(parsed(R"((%0) -> (%1) {
    %0 x: i8[1,1,1,3] q(0.5:1)
    %1 y: i8[1,3] q(0.5:1)
    mean m(%0) -> (%1) {axes=[1,2]}
  })"))),
              ElementsAre("reshape m"));
}

TEST(EliminationOperators, WhatOnlyMovesAndMovesNothing) {
  const ReducedModule result = reduced(parsed(R"((%0) -> (%4) {
    %0 x: i8[1,2,1,3] q(0.5:1)
    %1 a: i8[1,2,1,3] q(0.5:1)
    %2 b: i8[1,1,2,3] q(0.5:1)
    %3 c: i8[1,1,3,2] q(0.5:1)
    %4 y: i8[1,1,3,2] q(0.25:1)
    slice s(%0) -> (%1) {begin=[0,0,0,0], size=[1,2,1,3], stride=[1,1,1,1]}
    transpose t(%1) -> (%2) {permutation=[2,0,1,3]}
    transpose u(%2) -> (%3) {permutation=[0,1,3,2]}
    quantize q(%3) -> (%4)
  })"));
  EXPECT_THAT(nodes(result), ElementsAre("reshape t", "transpose u", "quantize q"));
}

TEST(CheckReduced, FindsADifference) {
  const Module module = parsed(two_convolutions("1,1", "", "1,4,4,1"),
                               kTwoConvolutions + "const @2 v = i8[3, 4] const @3 c = i32[7]");
  Module other = module;
  std::vector<uint8_t> changed = other.constants[3].bytes;
  changed[0] = 9;
  other.constants[3].bytes = changed;
  const Result<void> same = check_reduced(module, other, 4);
  ASSERT_FALSE(same.ok());
  EXPECT_NE(
      same.error().to_string().find("dead-channel elimination changed output 0 'y' on sample 0"),
      std::string::npos);
}

// The places of tensors in the arena of another compiler's program follow from when nodes read them.
TEST(EliminationPrograms, NothingChangesAroundThem) {
  Module module = parsed(R"((%0) -> (%2) {
  %0 "x": i8[1,4] q(0.5:-128)
  %1 "same": i8[1,4] q(0.5:-128)
  %2 "y": i8[1,4] q(0.5:-128)
  relu first(%0) -> (%1)
  relu second(%1) -> (%2)
})");
  const Result<ReducedModule> result = eliminate_dead_channels(module, {});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->actions.empty());
  module.functions[0].nodes[1].kind = OpKind::Compiled;
  module.functions[0].nodes[1].attributes = graph::CompiledAttrs{};
  const Result<ReducedModule> kept = eliminate_dead_channels(module, {});
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(kept->actions.empty());
}

}  // namespace
}  // namespace intarsia
