// Plain whole numbers, buckets, composites and transposed volumes: what they become and what is refused. What they compute is recorded
// (tests/golden/operators).
#include <gmock/gmock.h>

#include <set>

#include "import_support.h"

namespace intarsia::test {
namespace {

using graph::OpKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kSparseToDense = 68, kPow = 78, kAbsolute = 101, kConv3dTranspose = 141;
constexpr int32_t kBucketize = 147, kBitwiseXor = 160, kRightShift = 161, kComposite = 206;

std::vector<OpKind> kinds_in(const ModelSpec& model) {
  std::vector<OpKind> kinds;
  for (const graph::Node& node : imported(model).nodes) kinds.push_back(node.kind);
  return kinds;
}

TensorSpec plain(const char* name, std::vector<int32_t> shape, int8_t type = kInt32) {
  return {name, std::move(shape), type, {}, {}};
}

ModelSpec of_two(int32_t code, int8_t type = kInt32) {
  ModelSpec m;
  m.add(plain("a", {2, 3}, type));
  m.add(plain("b", {3}, type));
  m.add(plain("y", {2, 3}, type));
  m.operators = {{code, {0, 1}, {2}}};
  m.inputs = {0, 1};
  m.outputs = {2};
  return m;
}

ModelSpec by_known(int32_t code, std::vector<int32_t> values) {
  ModelSpec m = of_two(code);
  m.tensors[1].shape = {static_cast<int32_t>(values.size())};
  m.tensors[1].data = bytes_of(values);
  m.inputs = {0};
  return m;
}

TEST(ImportWhole, BitsOfEitherLessThoseOfBoth) {
  using enum OpKind;
  EXPECT_THAT(kinds_in(of_two(kBitwiseXor)), ElementsAre(LogicalOr, LogicalAnd, Sub));
  EXPECT_THAT(kinds_in(of_two(kBitwiseXor, kInt8)),
              ElementsAre(Cast, Cast, LogicalOr, LogicalAnd, Sub, Cast));
  ModelSpec mixed = of_two(kBitwiseXor);
  mixed.tensors[1].type = kInt8;
  EXPECT_THAT(errors(mixed),
              HasSubstr("makes i32 of i32 and i8; i8, u8, i16 and i32 are possible, the same for "
                        "all three"));
  ModelSpec apart = of_two(kBitwiseXor);
  apart.tensors[1].shape = {4};
  EXPECT_THAT(errors(apart), HasSubstr("cannot broadcast [2,3] and [4]"));
}

TEST(ImportWhole, AShiftIsOneQuotientUnlessItLeavesTheSignAlone) {
  using enum OpKind;
  EXPECT_THAT(kinds_in(by_known(kRightShift, {1, 30, -5})), ElementsAre(FloorDiv));
  EXPECT_THAT(kinds_in(by_known(kRightShift, {1, 31, 2})), ElementsAre(FloorDiv, FloorDiv));
  EXPECT_THAT(kinds_in(of_two(kRightShift)),
              ElementsAre(Maximum, Minimum, Gather, Gather, FloorDiv, FloorDiv));
}

TEST(ImportWhole, PowersAreProducts) {
  using enum OpKind;
  EXPECT_THAT(kinds_in(by_known(kPow, {2})), ElementsAre(Mul));
  EXPECT_THAT(kinds_in(by_known(kPow, {11})), ElementsAre(Mul, Mul, Mul, Mul, Mul));
  EXPECT_THAT(kinds_in(by_known(kPow, {1})), ElementsAre(Reshape));
  for (const int32_t exponent : {0, -1, 32})
    EXPECT_THAT(errors(by_known(kPow, {exponent})),
                HasSubstr("takes a power of whole numbers by an exponent that is not one known "
                          "number of 1 to 31; cast the operands to floats before it"));
  EXPECT_THAT(errors(of_two(kPow)), HasSubstr("an exponent that is not one known number"));
}

TEST(ImportWhole, AnAbsoluteValueIsTheGreaterOfTwo) {
  ModelSpec m = of_two(kAbsolute);
  m.operators[0].inputs = {0};
  m.inputs = {0};
  EXPECT_THAT(kinds_in(m), ElementsAre(OpKind::Neg, OpKind::Maximum));
}

constexpr int32_t kSquare = 92, kSelectV2 = 123;

// Files of converters that have no int16 for an operator, which no interpreter runs.
TEST(ImportWhole, WhatTheConverterLeftHalfInFloatsIsComputedInFloats) {
  using enum OpKind;
  ModelSpec compared = of_two(kLess, kFloat32);
  compared.tensors[1] = {"b", {3}, kInt16};
  compared.tensors[2].type = kBool;
  EXPECT_THAT(kinds_in(compared), ElementsAre(Dequantize, Less));

  ModelSpec chosen = of_two(kSelectV2, kFloat32);
  chosen.tensors[0] = plain("c", {2, 3}, kBool);
  chosen.add({"x", {2, 3}, kInt16});
  chosen.tensors[2] = {"y", {2, 3}, kInt16};
  chosen.operators[0].inputs = {0, 3, 1};
  chosen.inputs = {0, 1, 3};
  EXPECT_THAT(kinds_in(chosen), ElementsAre(Dequantize, Select, Quantize));

  ModelSpec square = of_two(kSquare, kFloat32);
  square.tensors[0] = {"a", {2, 3}, kInt16};
  square.operators[0].inputs = {0};
  square.inputs = {0};
  EXPECT_THAT(kinds_in(square), ElementsAre(Dequantize, Square));
  square.add({"rounded", {2, 3}, kInt16, {0.25f}, {0}});
  square.operators.push_back({kQuantize, {2}, {3}});
  square.outputs = {3};
  const graph::Function product = imported(square);
  EXPECT_EQ(product.nodes.front().kind, Mul);
  EXPECT_EQ(product.tensor(product.nodes.front().outputs[0]).quantization.scale,
            std::vector<float>{0.25f});
  square.outputs = {2, 3};
  EXPECT_THAT(kinds_in(square), ElementsAre(Dequantize, Square, Quantize));
}

TEST(ImportWhole, NegativeFloatsOfIntegersSayWhatToDo) {
  constexpr int32_t kNeg = 59;
  ModelSpec negative = of_two(kNeg, kFloat32);
  negative.tensors[0] = {"a", {2, 3}, kInt16};
  negative.operators[0].inputs = {0};
  negative.inputs = {0};
  EXPECT_THAT(
      errors(negative),
      HasSubstr("makes f32 of i16, of which TFLite's interpreters make zeros; the converter "
                "has no integers for it: multiply by -1 in its place"));
}

TEST(ImportWhole, NarrowIntegersAreComparedByWhatTheyStandFor) {
  using enum OpKind;
  ModelSpec m = of_two(kLess);
  m.tensors[0] = {"a", {2, 3}, kInt16, {0.5f}, {0}};
  m.tensors[1] = {"b", {3}, kInt16, {0.5f}, {0}};
  m.tensors[2].type = kBool;
  EXPECT_THAT(kinds_in(m), ElementsAre(Cast, Cast, Less));
  m.tensors[1].scale = {0.25f};
  EXPECT_THAT(kinds_in(m), ElementsAre(Dequantize, Dequantize, Less));
  for (const int8_t type : {kInt8, kUInt8, kInt16}) {
    m.tensors[0] = plain("a", {2, 3}, type), m.tensors[1] = plain("b", {3}, type);
    EXPECT_THAT(kinds_in(m), ElementsAre(Cast, Cast, Less));
  }
}

ModelSpec buckets(std::vector<float> boundaries) {
  ModelSpec m;
  m.add({"x", {4}, kFloat32, {}, {}});
  m.add(plain("y", {4}));
  m.operators = {{kBucketize, {0}, {1}, [=](flatbuffers::FlatBufferBuilder& b) {
                    const auto made = format::CreateBucketizeOptions(b, b.CreateVector(boundaries));
                    return std::pair(format::Options::BucketizeOptions, made.Union());
                  }}};
  m.inputs = {0};
  m.outputs = {1};
  return m;
}

TEST(ImportWhole, BucketsHaveBoundariesInOrder) {
  EXPECT_EQ(errors(buckets({-1, 0, 0, 3})), "");
  for (const std::vector<float>& wrong : {std::vector<float>{}, {1, 0}})
    EXPECT_THAT(errors(buckets(wrong)), HasSubstr("needs boundaries in ascending order"));
  ModelSpec narrow = buckets({0});
  narrow.tensors[0] = {"x", {4}, kInt8};
  EXPECT_THAT(errors(narrow), HasSubstr("makes i32 of i8; i32 of f32 and i32 is possible"));
}

TEST(ImportWhole, SparseValuesAreOneForEachPlaceOrOneForAll) {
  ModelSpec m;
  m.add({"places", {2, 2}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{0, 1, 2, 2})});
  m.add({"shape", {2}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{3, 4})});
  m.add(plain("values", {2}));
  m.add({"elsewhere", {}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{-1})});
  m.add(plain("y", {3, 4}));
  m.operators = {{kSparseToDense, {0, 1, 2, 3}, {4}}};
  m.inputs = {2};
  m.outputs = {4};
  EXPECT_EQ(errors(m), "");
  ModelSpec three = m;
  three.tensors[2].shape = {3};
  EXPECT_THAT(errors(three), HasSubstr("puts [3] at i32[2,2] in [3,4]"));
  ModelSpec flat = m;
  flat.tensors[0].shape = {4};
  EXPECT_THAT(errors(flat), HasSubstr("puts [2] at i32[4] in [3,4]"));
  ModelSpec other = m;
  other.tensors[4].type = kInt8;
  EXPECT_THAT(errors(other), HasSubstr("has values of another type than its output"));
}

