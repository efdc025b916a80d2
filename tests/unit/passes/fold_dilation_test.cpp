// Convolutions between blocks of space and batch as dilated ones, and blocks that must stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using namespace test;
using ::testing::ElementsAre;

// A picture of 7 x 7 in blocks of 2, through one convolution or several, and back. The blocks pad by two and crop `cropped`.
std::string in_blocks(const std::string& operators, const std::string& more_outputs = "") {
  return "(%0) -> (%5" + more_outputs + R"() {
    %0 x: i8[1,7,7,1] q(0.5:-128)
    %1 w: i8[1,3,3,1] q(1) = @0
    %2 b: i32[1] = @1
    %3 p: i8[4,6,6,1] q(0.5:-128)
    %4 u: i8[4,4,4,1] q(4:-128)
    %5 y: i8[1,7,7,1] q(4:-128)
    %6 v: i8[4,4,4,1] q(4:-128)
    %7 z: i8[1,7,7,1] q(4:-128)
    space_to_batch to(%0) -> (%3) {block=[2,2], before=[2,2], after=[3,3]}
    )" + operators +
         "\n}";
}
const std::string kBack =
    "batch_to_space from(%4) -> (%5) {block=[2,2], before=[0,0], after=[1,1]}";

TEST(EliminationDilation, BlocksBecomeTheConvolutionsOwn) {
  for (const std::string kind : {"conv2d", "depthwise_conv2d"}) {
    const ReducedModule result =
        reduced(parsed(in_blocks(kind + " c(%3, %1, %2) -> (%4)\n" + kBack), kPadded));
    EXPECT_THAT(nodes(result), ElementsAre(kind + " c"));
    if (kind != "conv2d") continue;
    const auto& attrs = node(result, "c").attrs<graph::Conv2dAttrs>();
    EXPECT_EQ(attrs.dilation_h, 2);
    EXPECT_EQ(attrs.dilation_w, 2);
    EXPECT_EQ(attrs.padding, (graph::Padding2d{2, 2, 2, 2}));
  }
}

TEST(EliminationDilation, BranchesMayShareTheBlocks) {
  const std::string both =
      "conv2d c(%3, %1, %2) -> (%4)\n conv2d d(%3, %1) -> (%6)\n" + kBack +
      "\n batch_to_space other(%6) -> (%7) {block=[2,2], before=[0,0], after=[1,1]}";
  EXPECT_THAT(nodes(reduced(parsed(in_blocks(both, ", %7"), kPadded))),
              ElementsAre("conv2d c", "conv2d d"));
  // One that stays keeps the blocks.
  const std::string one = "conv2d c(%3, %1, %2) -> (%4)\n conv2d d(%3, %1) -> (%6)\n" + kBack;
  EXPECT_THAT(nodes(reduced(parsed(in_blocks(one, ", %6"), kPadded))),
              ElementsAre("space_to_batch to", "conv2d c", "conv2d d"));
}

TEST(EliminationDilation, StaysWhereBlocksAreSeen) {
  const auto count = [](const std::string& text, const EliminationOptions& options = {}) {
    return nodes(reduced(parsed(text, kPadded), options)).size();
  };
  const std::string chain = in_blocks("conv2d c(%3, %1, %2) -> (%4)\n" + kBack);
  EXPECT_EQ(count(chain), 1u);
  EXPECT_EQ(count(chain, {{"to"}}), 3u);
  EXPECT_EQ(count(chain, {{"c"}}), 3u);
  EXPECT_EQ(count(chain, {{"from"}}), 3u);
  EXPECT_EQ(count(in_blocks("conv2d c(%3, %1, %2) -> (%4)\n" + kBack, ", %4")), 3u);
  // Blocks that crop more than they pad are no padding.
  std::string cropped = chain;
  cropped.replace(cropped.find("before=[0,0], after=[1,1]"), 25, "before=[3,0], after=[0,1]");
  cropped.replace(cropped.find("%5 y: i8[1,7,7,1]"), 17, "%5 y: i8[1,5,7,1]");
  EXPECT_EQ(count(cropped), 3u);
}

