// Operators that onnxruntime joins: what they become, and what is refused in which words. What they compute is compared with onnxruntime
// in tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

constexpr int kUInt8 = 2, kInt32 = 6;

struct Operator {
  Model model;
  format::Node* node;
};

// `type` of com.microsoft on the input x and constants c1, c2, ... of these shapes; one with no axes at all is absent.
Operator joined(const std::string& type, const std::vector<int64_t>& x,
                const std::vector<std::pair<std::vector<int64_t>, int>>& constants) {
  Operator made;
  made.model.input("x", x).output("y");
  format::OperatorSet& set = *made.model.raw().add_operator_set();
  set.set_domain("com.microsoft"), set.set_version(1);
  std::vector<std::string> names = {"x"};
  for (const auto& [shape, element] : constants) {
    names.push_back(shape.empty() ? "" : "c" + std::to_string(names.size()));
    if (shape.empty()) continue;
    format::Tensor& tensor = made.model.constant(names.back(), shape, kInt8);
    const size_t bytes = tensor.raw().size() * (element == kFloat || element == kInt32 ? 4 : 1);
    tensor.set_element(element), tensor.set_raw(std::string(bytes, '\0'));
  }
  made.node = &made.model.node(type, names, {"y"});
  made.node->set_domain("com.microsoft");
  return made;
}

Operator few_bits(int64_t bits,
                  const std::vector<std::pair<std::vector<int64_t>, int>>& constants) {
  Operator made = joined("MatMulNBits", {3, 32}, constants);
  Model::attribute(*made.node, "N").set_integer(2);
  Model::attribute(*made.node, "K").set_integer(32);
  Model::attribute(*made.node, "bits").set_integer(bits);
  Model::attribute(*made.node, "block_size").set_integer(16);
  return made;
}

TEST(OnnxFused, ProductsWithPackedWeightsAreLayersOfFloats) {
  const auto module = few_bits(4, {{{2, 2, 8}, kUInt8}, {{4}, kFloat}}).model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->entry_function().nodes.size(), 1u);
  EXPECT_EQ(module->entry_function().nodes[0].kind, graph::OpKind::FullyConnected);
}

TEST(OnnxFused, PackedWeightsThatDoNotFit) {
  EXPECT_THAT(few_bits(3, {{{2, 2, 8}, kUInt8}, {{4}, kFloat}}).model.refusal(),
              HasSubstr("has weights of 3 bits; 2, 4 and 8 are possible"));
  EXPECT_THAT(few_bits(4, {{{2, 2, 7}, kUInt8}, {{4}, kFloat}}).model.refusal(),
              HasSubstr("has the weights [2,2,7] and scales [4] for 2 rows of 32 in blocks of 16"));
  EXPECT_THAT(few_bits(4, {{{2, 2, 8}, kUInt8}, {{3}, kFloat}}).model.refusal(),
              HasSubstr("scales [3] for 2 rows of 32"));
  EXPECT_THAT(few_bits(4, {{{2, 2, 8}, kUInt8}, {{4}, kFloat}, {{3}, kUInt8}}).model.refusal(),
              HasSubstr("has the zero points [3] for 2 rows of 2 blocks"));
  EXPECT_THAT(
      few_bits(4, {{{2, 2, 8}, kUInt8}, {{4}, kFloat}, {{}, 0}, {{32}, kInt32}}).model.refusal(),
      HasSubstr("has weights in another order (g_idx); quantise the model without act_order"));
  EXPECT_THAT(joined("MatMulNBits", {3, 32}, {{{2, 2, 8}, kUInt8}, {{4}, kFloat}}).model.refusal(),
              HasSubstr("multiplies by 0 rows of 0 in blocks of 0"));
}

TEST(OnnxFused, WhatIsNotKnownIsRefused) {
  Operator conv = joined("FusedConv", {1, 3, 4, 4}, {{{2, 3, 1, 1}, kFloat}});
  Model::attribute(*conv.node, "activation").set_text("Frobnicate");
  EXPECT_THAT(conv.model.refusal(),
              HasSubstr("has the activation 'Frobnicate'; save the model without onnxruntime's "
                        "optimisations"));
  EXPECT_THAT(joined("EmbedLayerNormalization", {2, 4}, {{{3}, kFloat}}).model.refusal(),
              HasSubstr("lacks operands"));
  Operator exchanged = joined("FusedMatMul", {2, 3, 4}, {{{2, 4, 5}, kFloat}});
  Model::attribute(*exchanged.node, "transBatchA").set_integer(1);
  EXPECT_THAT(exchanged.model.refusal(), HasSubstr("exchanges the batches of its operands"));
}

TEST(OnnxFused, AttentionThatCannotBeWrittenOut) {
  const auto attention = [](const std::vector<std::pair<std::vector<int64_t>, int>>& constants) {
    Operator made = joined("Attention", {2, 5, 8}, constants);
    Model::attribute(*made.node, "num_heads").set_integer(2);
    return made;
  };
  EXPECT_THAT(attention({{{8, 24}, kFloat}, {{24}, kFloat}, {{2}, kInt32}}).model.refusal(),
              HasSubstr("has the mask [2]; give it a mask of keys, or of queries and keys"));
  EXPECT_THAT(attention({{{8, 24}, kFloat}, {{24}, kFloat}, {{}, 0}, {{2, 2, 2, 5, 4}, kFloat}})
                  .model.refusal(),
              HasSubstr("keeps what it has seen"));
  Operator shown = attention({{{8, 24}, kFloat}, {{24}, kFloat}});
  shown.node->add_output("present");
  shown.model.output("present");
  EXPECT_THAT(shown.model.refusal(), HasSubstr("gives 'present', too"));
  EXPECT_THAT(joined("MultiHeadAttention", {2, 5, 2, 3, 4}, {}).model.refusal(),
              HasSubstr("has queries, keys and values in one operand"));
}

}  // namespace
}  // namespace intarsia