// y = x + x, twice, as a subgraph says.
ModelSpec composites() {
  ModelSpec m;
  for (const char* name : {"x", "y", "z"}) m.add({name, {2, 3}, kFloat32, {}, {}});
  OperatorSpec first{kComposite, {0}, {1}};
  first.described_by = 1;
  OperatorSpec second = first;
  second.inputs = {1}, second.outputs = {2};
  m.operators = {first, second};
  m.inputs = {0};
  m.outputs = {2};
  ModelSpec inside;
  for (const char* name : {"a", "twice"}) inside.add({name, {2, 3}, kFloat32, {}, {}});
  inside.operators = {
      {kAdd, {0, 0}, {1}, options_of(&format::CreateAddOptions, format::Activation::None)}};
  inside.inputs = {0}, inside.outputs = {1};
  m.subgraphs = {inside};
  return m;
}

TEST(ImportWhole, AnOperatorWithASubgraphIsTheOperatorsOfIt) {
  using enum OpKind;
  const auto module = import(composites());
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->functions.size(), 1u);
  EXPECT_THAT(kinds_in(composites()), ElementsAre(Add, Reshape, Add, Reshape));
  ModelSpec more = composites();
  more.operators[1].inputs = {1, 0};
  EXPECT_THAT(errors(more), HasSubstr("hands 2 values to subgraph 1 for 1, which takes 1 for 1"));
  ModelSpec shaped = composites();
  shaped.tensors[0].shape = {3, 2};
  EXPECT_THAT(errors(shaped), HasSubstr("to subgraph 1, whose input 0 is another type"));
  ModelSpec made = composites();
  made.tensors[2].shape = {6};
  EXPECT_THAT(errors(made), HasSubstr("which is another type than output 0 of subgraph 1"));
  ModelSpec none = composites();
  none.operators[0].described_by = {};
  EXPECT_THAT(errors(none), HasSubstr("does not say which subgraphs it runs"));
  ModelSpec beyond = composites();
  beyond.operators[0].described_by = 7;
  EXPECT_THAT(errors(beyond), HasSubstr("runs subgraph 7, but the file has 2"));
  ModelSpec circle = composites();
  OperatorSpec itself{kComposite, {1}, {1}};
  itself.described_by = 1;
  circle.subgraphs[0].operators.push_back(itself);
  EXPECT_THAT(errors(circle), HasSubstr("subgraphs call each other in a cycle"));
}