TEST(EliminationDilation, OfRowsThatReshapesMakePictures) {
  const std::string text = R"((%0) -> (%7) {
    %0 x: i8[2,9,1] q(0.5:-128)
    %1 w: i8[2,1,3,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 p: i8[8,4,1] q(0.5:-128)
    %4 r: i8[8,1,4,1] q(0.5:-128)
    %5 c: i8[8,1,2,2] q(4:-128)
    %6 s: i8[8,2,2] q(4:-128)
    %7 y: i8[2,8,2] q(4:-128)
    space_to_batch to(%0) -> (%3) {block=[4], before=[7], after=[0]}
    reshape into(%3) -> (%4) {shape=[8,1,4,1]}
    conv2d c(%4, %1, %2) -> (%5)
    reshape out(%5) -> (%6) {shape=[8,2,2]}
    batch_to_space from(%6) -> (%7) {block=[4], before=[0], after=[0]}
  })";
  const ReducedModule result =
      reduced(parsed(text, "const @0 w = i8[1, 2, 3, 4, 5, -6] const @1 b = i32[6, -3]"));
  EXPECT_THAT(nodes(result), ElementsAre("reshape into", "conv2d c", "reshape out"));
  const auto& attrs = node(result, "c").attrs<graph::Conv2dAttrs>();
  EXPECT_EQ(attrs.dilation_w, 4);
  EXPECT_EQ(attrs.padding, (graph::Padding2d{0, 7, 0, 0}));
}

// A gate and what it lets through, as WaveNet has them.
TEST(EliminationDilation, ConvolutionsMayShareTheRow) {
  const std::string text = R"((%0) -> (%7, %10) {
    %0 x: i8[1,9,1] q(0.5:-128)
    %1 w: i8[2,1,3,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 p: i8[4,4,1] q(0.5:-128)
    %4 r: i8[4,1,4,1] q(0.5:-128)
    %5 c: i8[4,1,2,2] q(4:-128)
    %6 s: i8[4,2,2] q(4:-128)
    %7 y: i8[1,8,2] q(4:-128)
    %8 d: i8[4,1,2,2] q(3:-128)
    %9 t: i8[4,2,2] q(3:-128)
    %10 z: i8[1,8,2] q(3:-128)
    space_to_batch to(%0) -> (%3) {block=[4], before=[7], after=[0]}
    reshape into(%3) -> (%4) {shape=[4,1,4,1]}
    conv2d c(%4, %1, %2) -> (%5)
    reshape out(%5) -> (%6) {shape=[4,2,2]}
    batch_to_space from(%6) -> (%7) {block=[4], before=[0], after=[0]}
    conv2d d(%4, %1) -> (%8)
    reshape out2(%8) -> (%9) {shape=[4,2,2]}
    batch_to_space from2(%9) -> (%10) {block=[4], before=[0], after=[0]}
  })";
  const ReducedModule result =
      reduced(parsed(text, "const @0 w = i8[1, 2, 3, 4, 5, -6] const @1 b = i32[6, -3]"));
  EXPECT_THAT(nodes(result), ElementsAre("reshape c_row", "conv2d c", "reshape out", "reshape into",
                                         "conv2d d", "reshape out2"));
  for (const std::string name : {"c", "d"})
    EXPECT_EQ(node(result, name).attrs<graph::Conv2dAttrs>().dilation_w, 4) << name;

  // Where the name of its reshape is another operator's, it has a free one.
  std::string taken = text;
  taken.replace(taken.find("conv2d d("), 9, "conv2d c_row(");
  EXPECT_THAT(
      nodes(reduced(parsed(taken, "const @0 w = i8[1, 2, 3, 4, 5, -6] const @1 b = i32[6, -3]"))),
      ElementsAre("reshape c_row_", "conv2d c", "reshape out", "reshape into", "conv2d c_row",
                  "reshape out2"));
}

}  // namespace
}  // namespace intarsia
