// Shapes by hand, and the words of the rules.
#include <gtest/gtest.h>

#include "graph_testing.h"

namespace intarsia::graph {
namespace {

// The inferred shape of the only node, as text, or the first complaint.
std::string inferred(std::string_view tensors, std::string_view node) {
  const Module module =
      with_main("() -> () {\n" + std::string(tensors) + "\n" + std::string(node) + "\n}");
  if (module.functions.empty()) return "does not parse";
  const Function& function = module.functions[0];
  const Result<std::vector<Shape>> shapes = infer_shapes(module, function, function.nodes[0]);
  if (!shapes.ok()) {
    const Diagnostic& first = shapes.error().items().front();
    return first.hint.empty() ? first.what : first.what + "; " + first.hint;
  }
  return testing::PrintToString(shapes.value().at(0));
}

std::string conv(std::string_view input, std::string_view weights, std::string_view attributes) {
  return inferred(
      "%0 x: f32[" + std::string(input) + "] %1 w: f32[" + std::string(weights) + "] %2 y: f32[]",
      "conv2d c(%0, %1, _) -> (%2) {" + std::string(attributes) + "}");
}

TEST(InferConv, OutputSizes) {
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,3", ""), "{ 1, 3, 5, 8 }");
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,3", "stride_h=2, stride_w=3"), "{ 1, 2, 2, 8 }");
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,3", "padding={top=1,left=1,bottom=1,right=1}"),
            "{ 1, 5, 7, 8 }");
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,3", "dilation_h=2, dilation_w=3"), "{ 1, 1, 1, 8 }");
  EXPECT_EQ(conv("2,49,10,1", "64,10,4,1",
                 "stride_h=2, stride_w=2, padding={top=4,left=1,bottom=5,right=1}"),
            "{ 2, 25, 5, 64 }");
  EXPECT_EQ(conv("1,4,4,6", "4,1,1,3", ""), "{ 1, 4, 4, 4 }") << "two groups";
}

TEST(InferConv, Refusals) {
  EXPECT_EQ(
      conv("1,2,7,3", "8,3,3,3", ""),
      "the window of 3 does not fit into the padded height of 2; give the model a larger input");
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,2", ""),
            "the input's 3 channels are no multiple of the weights' 2");
  EXPECT_EQ(conv("1,4,4,6", "5,1,1,3", ""), "5 output channels cannot be divided among 2 groups");
  EXPECT_EQ(conv("5,7,3", "8,3,3,3", ""), "the input has rank 3, needs 4");
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,3", "stride_h=0"), "stride_h 0 is outside 1 .. 16777216");
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,3", "padding={left=-1}"),
            "padding left -1 is outside 0 .. 16777216");
  EXPECT_EQ(conv("1,5,7,3", "8,3,3,3", "padding={top=16000000,left=16000000}"),
            "its output 0: shape [1,16000003,16000005,8] is more than 2147483647 bytes; give the "
            "model a smaller input, or fewer rows at a time");
  EXPECT_EQ(inferred("%0 x: f32[1,4,4,1] %1 w: f32[2,1,1,1] %2 b: f32[3] %3 y: f32[]",
                     "conv2d c(%0, %1, %2) -> (%3)"),
            "the bias has to have the shape [2]");
  EXPECT_EQ(inferred("%0 x: i8[1,4,4,1] %1 w: f32[2,1,1,1] %2 y: i8[]", "conv2d c(%0, %1) -> (%2)"),
            "has no arithmetic for the types i8, f32 -> i8; it takes i8, i8, i32 -> i8 | i8, i4, "
            "i32 -> i8 | i8, i16, i32 -> i8 | i16, i8, i64 -> i16 | i16, i8, i32 -> i16 | f32, "
            "f32, f32 -> f32");
}

TEST(InferConv, Quantization) {
  const auto conv = [](std::string_view x, std::string_view w, std::string_view y) {
    return inferred("%0 x: i8[1,4,4,1] " + std::string(x) + " %1 w: i8[2,1,1,1] " + std::string(w) +
                        " %2 y: i8[] " + std::string(y),
                    "conv2d c(%0, %1, _) -> (%2)");
  };
  EXPECT_EQ(conv("q(1:3)", "q(axis=0; 1, 2)", "q(1)"), "{ 1, 4, 4, 2 }");
  EXPECT_EQ(conv("q(1:3)", "q(2)", "q(1)"), "{ 1, 4, 4, 2 }");
  EXPECT_EQ(conv("", "q(2)", "q(1)"), "the input is not quantised");
  EXPECT_EQ(conv("q(1:3)", "", "q(1)"), "the weights are not quantised");
  EXPECT_EQ(conv("q(1:3)", "q(2:1)", "q(1)"), "the zero points of the weights have to be 0");
  EXPECT_EQ(conv("q(1:3)", "q(axis=3; 1, 2)", "q(1)"),
            "the weights have 2 scales along axis 3, needs 2 along axis 0");
  EXPECT_EQ(conv("q(axis=1; 1, 1, 1, 1)", "q(2)", "q(1)"),
            "the input has a scale per channel, needs one scale");
  EXPECT_EQ(conv("q(1e30)", "q(1e30)", "q(1)"),
            "the scales of its operands give the factor 1e+60, which is outside 0 .. 2^30; a scale "
            "that is far from the others stands where the converter has seen hardly anything but "
            "zeros: give it samples that the network will meet");
}