TEST(ImportWhole, CompositesOfCompositesHaveAnEnd) {
  ModelSpec m = composites();
  // Each runs the next one twice.
  for (int32_t next = 2; next < 40; ++next) {
    ModelSpec& inside = m.subgraphs.back();
    inside.add({"half", {2, 3}, kFloat32, {}, {}});
    OperatorSpec first{kComposite, {0}, {2}}, second{kComposite, {2}, {1}};
    first.described_by = second.described_by = next;
    inside.operators = {first, second};
    m.subgraphs.push_back(composites().subgraphs[0]);
  }
  EXPECT_THAT(errors(m), HasSubstr("brings the function to more than 100000 operators"));
}

TEST(ImportWhole, ConstantsOfACompositeAreHeldOnce) {
  ModelSpec m = composites();
  ModelSpec& inside = m.subgraphs[0];
  inside.add({"two", {2, 3}, kFloat32, {}, {}, bytes_of(std::vector<float>(6, 2))});
  inside.operators[0].inputs = {0, 2};
  const auto module = import(m);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  std::set<int32_t> constants;
  for (const graph::Tensor& tensor : module->entry_function().tensors)
    if (tensor.constant.valid()) constants.insert(tensor.constant.index);
  EXPECT_EQ(constants.size(), 1u);
}

