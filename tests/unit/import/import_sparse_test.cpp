// Constants of which a file stores only what is not zero.
#include <cstring>

#include "import_support.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

constexpr int8_t kHalf = 1;

// DENSIFY of a constant, and a change of sign of what it makes.
ModelSpec densified(TensorSpec stored) {
  ModelSpec m;
  TensorSpec whole{"whole", stored.shape, stored.type, {}, {}};
  const auto from = m.add(std::move(stored)), to = m.add(std::move(whole));
  const auto y = m.add({"y", m.tensors[0].shape, m.tensors[0].type, {}, {}});
  m.operators = {{kDensify, {from}, {to}}, {kNeg, {to}, {y}}};
  m.outputs = {y};
  return m;
}

TensorSpec numbers(std::vector<int32_t> shape, const std::vector<float>& values,
                   SparseSpec sparse) {
  TensorSpec made{"stored", std::move(shape), kFloat32, {}, {}};
  made.data.resize(values.size() * sizeof(float));
  std::memcpy(made.data.data(), values.data(), made.data.size());
  made.sparse = std::move(sparse);
  return made;
}

// What the model makes, with the sign that it had.
std::vector<float> values_of(const ModelSpec& model) {
  const Result<graph::Module> module = import(model);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  if (!module.ok()) return {};
  const graph::TensorValue bytes = graph::Evaluator(*module).run({})->at(0);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (float& value : values) value = 0 - value;
  return values;
}

// Rows of three: 0 7 0, 8 0 9.
SparseSpec by_rows() {
  return {{0, 1}, {}, {{2}, {0, {0, 1, 3}, {1, 0, 2}}}};
}

TEST(ImportSparse, ByRows) {
  SparseSpec sparse = by_rows();
  const std::vector<float> whole{0, 7, 0, 8, 0, 9};
  EXPECT_EQ(values_of(densified(numbers({2, 3}, {7, 8, 9}, sparse))), whole);
  sparse.narrow = true;
  EXPECT_EQ(values_of(densified(numbers({2, 3}, {7, 8, 9}, sparse))), whole);
}

TEST(ImportSparse, ByColumns) {
  const SparseSpec sparse{{1, 0}, {}, {{3}, {0, {0, 1, 2, 3}, {1, 0, 1}}}};
  EXPECT_EQ(values_of(densified(numbers({2, 3}, {8, 7, 9}, sparse))),
            (std::vector<float>{0, 7, 0, 8, 0, 9}));
}

// Blocks of two by two, of which the second one of the first row and none of the second are stored.
TEST(ImportSparse, ByBlocks) {
  const SparseSpec sparse{{0, 1, 2, 3}, {0, 1}, {{2}, {0, {0, 1, 1}, {1}}, {2}, {2}}};
  EXPECT_EQ(values_of(densified(numbers({4, 4}, {1, 2, 3, 4}, sparse))),
            (std::vector<float>{0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}));
}

// Rows that nothing is stored of, and columns of those that are.
TEST(ImportSparse, TwoSparseDimensions) {
  const SparseSpec sparse{{0, 1}, {}, {{0, {0, 1}, {1}}, {0, {0, 2}, {0, 2}}}};
  EXPECT_EQ(values_of(densified(numbers({2, 3}, {8, 9}, sparse))),
            (std::vector<float>{0, 0, 0, 8, 0, 9}));
}

TEST(ImportSparse, HalvesAreWidened) {
  TensorSpec stored = numbers({2, 3}, {}, by_rows());
  stored.type = kHalf;
  stored.data = {0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38};  // 1, -2, 0.5
  ModelSpec m = densified(std::move(stored));
  m.tensors[2].type = kFloat32;
  const auto real = m.add({"real", {2, 3}, kFloat32, {}, {}});
  m.operators.insert(m.operators.begin() + 1, {kDequantize, {1}, {real}});
  m.operators[2].inputs = {real};
  EXPECT_EQ(values_of(m), (std::vector<float>{0, 1, 0, -2, 0, 0.5f}));
}

