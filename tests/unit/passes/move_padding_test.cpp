// Padding in front of a reshape to a picture of one row: what windows take over, and what stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using namespace test;
using ::testing::ElementsAre;

const std::string kRowWeights = "const @0 w = i8[1, 2, 3, 4, 5, -6] const @1 b = i32[6, -3]";

// Rows of 9 elements with `before` more, as pictures through `operators`.
std::string padded_row(const std::string& operators, const std::string& outputs = "(%5)",
                       const std::string& zero_point = "-128") {
  return "(%0) -> " + outputs + R"( {
    %0 x: i8[2,9,1] q(0.5:-128)
    %1 w: i8[2,1,3,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 p: i8[2,11,1] q(0.5:)" +
         zero_point + R"()
    %4 r: i8[2,1,11,1] q(0.5:)" +
         zero_point + R"()
    %5 y: i8[2,1,9,2] q(4:-128)
    %6 z: i8[2,1,5,2] q(4:-128)
    pad pad(%0) -> (%3) {before=[0,2,0], after=[0,0,0]}
    reshape into(%3) -> (%4) {shape=[2,1,11,1]}
    )" + operators +
         "\n}";
}
const std::string kRowWindow = "conv2d c(%4, %1, %2) -> (%5)";

TEST(EliminationPadding, ComesBehindAReshape) {
  const ReducedModule result = reduced(parsed(padded_row(kRowWindow), kRowWeights));
  EXPECT_THAT(nodes(result), ElementsAre("reshape into", "conv2d c"));
  EXPECT_EQ(node(result, "c").attrs<graph::Conv2dAttrs>().padding, (graph::Padding2d{0, 2, 0, 0}));
  const std::string both = kRowWindow + "\n conv2d d(%4, %1) -> (%6) {stride_w=2}";
  EXPECT_THAT(nodes(reduced(parsed(padded_row(both, "(%5, %6)"), kRowWeights))),
              ElementsAre("reshape into", "conv2d c", "conv2d d"));
}

TEST(EliminationPadding, StaysBeforeAReshapeThatOthersSee) {
  const auto count = [](const std::string& text, const EliminationOptions& options = {}) {
    return nodes(reduced(parsed(text, kRowWeights), options)).size();
  };
  EXPECT_EQ(count(padded_row(kRowWindow)), 2u);
  EXPECT_EQ(count(padded_row(kRowWindow), {{"pad"}}), 3u);
  EXPECT_EQ(count(padded_row(kRowWindow), {{"into"}}), 3u);
  EXPECT_EQ(count(padded_row(kRowWindow, "(%5, %3)")), 3u);
  EXPECT_EQ(count(padded_row(kRowWindow, "(%5, %4)")), 3u);
  EXPECT_EQ(count(padded_row(kRowWindow, "(%5)", "-7")), 3u);  // another zero point adds to a sum
}

// Rows of which the reshape makes others: padding lies in the middle of them then.
TEST(EliminationPadding, StaysBeforeAReshapeThatCutsRows) {
  const std::string text = R"((%0) -> (%5) {
    %0 x: i8[2,9,1] q(0.5:-128)
    %1 w: i8[2,1,3,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 p: i8[2,12,1] q(0.5:-128)
    %4 r: i8[2,2,6,1] q(0.5:-128)
    %5 y: i8[2,2,4,2] q(4:-128)
    pad pad(%0) -> (%3) {before=[0,2,0], after=[0,1,0]}
    reshape into(%3) -> (%4) {shape=[2,2,6,1]}
    conv2d c(%4, %1, %2) -> (%5)
  })";
  EXPECT_THAT(nodes(reduced(parsed(text, kRowWeights))),
              ElementsAre("pad pad", "reshape into", "conv2d c"));
}

// Axes that go as well as axes that come.
TEST(EliminationPadding, ComesBehindAReshapeThatDropsAxes) {
  const std::string text = R"((%0) -> (%5) {
    %0 x: i8[1,2,1,9,1] q(0.5:-128)
    %1 w: i8[2,1,3,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 p: i8[1,2,1,12,1] q(0.5:-128)
    %4 r: i8[2,12,1,1] q(0.5:-128)
    %5 y: i8[2,12,1,2] q(4:-128)
    pad pad(%0) -> (%3) {before=[0,0,0,2,0], after=[0,0,0,1,0]}
    reshape into(%3) -> (%4) {shape=[2,12,1,1]}
    conv2d c(%4, %1, %2) -> (%5) {padding={top=0, left=1, bottom=0, right=1}}
  })";
  // The window is one element high: it does not take the padding over.
  EXPECT_THAT(nodes(reduced(parsed(text, kRowWeights))),
              ElementsAre("reshape into", "pad pad", "conv2d c"));
}

}  // namespace
}  // namespace intarsia
