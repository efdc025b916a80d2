// LSTM on weights of bytes as onnxruntime's DynamicQuantizeLSTM computes it: the input becomes bytes of one range for all its
// steps, the hidden state such in each step, and products are sums of integers.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// One direction of the operator being read.
struct ByteLstm {
  int64_t direction = 0, steps = 1, batches = 1, units = 1;
  bool backwards = false;
  graph::TensorId input;         // [steps, batches, features]
  graph::TensorId hidden, cell;  // [batches, units]; none: zeros
  // Bytes, scales and zero points of the input, once a direction has made them: the same of all.
  std::vector<graph::TensorId>* bytes = nullptr;
};

// [steps, batches, units] of all steps, and both states, [batches, units], behind them. Nothing, and no problem, where weights or biases
// are not known, or weights less their zero points no bytes.
std::optional<std::array<graph::TensorId, 3>> read_byte_lstm(Reader& in, const ByteLstm& lstm);

}  // namespace intarsia::onnx