// Weights of a layer without an operator that makes them dense.
TEST(ImportSparse, OperandsAreDenseWithoutDensify) {
  ModelSpec m;
  const auto stored = m.add(numbers({2, 3}, {7, 8, 9}, by_rows()));
  const auto y = m.add(real("y", {2, 3}));
  m.operators = {{kNeg, {stored}, {y}}};
  m.outputs = {y};
  EXPECT_EQ(values_of(m), (std::vector<float>{0, 7, 0, 8, 0, 9}));
}

std::string refusal(std::vector<int32_t> shape, size_t count, SparseSpec sparse) {
  return errors(
      densified(numbers(std::move(shape), std::vector<float>(count, 1), std::move(sparse))));
}

TEST(ImportSparse, WhatCannotBe) {
  const auto changed = [](auto change) {
    SparseSpec sparse = by_rows();
    change(sparse);
    return refusal({2, 3}, 3, sparse);
  };
  EXPECT_THAT(changed([](SparseSpec& s) {
                s.order = {0, 0};
              }),
              HasSubstr("is stored sparse in the order [0,0], for a shape [2,3] and 0 blocks"));
  EXPECT_THAT(changed([](SparseSpec& s) { s.levels.pop_back(); }), HasSubstr("in the order [0,1]"));
  EXPECT_THAT(changed([](SparseSpec& s) { s.levels[0].extent = 3; }),
              HasSubstr("with an extent of 3 in place of 2"));
  EXPECT_THAT(changed([](SparseSpec& s) { s.levels[1].places[2] = 3; }),
              HasSubstr("lists place 3 of a dimension of 3"));
  EXPECT_THAT(changed([](SparseSpec& s) { s.levels[1].places[0] = -1; }),
              HasSubstr("lists place -1 of a dimension of 3"));
  EXPECT_THAT(changed([](SparseSpec& s) {
                s.levels[1].segments = {0, 3};
              }),
              HasSubstr("lists 3 places in 2 segments, for 2 rows"));
  EXPECT_THAT(changed([](SparseSpec& s) {
                s.levels[1].segments = {0, 4, 3};
              }),
              HasSubstr("lists 3 places in 3 segments, for 2 rows"));
  EXPECT_THAT(refusal({2, 3}, 4, by_rows()), HasSubstr("stores 16 bytes for 3 sparse elements"));
  EXPECT_THAT(refusal({3, 4}, 4, {{0, 1, 2}, {0}, {{1}, {0, {0, 1}, {1}}, {2}}}),
              HasSubstr("with blocks that do not divide its shape [3,4]"));
  EXPECT_THAT(refusal({2, 4}, 4, {{0, 1, 2}, {7}, {{1}, {0, {0, 1}, {1}}, {2}}}),
              HasSubstr("with blocks of dimension 7"));
  EXPECT_THAT(refusal({1 << 14, 1 << 14}, 1, {{0, 1}, {}, {{1 << 14}, {0, {0, 1}, {1}}}}),
              HasSubstr("stores 4 bytes of 1073741824, which is too little to be a network's"));
}

TEST(ImportSparse, NothingButConstantsIsMadeDense) {
  ModelSpec m;
  const auto x = m.add(real("x", {2})), y = m.add(real("y", {2}));
  m.inputs = {x}, m.outputs = {y};
  m.operators = {{kDensify, {x}, {y}}};
  EXPECT_THAT(errors(m), HasSubstr("makes dense what only the running model knows"));
  m = densified(numbers({2, 3}, {7, 8, 9}, by_rows()));
  m.tensors[1].shape = {3, 2};
  EXPECT_THAT(errors(m), HasSubstr("makes f32[3,2] of f32[2,3]"));
}

}  // namespace
}  // namespace intarsia::test