ModelSpec transposed_volume() {
  ModelSpec m;
  m.add({"shape", {5}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{1, 4, 4, 4, 2})});
  m.add({"w", {3, 2, 2, 2, 1}, kFloat32, {}, {}, std::vector<uint8_t>(4 * 24)});
  m.add({"x", {1, 2, 2, 2, 1}, kFloat32, {}, {}});
  m.add({"y", {1, 4, 4, 4, 2}, kFloat32, {}, {}});
  m.operators = {
      {kConv3dTranspose,
       {0, 1, 2},
       {3},
       options_of(&format::CreateConv3dOptions, format::Padding::Same, int32_t{2}, int32_t{2},
                  int32_t{2}, format::Activation::None, int32_t{1}, int32_t{1}, int32_t{1})}};
  m.inputs = {2};
  m.outputs = {3};
  return m;
}

TEST(ImportWhole, ATransposedVolumeIsATransposedConvolutionForEachPlaceWithinAStride) {
  using enum OpKind;
  EXPECT_THAT(kinds_in(transposed_volume()),
              ElementsAre(Pad, Slice, Slice, Concat, Reshape, TransposeConv2d, Reshape, Slice,
                          Reshape, TransposeConv2d, Reshape, Concat, Reshape));
  ModelSpec given = transposed_volume();
  given.tensors[1].data = {};
  given.inputs = {1, 2};
  EXPECT_THAT(errors(given), HasSubstr("needs weights that are constant"));
  ModelSpec far = transposed_volume();
  far.operators[0].options =
      options_of(&format::CreateConv3dOptions, format::Padding::Same, int32_t{65}, int32_t{2},
                 int32_t{2}, format::Activation::None, int32_t{1}, int32_t{1}, int32_t{1});
  EXPECT_THAT(errors(far), HasSubstr("has stride_d 65; 1 to 64 are possible"));
  ModelSpec channels = transposed_volume();
  channels.tensors[1].shape = {3, 2, 2, 1, 2};
  EXPECT_THAT(errors(channels),
              HasSubstr("makes [1,4,4,4,2] of the input [1,2,2,2,1] and the weights [3,2,2,1,2]"));
}

}  // namespace
}  // namespace intarsia::test
