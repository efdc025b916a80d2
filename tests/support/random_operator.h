// Modules of one operator with random shapes, attributes, quantisation and constants: small enough
// to run in microseconds, odd enough to reach clipped windows, dilation, groups, broadcasting and
// saturation.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::testing {

// Deterministic on every machine (the standard distributions are not).
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t range(int64_t low, int64_t high) {  // both included
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return range(1, 100) <= percent; }
  float real(float low, float high) {
    return low + (high - low) * static_cast<float>(range(0, 1 << 20)) / static_cast<float>(1 << 20);
  }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(range(0, static_cast<int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937 engine_;
};

// A verified module whose entry "main" has one node of the kind. The type is that of activations:
// Int8 or Float32. For quantize and dequantize it is the integer type of one side.
graph::Module random_operator(Random& random, graph::OpKind kind, DataType type);

// Values for every input of the entry.
std::vector<graph::TensorValue> random_inputs(Random& random, const graph::Module& module);

}  // namespace intarsia::testing
