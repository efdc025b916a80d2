// Evaluating a graph on literal values.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "graph_testing.h"

namespace intarsia::graph {

template <typename T>
TensorValue bytes(const std::vector<T>& values) {
  TensorValue result(values.size() * sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), values.data(), result.size());
  return result;
}

template <typename T>
std::vector<T> values(const TensorValue& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

// The only output of a verified module.
inline TensorValue evaluated(const Module& module, const std::vector<TensorValue>& inputs) {
  if (!complaints(module).empty()) {
    ADD_FAILURE() << complaints(module) << print(module);
    return {};
  }
  Evaluator evaluator(module);
  Result<std::vector<TensorValue>> outputs = evaluator.run(inputs);
  if (!outputs.ok() || outputs.value().size() != 1) {
    ADD_FAILURE() << (outputs.ok() ? "not one output" : outputs.error().to_string());
    return {};
  }
  return outputs.value()[0];
}

// The same for a main function written as text; see with_main.
template <typename Out, typename In>
std::vector<Out> result_of(std::string_view body, const std::vector<In>& input,
                           std::string_view constants = "") {
  return values<Out>(evaluated(with_main(body, constants), {bytes(input)}));
}

}  // namespace intarsia::graph
