// Samples of inputs that are places along an axis.
#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph_testing.h"
#include "intarsia/graph/tensor_values.h"

namespace intarsia::graph {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::Lt;

std::vector<int64_t> integers_of(const Tensor& tensor, const TensorValue& bytes) {
  std::vector<int64_t> values;
  const size_t width = static_cast<size_t>(bits(tensor.type)) / 8;
  for (size_t at = 0; at < bytes.size(); at += width) {
    int32_t word = 0;
    std::memcpy(&word, &bytes[at], std::min(width, sizeof word));
    values.push_back(word);
  }
  return values;
}

// The integers of input `input` in many samples.
std::vector<int64_t> drawn(const Module& module, size_t input) {
  const Function& entry = module.entry_function();
  std::vector<int64_t> all;
  for (int index = 0; index < 40; ++index) {
    const std::vector<TensorValue> sample = make_sample(module, index);
    const auto values = integers_of(entry.tensor(entry.inputs[input]), sample[input]);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Every place of `first` .. extent - 1 is drawn and no other, so that the reference can compute every sample.
void expect_places(const Module& module, size_t input, int64_t extent, int64_t first = 0) {
  ASSERT_EQ(complaints(module), "");
  const std::vector<int64_t> values = drawn(module, input);
  EXPECT_THAT(values, Each(AllOf(Ge(first), Lt(extent))));
  for (int64_t place = first; place < extent; ++place) EXPECT_THAT(values, Contains(place));
  Evaluator evaluator(module);
  for (int index = 0; index < 8; ++index) {
    const auto result = evaluator.run(make_sample(module, index));
    EXPECT_TRUE(result.ok()) << result.error().to_string();
  }
}

TEST(IndexSamples, OfAGatherAreWithinItsAxis) {
  for (const char* body :
       {"(%0, %1) -> (%2) {\n  %0 x: f32[2,5,3]\n  %1 i: i32[4]\n  %2 y: f32[2,4,3]\n"
        "  gather g(%0, %1) -> (%2) {axis=1, batch_dims=0}\n}",
        // Through operators that move and cast what they get.
        "(%0, %1) -> (%4) {\n  %0 x: f32[2,5,3]\n  %1 i: i64[2,2]\n  %2 c: i32[2,2]\n"
        "  %3 r: i32[4]\n  %4 y: f32[2,4,3]\n  cast c(%1) -> (%2)\n"
        "  reshape r(%2) -> (%3) {shape=[4]}\n"
        "  gather g(%0, %3) -> (%4) {axis=1, batch_dims=0}\n}"})
    expect_places(with_main(body), 1, 5);
}

TEST(IndexSamples, OfTwoGathersAreWithinTheSmallerAxis) {
  expect_places(
      with_main("(%0, %1, %2) -> (%3, %4) {\n  %0 x: f32[7,2]\n  %1 w: f32[3,2]\n  %2 i: i32[4]\n"
                "  %3 y: f32[4,2]\n  %4 z: f32[4,2]\n"
                "  gather a(%0, %2) -> (%3) {axis=0, batch_dims=0}\n"
                "  gather b(%1, %2) -> (%4) {axis=0, batch_dims=0}\n}"),
      2, 3);
}

TEST(IndexSamples, OfScatterNdAreWithinTheAxesThatTheyName) {
  expect_places(with_main("(%0, %1, %2) -> (%3) {\n  %0 x: f32[6,3,2]\n  %1 i: i32[4,2]\n"
                          "  %2 u: f32[4,2]\n  %3 y: f32[6,3,2]\n"
                          "  scatter_nd s(%0, %1, %2) -> (%3) {shape=[6,3,2], reduction=add}\n}"),
                1, 3);
}

TEST(IndexSamples, OfGatherNdAreWithinTheAxesThatTheyName) {
  expect_places(with_main("(%0, %1) -> (%2) {\n  %0 x: f32[6,3,2]\n  %1 i: i32[4,2]\n"
                          "  %2 y: f32[4,2]\n  gather_nd g(%0, %1) -> (%2)\n}"),
                1, 3);
}

TEST(IndexSamples, OfAPlaceToWriteAreWithinTheTensor) {
  expect_places(
      with_main("(%0, %1, %2) -> (%3) {\n  %0 x: f32[4,4]\n  %1 u: f32[1,4]\n  %2 at: i32[2]\n"
                "  %3 y: f32[4,4]\n  dynamic_update_slice d(%0, %1, %2) -> (%3)\n}"),
      2, 4);
}

TEST(IndexSamples, OfAOneHotRowAreWithinTheRow) {
  expect_places(with_main("(%0) -> (%2) {\n  %0 i: i32[4,1]\n  %1 row: i32[1,3] = @0\n"
                          "  %2 y: bool[4,3]\n  equal e(%0, %1) -> (%2)\n}",
                          "const @0 row = i32[0, 1, 2]"),
                0, 3);
}

// Exporters let a negative index count from the end: the sum is chosen only where the index is below 0.
TEST(IndexSamples, OfAnIndexThatMayCountFromTheEndAreWithinItsAxis) {
  expect_places(
      with_main("(%0, %1) -> (%6) {\n  %0 x: f32[5,2]\n  %1 i: i32[4]\n  %2 zero: i32[] = @0\n"
                "  %3 five: i32[] = @1\n  %4 below: bool[4]\n  %5 sum: i32[4]\n"
                "  %6 y: f32[4,2]\n  %7 at: i32[4]\n  less l(%1, %2) -> (%4)\n"
                "  add a(%1, %3) -> (%5)\n  select s(%4, %5, %1) -> (%7)\n"
                "  gather g(%0, %7) -> (%6) {axis=0, batch_dims=0}\n}",
                "const @0 zero = i32[0]\nconst @1 five = i32[5]"),
      1, 5);
}

// Tables of several categories behind one another, and a bounded index.
TEST(IndexSamples, OfAnOffsetIndexLeaveRoomForTheOffset) {
  expect_places(
      with_main("(%0, %1) -> (%4) {\n  %0 x: f32[9,2]\n  %1 i: i32[2]\n"
                "  %2 offsets: i32[2] = @0\n  %3 at: i32[2]\n  %4 y: f32[2,2]\n"
                "  add a(%1, %2) -> (%3)\n  gather g(%0, %3) -> (%4) {axis=0, batch_dims=0}\n}",
                "const @0 offsets = i32[0, 6]"),
      1, 3);
}

TEST(IndexSamples, OfAScaledIndexAreWithinTheQuotient) {
  expect_places(
      with_main("(%0, %1) -> (%6) {\n  %0 x: f32[9,2]\n  %1 i: i32[2]\n  %2 four: i32[] = @0\n"
                "  %3 scaled: i32[2]\n  %4 one: i32[] = @1\n  %5 at: i32[2]\n  %6 y: f32[2,2]\n"
                "  mul m(%1, %2) -> (%3)\n  sub s(%3, %4) -> (%5)\n"
                "  gather g(%0, %5) -> (%6) {axis=0, batch_dims=0}\n}",
                "const @0 four = i32[4]\nconst @1 one = i32[1]"),
      1, 3, 1);
}

TEST(IndexSamples, OfFloatsThatAreCastAreWholeNumbersWithinTheAxis) {
  const Module module = with_main(
      "(%0, %1) -> (%3) {\n  %0 x: f32[5,2]\n  %1 i: f32[4]\n  %2 at: i32[4]\n"
      "  %3 y: f32[4,2]\n  cast c(%1) -> (%2)\n"
      "  gather g(%0, %2) -> (%3) {axis=0, batch_dims=0}\n}");
  ASSERT_EQ(complaints(module), "");
  Evaluator evaluator(module);
  for (int index = 0; index < 8; ++index)
    EXPECT_TRUE(evaluator.run(make_sample(module, index)).ok());
}

// An integer that nobody uses as a place is drawn from all of its type; so is the data of a gather.
TEST(IndexSamples, OfOtherIntegersAreOfTheWholeType) {
  const Module module = with_main(
      "(%0, %1) -> (%2) {\n  %0 x: i8[5] q(1:0)\n  %1 i: i32[4]\n  %2 y: i8[4] q(1:0)\n"
      "  gather g(%0, %1) -> (%2) {axis=0, batch_dims=0}\n}");
  ASSERT_EQ(complaints(module), "");
  const std::vector<TensorValue> sample = make_sample(module, 1);
  EXPECT_THAT(sample[0], Each(0x80));
  EXPECT_THAT(sample[1], Each(0));
}

}  // namespace
}  // namespace intarsia::graph
