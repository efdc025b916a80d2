// Operators of the format that are several of ours: what they refuse. What they compute is recorded (tests/golden/operators).
#include <flatbuffers/flexbuffers.h>

#include "import_support.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

TensorSpec number(const char* name, int32_t value) {
  return {name, {}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{value})};
}

ModelSpec top_k(int32_t k, int32_t made) {
  ModelSpec m;
  m.add({"x", {2, 20}, kFloat32, {}, {}});
  m.add(number("k", k));
  m.add({"values", {2, made}, kFloat32, {}, {}});
  m.add({"indices", {2, made}, kInt32, {}, {}});
  m.operators = {{kTopKV2, {0, 1}, {2, 3}}};
  m.inputs = {0};
  m.outputs = {2, 3};
  return m;
}

TEST(ImportComposed, TopK) {
  EXPECT_EQ(errors(top_k(3, 3)), "");
  EXPECT_EQ(errors(top_k(16, 16)), "");
  for (const int32_t k : {0, -1, 17, 21})
    EXPECT_EQ(errors(top_k(k, 3)),
              "some/m.tflite: operator 0 'values' (TOPK_V2 v1): takes the [" + std::to_string(k) +
                  "] largest of [2,20]; 1 to 16 of the last axis are possible\n");
  EXPECT_THAT(errors(top_k(3, 4)), HasSubstr("has the shape [2,3], but is declared as [2,4]"));
  ModelSpec one = top_k(3, 3);
  one.operators[0].outputs = {2};
  one.outputs = {2};
  EXPECT_THAT(errors(one), HasSubstr("has 1 outputs, but makes 2"));
}

TEST(ImportComposed, OneHotNeedsADepth) {
  ModelSpec m;
  m.add({"indices", {4}, kInt32, {}, {}});
  m.add(number("depth", 0));
  m.add(number("on", 1));
  m.add(number("off", 0));
  m.add({"y", {4, 3}, kInt32, {}, {}});
  m.operators = {
      {kOneHot, {0, 1, 2, 3}, {4}, options_of(&format::CreateOneHotOptions, int32_t{-1})}};
  m.inputs = {0};
  m.outputs = {4};
  EXPECT_THAT(errors(m), HasSubstr("needs a depth of 1 or more"));
  m.tensors[1] = number("depth", 3);
  EXPECT_EQ(errors(m), "");
  m.operators[0].options = options_of(&format::CreateOneHotOptions, int32_t{2});
  EXPECT_THAT(errors(m), HasSubstr("names axis 2 of a tensor of rank 2"));
}

TEST(ImportComposed, ReverseSequenceKnowsItsAxes) {
  ModelSpec m;
  m.add({"x", {3, 5}, kFloat32, {}, {}});
  m.add({"lengths", {3}, kInt32, {}, {}});
  m.add({"y", {3, 5}, kFloat32, {}, {}});
  m.operators = {{kReverseSequence,
                  {0, 1},
                  {2},
                  options_of(&format::CreateReverseSequenceOptions, int32_t{1}, int32_t{0})}};
  m.inputs = {0, 1};
  m.outputs = {2};
  EXPECT_EQ(errors(m), "");
  m.operators[0].options =
      options_of(&format::CreateReverseSequenceOptions, int32_t{0}, int32_t{1});
  EXPECT_THAT(errors(m), HasSubstr("reverses axis 0 of batches along axis 1"));
  m.operators[0].options = {};
  EXPECT_THAT(errors(m), HasSubstr("has no options"));
}

}  // namespace
}  // namespace intarsia::test
