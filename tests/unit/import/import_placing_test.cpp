// Elements put where indices say, volumes, signs, and integers with an operand that is not as the format's kernels want it: what
// they become and what is refused. What they compute is recorded (tests/golden/operators).
#include "import_support.h"

namespace intarsia::test {
namespace {

using graph::OpKind;
using testing::HasSubstr;

constexpr int32_t kPadV2 = 60, kScatterNd = 122, kSegmentSum = 125, kConv3d = 132;
constexpr int32_t kUnsortedSegmentSum = 155, kSign = 158;

std::vector<OpKind> kinds_of(const ModelSpec& model) {
  std::vector<OpKind> kinds;
  for (const graph::Node& node : imported(model).nodes) kinds.push_back(node.kind);
  return kinds;
}

ModelSpec scatter(int8_t type, std::vector<int32_t> places = {}) {
  ModelSpec m;
  const bool is_narrow = type == kInt8;
  m.add({"places", {2, 1}, kInt32, {}, {}, bytes_of(places)});
  m.add({"updates", {2, 3}, type});
  m.add({"shape", {2}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{5, 3})});
  m.add({"y", {5, 3}, type});
  for (const size_t i : {1, 3})
    if (!is_narrow) m.tensors[i].scale = {}, m.tensors[i].zero_point = {};
  m.operators = {{kScatterNd, {0, 1, 2}, {3}}};
  m.inputs = places.empty() ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{1};
  m.outputs = {3};
  return m;
}

TEST(ImportPlacing, UpdatesAreAddedUpOrTakeKnownPlaces) {
  const auto reduction = [](const ModelSpec& m) {
    return imported(m).nodes.back().attrs<graph::ScatterAttrs>().reduction;
  };
  EXPECT_EQ(reduction(scatter(kFloat32)), "add");
  EXPECT_EQ(reduction(scatter(kInt32, {1, 1})), "add");
  EXPECT_EQ(reduction(scatter(kInt8, {1, 4})), "none");
  // Bytes that may meet are added up with 32 bits, of which the lowest are left.
  for (const std::vector<int32_t>& places : {std::vector<int32_t>{}, {1, 1}})
    EXPECT_EQ(kinds_of(scatter(kInt8, places)),
              (std::vector{OpKind::Cast, OpKind::ScatterNd, OpKind::Cast}));
  EXPECT_THAT(errors(scatter(kInt64)), HasSubstr("adds up i64 where places may be named twice"));
  ModelSpec deep = scatter(kFloat32);
  deep.tensors[0].shape = {2, 3};
  EXPECT_THAT(errors(deep), HasSubstr("names places by [2,3] in [5,3]"));
  ModelSpec wrong = scatter(kFloat32);
  wrong.tensors[1].shape = {3, 3};
  EXPECT_THAT(errors(wrong), HasSubstr("the updates have the shape [3,3], but [2,3] are needed"));
}

TEST(ImportPlacing, SegmentsNeedKnownCounts) {
  ModelSpec m;
  m.add({"x", {4, 2}, kFloat32, {}, {}});
  m.add({"ids", {4}, kInt32, {}, {}});
  m.add({"count", {}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{3})});
  m.add({"y", {3, 2}, kFloat32, {}, {}});
  m.operators = {{kUnsortedSegmentSum, {0, 1, 2}, {3}}};
  m.inputs = {0, 1};
  m.outputs = {3};
  EXPECT_EQ(errors(m), "");
  ModelSpec halves = m;
  halves.tensors[0].shape = {5, 2};
  EXPECT_THAT(errors(halves), HasSubstr("has numbers [4] for [5,2]"));
  ModelSpec open = m;
  open.tensors[2].data = {};
  open.inputs = {0, 1, 2};
  EXPECT_THAT(errors(open), HasSubstr("how many results there are"));
  ModelSpec none = m;
  none.tensors[2].data = bytes_of(std::vector<int32_t>{0});
  EXPECT_THAT(errors(none), HasSubstr("makes 0 results; 1 or more are possible"));
  ModelSpec sorted = m;
  sorted.operators = {{kSegmentSum, {0, 1}, {3}}};
  sorted.tensors[3].signature = {-1, 2};
  EXPECT_THAT(errors(sorted), HasSubstr("as many results as its numbers say when the model runs"));
}

