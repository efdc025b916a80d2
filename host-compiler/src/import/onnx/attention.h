// Attention of many heads, for the operators of several domains that are it.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Queries, keys and values: [batch, heads, steps, features], or rows [batch, steps, heads * features]. The others may be no tensor.
struct AttentionOperands {
  graph::TensorId query, key, value;
  graph::TensorId mask;  // of bools: who may be looked at
  graph::TensorId bias;  // is added to the scores
  graph::TensorId past_key, past_value;
  graph::TensorId
      lengths;  // [batch], of integers: how many keys there are; those behind them are room
  int64_t query_heads = 0, key_heads = 0;  // of rows
  float scale = 0;                         // of the scores; 0: one over the root of the features
  bool is_causal = false;
};

// The results of the operator being read: values in the form of its first operand, keys and values with those of the past.
void write_attention(Reader& in, const AttentionOperands& operands);

}  // namespace intarsia::onnx
