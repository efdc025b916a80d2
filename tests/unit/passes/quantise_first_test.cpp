// Inputs become integers before their elements are moved, and bytes unsigned behind it, bit for bit the same.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using namespace test;
using ::testing::ElementsAre;

// `%1` is what `moves` make of %0; an operator is behind the integers, so that the model's output is none of them.
std::string converted(const std::string& moves, const std::string& shape,
                      const std::string& tensors = "") {
  return fmt::format(R"((%0) -> (%3) {{
 %0 x: f32[1,4,6,2]
 %1 moved: f32[{1}]
 %2 y: i8[{1}] q(0.05:-3)
 %3 result: i8[{1}] q(0.05:-3)
 {2}
 {0}
 quantize q(%1) -> (%2)
 relu r(%2) -> (%3) {{activation=relu}}
}})",
                     moves, shape, tensors);
}

TEST(QuantiseFirst, EveryMoveOfAnInput) {
  struct Move {
    const char *kind, *shape, *attributes;
  };
  for (const Move& move : std::vector<Move>{
           {"transpose", "1,2,4,6", "{permutation=[0,3,1,2]}"},
           {"space_to_depth", "1,2,3,8", "{block=2}"},
           {"tile", "1,8,6,2", "{multiples=[1,2,1,1]}"},
           {"pad", "1,5,8,2", "{before=[0,1,0,0], after=[0,0,2,0]}"},
           {"mirror_pad", "1,5,8,2", "{before=[0,1,1,0], after=[0,0,1,0], symmetric=false}"}}) {
    const std::string text =
        converted(fmt::format("{} m(%0) -> (%1) {}", move.kind, move.attributes), move.shape);
    const ReducedModule result = reduced(parsed(text));
    EXPECT_THAT(nodes(result), ElementsAre("quantize q", fmt::format("{} m", move.kind), "relu r"))
        << text;
  }
}

// YOLOX's Focus: each other pixel of each other row, four times, beside each other. One conversion of the input is enough.
TEST(QuantiseFirst, SlicesThatAreJoined) {
  const auto slice = [](int number, int y, int x) {
    return fmt::format(
        "slice s{0}(%0) -> (%{1}) {{begin=[0,{2},{3},0], size=[1,2,3,2], "
        "stride=[1,2,2,1]}}\n ",
        number, number + 4, y, x);
  };
  const std::string text = converted(
      slice(0, 0, 0) + slice(1, 1, 0) + slice(2, 0, 1) + slice(3, 1, 1) +
          "concat m(%4, %5, %6, %7) -> (%1) {axis=3}",
      "1,2,3,8",
      "%4 a: f32[1,2,3,2]\n %5 b: f32[1,2,3,2]\n %6 c: f32[1,2,3,2]\n %7 d: f32[1,2,3,2]");
  const ReducedModule result = reduced(parsed(text));
  EXPECT_THAT(nodes(result), ElementsAre("quantize q", "slice s0", "slice s1", "slice s2",
                                         "slice s3", "concat m", "relu r"));
}

// Half of an input is not worth the conversion of all of it; floats that something else reads stay floats.
TEST(QuantiseFirst, WhatStays) {
  const std::string part = converted(
      "slice m(%0) -> (%1) {begin=[0,0,0,0], size=[1,2,6,2], stride=[1,1,1,1]}", "1,2,6,2");
  EXPECT_THAT(nodes(reduced(parsed(part))), ElementsAre("slice m", "quantize q", "relu r"));
  const std::string shared = R"((%0) -> (%3, %4) {
 %0 x: f32[2,6]
 %1 moved: f32[6,2]
 %2 y: i8[6,2] q(0.05:-3)
 %3 result: i8[6,2] q(0.05:-3)
 %4 sine: f32[6,2]
 transpose m(%0) -> (%1) {permutation=[1,0]}
 quantize q(%1) -> (%2)
 relu r(%2) -> (%3) {activation=relu}
 sin s(%1) -> (%4)
})";
  EXPECT_THAT(nodes(reduced(parsed(shared))),
              ElementsAre("transpose m", "quantize q", "relu r", "sin s"));
}

// Keys for groups of queries, from a cache of floats that the model returns: as many bytes as there are keys are made.
TEST(QuantiseFirst, FloatsThatAreRepeated) {
  const ReducedModule result = reduced(parsed(R"((%0) -> (%1, %6) {
 %0 x: f32[1,2,4]
 %1 keys: f32[1,2,4]
 %2 apart: f32[1,2,1,4]
 %3 repeated: f32[1,2,3,4]
 %4 heads: f32[1,6,4]
 %5 y: i8[1,6,4] q(0.05:-3)
 %6 result: i8[1,6,4] q(0.05:-3)
 sin s(%0) -> (%1)
 reshape a(%1) -> (%2) {shape=[1,2,1,4]}
 tile b(%2) -> (%3) {multiples=[1,1,3,1]}
 reshape c(%3) -> (%4) {shape=[1,6,4]}
 quantize q(%4) -> (%5)
 relu r(%5) -> (%6) {activation=relu}
})"));
  EXPECT_THAT(nodes(result),
              ElementsAre("sin s", "quantize q", "reshape a", "tile b", "reshape c", "relu r"));
}

// Half of what is split is returned as floats.
TEST(QuantiseFirst, MovedFloatsThatTheModelReturns) {
  const ReducedModule result = reduced(parsed(R"((%0) -> (%3, %6) {
 %0 x: f32[2,4]
 %1 sines: f32[2,4]
 %2 first: f32[1,4]
 %3 second: f32[1,4]
 %4 repeated: f32[3,4]
 %5 y: i8[3,4] q(0.05:-3)
 %6 result: i8[3,4] q(0.05:-3)
 sin s(%0) -> (%1)
 split a(%1) -> (%2, %3) {axis=0, sizes=[1,1]}
 tile b(%2) -> (%4) {multiples=[3,1]}
 quantize q(%4) -> (%5)
 relu r(%5) -> (%6) {activation=relu}
})"));
  EXPECT_THAT(nodes(result), ElementsAre("sin s", "split a", "tile b", "quantize q", "relu r"));
}

// A picture of bytes: what moves them is done on int8 at both ends.
TEST(QuantiseFirst, UnsignedBytesAtBothEnds) {
  const ReducedModule result = reduced(parsed(R"((%0) -> (%5) {
 %0 x: u8[1,3,4,5] q(0.05:125)
 %1 last: u8[1,4,5,3] q(0.05:125)
 %2 signed: i8[1,4,5,3] q(0.05:-3)
 %3 clamped: i8[1,4,5,3] q(0.05:-3)
 %4 unsigned: u8[1,4,5,3] q(0.05:125)
 %5 y: u8[1,3,4,5] q(0.05:125)
 transpose a(%0) -> (%1) {permutation=[0,2,3,1]}
 quantize b(%1) -> (%2)
 relu c(%2) -> (%3) {activation=relu}
 quantize d(%3) -> (%4)
 transpose e(%4) -> (%5) {permutation=[0,3,1,2]}
})"));
  EXPECT_THAT(nodes(result),
              ElementsAre("quantize b", "transpose a", "relu c", "transpose e", "quantize d"));
}

}  // namespace
}  // namespace intarsia
