// What a model of a test computes.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "onnx_model.h"

namespace intarsia::onnx_models {

template <typename T>
graph::TensorValue raw_values(const std::vector<T>& values) {
  graph::TensorValue bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<float> floats_of(const Model& model,
                                    const std::vector<graph::TensorValue>& inputs) {
  const auto module = model.read();
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  if (!module.ok()) return {};
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.error().to_string();
  if (!outputs.ok()) return {};
  std::vector<float> found(outputs->at(0).size() / sizeof(float));
  std::memcpy(found.data(), outputs->at(0).data(), outputs->at(0).size());
  return found;
}

inline std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace intarsia::onnx_models