TEST(InferDepthwise, Rules) {
  const auto depthwise = [](std::string_view weights, std::string_view attributes) {
    return inferred("%0 x: f32[1,5,5,4] %1 w: f32[" + std::string(weights) + "] %2 y: f32[]",
                    "depthwise_conv2d d(%0, %1, _) -> (%2) {" + std::string(attributes) + "}");
  };
  EXPECT_EQ(depthwise("1,3,3,8", "multiplier=2, stride_h=2, stride_w=2"), "{ 1, 2, 2, 8 }");
  EXPECT_EQ(depthwise("1,3,3,8", ""),
            "the weights have 8 channels, needs 4 (the input's) times 1 (the multiplier)");
  EXPECT_EQ(depthwise("2,3,3,4", ""), "the first extent of the weights has to be 1");
}

TEST(InferFullyConnected, FlattensAsTfliteDoes) {
  const auto dense = [](std::string_view input, std::string_view attributes) {
    return inferred("%0 x: f32[" + std::string(input) + "] %1 w: f32[10,6] %2 y: f32[]",
                    "fully_connected f(%0, %1) -> (%2) {" + std::string(attributes) + "}");
  };
  EXPECT_EQ(dense("1,6", ""), "{ 1, 10 }");
  EXPECT_EQ(dense("6", ""), "{ 1, 10 }");
  EXPECT_EQ(dense("2,3,4", ""), "{ 4, 10 }");
  EXPECT_EQ(dense("1,5,6", "keep_dims=true"), "{ 1, 5, 10 }");
  EXPECT_EQ(dense("1,4", ""), "the input's 4 elements are no multiple of 6");
  EXPECT_EQ(dense("1,6,5", "keep_dims=true"), "the input's last extent is 5, needs 6");
  EXPECT_EQ(dense("", ""), "the input is a scalar");
}

TEST(InferPool, Rules) {
  const auto pool = [](std::string_view attributes) {
    return inferred("%0 x: i8[1,5,4,2] q(0.5:1) %1 y: i8[] q(0.5:1)",
                    "max_pool2d p(%0) -> (%1) {" + std::string(attributes) + "}");
  };
  EXPECT_EQ(pool("filter_h=2, filter_w=2, stride_h=2, stride_w=2"), "{ 1, 2, 2, 2 }");
  EXPECT_EQ(pool("filter_h=2, filter_w=2, stride_h=2, stride_w=2, padding={bottom=1}"),
            "{ 1, 3, 2, 2 }");
  EXPECT_EQ(pool("filter_h=2, padding={top=2}"), "a window lies entirely in the padding");
  EXPECT_EQ(pool("filter_h=2, padding={bottom=2}"), "a window lies entirely in the padding");
  EXPECT_EQ(inferred("%0 x: i8[1,5,4,2] q(0.5:1) %1 y: i8[] q(0.5:2)", "max_pool2d p(%0) -> (%1)"),
            "input and output have to have the same quantisation");
}

TEST(InferBinary, BroadcastsAsNumpyDoes) {
  const auto add = [](std::string_view a, std::string_view b) {
    return inferred(
        "%0 a: f32[" + std::string(a) + "] %1 b: f32[" + std::string(b) + "] %2 y: f32[]",
        "add s(%0, %1) -> (%2)");
  };
  EXPECT_EQ(add("2,3", "2,3"), "{ 2, 3 }");
  EXPECT_EQ(add("2,1", "3"), "{ 2, 3 }");
  EXPECT_EQ(add("", "4,1,2"), "{ 4, 1, 2 }");
  EXPECT_EQ(add("2", "3"),
            "shapes [2] and [3] cannot be broadcast together; "
            "counted from the last axis, extents have to be the same or 1");
  EXPECT_EQ(inferred("%0 a: i8[2] q(1) %1 b: i8[2] q(1) %2 y: i8[] q(1e-7)", "add s(%0,%1)->(%2)"),
            "the scales of its operands give the factor 19.1, which is outside 0 .. 2^0");
  EXPECT_EQ(inferred("%0 a: i32[2] q(1) %1 b: i32[2] %2 y: i32[]", "mul s(%0,%1)->(%2)"),
            "i32 operands have to be plain numbers, without quantisation");
  EXPECT_EQ(inferred("%0 a: i32[2] q(1) %1 y: i32[]", "neg n(%0)->(%1)"),
            "i32 operands have to be plain numbers, without quantisation");
}