TEST(ImportPlacing, SignsOfFloatsAndPlainIntegers) {
  ModelSpec m;
  m.add({"x", {4}, kInt32, {}, {}});
  m.add({"y", {4}, kInt32, {}, {}});
  m.operators = {{kSign, {0}, {1}}};
  m.inputs = {0};
  m.outputs = {1};
  EXPECT_EQ(errors(m), "");
  m.tensors[0] = {"x", {4}, kInt8};
  m.tensors[1] = {"y", {4}, kInt8};
  EXPECT_THAT(errors(m), HasSubstr("computes on i8; f32 and i32 are possible"));
}

ModelSpec volume() {
  ModelSpec m;
  m.add({"x", {1, 4, 5, 6, 1}, kFloat32, {}, {}});
  m.add({"w", {3, 2, 2, 1, 2}, kFloat32, {}, {}, std::vector<uint8_t>(4 * 24)});
  m.add({"y", {1, 2, 4, 5, 2}, kFloat32, {}, {}});
  m.operators = {
      {kConv3d,
       {0, 1},
       {2},
       options_of(&format::CreateConv3dOptions, format::Padding::Valid, int32_t{1}, int32_t{1},
                  int32_t{1}, format::Activation::None, int32_t{1}, int32_t{1}, int32_t{1})}};
  m.inputs = {0};
  m.outputs = {2};
  return m;
}

TEST(ImportPlacing, AVolumesPlanesAreChannelsOfAConvolution) {
  using enum OpKind;
  EXPECT_THAT(kinds_of(volume()),
              testing::ElementsAre(Slice, Slice, Slice, Concat, Reshape, Conv2d, Reshape));
  ModelSpec narrow = volume();
  narrow.tensors[0].shape[1] = 2;
  EXPECT_THAT(errors(narrow), HasSubstr("has a window of 3 in an extent of 2"));
  ModelSpec given = volume();
  given.tensors[1].data = {};
  given.inputs = {0, 1};
  EXPECT_THAT(errors(given), HasSubstr("needs weights that are constant"));
  ModelSpec channels = volume();
  channels.tensors[1].shape = {3, 2, 1, 2, 2};
  EXPECT_THAT(errors(channels), HasSubstr("has the input [1,4,5,6,1] and the weights [3,2,1,2,2]"));
}

TEST(ImportPlacing, ComputedWeightsWithAZeroPointAreFloats) {
  ModelSpec m;
  m.add({"x", {1, 5, 5, 2}, kInt8});
  m.add({"w", {3, 3, 3, 2}, kInt8, {0.1f}, {4}});
  m.add({"b", {3}, kInt32, {0.05f}, {0}, bytes_of(std::vector<int32_t>{1, 2, 3})});
  m.add({"y", {1, 3, 3, 3}, kInt8});
  m.operators = {{kConv2d,
                  {0, 1, 2},
                  {3},
                  options_of(&format::CreateConv2dOptions, format::Padding::Valid, 1, 1,
                             format::Activation::None, 1, 1, int8_t{0})}};
  m.inputs = {0, 1};
  m.outputs = {3};
  using enum OpKind;
  EXPECT_THAT(kinds_of(m), testing::ElementsAre(Dequantize, Dequantize, Conv2d, Quantize));
  m.tensors[1].zero_point = {0};
  EXPECT_THAT(kinds_of(m), testing::ElementsAre(Conv2d));
}

TEST(ImportPlacing, AFloatThatFillsIntegersIsTheNearestOfThem) {
  ModelSpec m;
  m.add({"x", {1, 2}, kInt8, {0.5f}, {3}});
  m.add({"pads", {2, 2}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{0, 0, 1, 0})});
  m.add({"value", {}, kFloat32, {}, {}, bytes_of(std::vector<float>{-2.2f})});
  m.add({"y", {1, 3}, kInt8, {0.5f}, {3}});
  m.operators = {{kPadV2, {0, 1, 2}, {3}}};
  m.inputs = {0};
  m.outputs = {3};
  ASSERT_EQ(errors(m), "");
  const auto module = import(m);
  EXPECT_EQ(module->constants.back().bytes, std::vector<uint8_t>{0xff});  // round(-4.4) + 3
}

}  // namespace
}  // namespace intarsia::test