TEST(InferMoves, Rules) {
  const auto on = [](std::string_view node) {
    return inferred("%0 x: f32[2,3,4] %1 y: f32[]", node);
  };
  EXPECT_EQ(on("reshape r(%0) -> (%1) {shape=[6,4]}"), "{ 6, 4 }");
  EXPECT_EQ(on("reshape r(%0) -> (%1) {shape=[5,4]}"), "cannot reshape [2,3,4] to [5,4]");
  EXPECT_EQ(on("reshape r(%0) -> (%1) {shape=[-1,4]}"),
            "the attribute 'shape': extent -1 is less than 1");
  EXPECT_EQ(on("pad p(%0) -> (%1) {before=[0,1,2], after=[3,0,0]}"), "{ 5, 4, 6 }");
  EXPECT_EQ(on("pad p(%0) -> (%1) {before=[0,1], after=[3,0]}"),
            "has 2 and 2 amounts of padding for rank 3");
  EXPECT_EQ(on("mean m(%0) -> (%1) {axes=[0,2]}"), "{ 3 }");
  EXPECT_EQ(on("mean m(%0) -> (%1) {axes=[0,2], keep_dims=true}"), "{ 1, 3, 1 }");
  EXPECT_EQ(on("mean m(%0) -> (%1) {axes=[2,0]}"),
            "axes [2,0] are not ascending numbers of 0 .. 2");
  EXPECT_EQ(on("softmax s(%0) -> (%1)"), "{ 2, 3, 4 }");
}

TEST(InferSoftmax, OutputQuantizationIsFixed) {
  EXPECT_EQ(inferred("%0 x: i8[1,4] q(0.1) %1 y: i8[] q(0.00390625:-128)", "softmax s(%0) -> (%1)"),
            "{ 1, 4 }");
  EXPECT_EQ(inferred("%0 x: i8[1,4] q(0.1) %1 y: i8[] q(0.004:-128)", "softmax s(%0) -> (%1)"),
            "the output has to have the scale 0.00390625 and the zero point -128");
}

TEST(Infer, OperandsAreChecked) {
  EXPECT_EQ(inferred("%0 x: f32[2]", "add a(%0) -> (%0)"), "has 1 operands, needs 2");
  EXPECT_EQ(inferred("%0 x: f32[2]", "add a(%0, _) -> (%0)"), "operand 1 is absent");
  EXPECT_EQ(inferred("%0 x: f32[2]", "add a(%0, %7) -> (%0)"),
            "operand 1 is tensor %7, which does not exist");
  EXPECT_EQ(inferred("%0 x: f32[0,2]", "add a(%0, %0) -> (%0)"),
            "operand 0 (tensor %0): extent 0 is less than 1");
  EXPECT_EQ(inferred("%0 x: f32[4000000000,4000000000,4000000000]", "add a(%0, %0) -> (%0)"),
            "operand 0 (tensor %0): shape [4000000000,4000000000,4000000000] is more than "
            "2147483647 bytes");
}

TEST(InferMove, ShapesBeyondAllNumbersAreRefused) {
  const auto blocks = [](std::string_view kind, std::string_view shape) {
    return inferred("%0 x: i8[" + std::string(shape) + "] %1 y: i8[]",
                    std::string(kind) +
                        " c(%0) -> (%1) {block=[16777216,16777216,16777216,16777216,16777216], "
                        "before=[16777215,16777215,16777215,16777215,16777215], "
                        "after=[0,0,0,0,0]}");
  };
  EXPECT_EQ(blocks("space_to_batch", "1,1,1,1,1,1"),
            "the block 16777216 makes axis 0 longer than any tensor");
  EXPECT_EQ(blocks("batch_to_space", "1,128,1,1,1,1"),
            "the block 16777216 makes axis 1 longer than any tensor");
}

TEST(ElementCount, StaysTheLargestNumber) {
  constexpr int64_t kBlock = int64_t{1} << 24;
  EXPECT_EQ(element_count({kBlock, kBlock, 32767}), kBlock * kBlock * 32767);
  EXPECT_EQ(element_count({kBlock, kBlock, kBlock}), INT64_MAX);
  EXPECT_EQ(element_count({kBlock, kBlock, kBlock, kBlock}), INT64_MAX);
  EXPECT_EQ(byte_size(DataType::Float32, {kBlock, kBlock, 32767}), INT64_MAX / 8 + 1);
  EXPECT_EQ(byte_size(DataType::Int4, {3}), 2);
}

}  // namespace
}  // namespace intarsia::graph
