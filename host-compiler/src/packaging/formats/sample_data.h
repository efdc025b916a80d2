// What the sample application of a package computes, and what must come out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::packaging {

// Inputs and outputs of one invocation from the model's first state: the bytes of each tensor, little-endian.
struct SampleData {
  std::vector<graph::TensorValue> inputs, outputs;  // none where `left_out`
  std::string left_out;  // why a sample has no data, as a sentence without its full stop; or empty
  // The device whose outputs may be other steps of their quantisation than these (TargetKind::tolerance); or empty.
  std::string inexact_device;
  // Operators of floats, whose last bits are those of the compiler and of its library.
  bool computes_floats = false;

  // Whether a value that is not the expected one is an error.
  bool is_exact() const { return inexact_device.empty() && !computes_floats; }
};

// Beyond this many bytes of inputs and outputs a sample is without data: it would not fit beside the model.
inline constexpr int64_t kMostSampleBytes = 256 * 1024;

// Pseudo-random inputs, the same for every compilation of a model, and what the reference evaluator makes of them.
Result<SampleData> make_sample_data(const graph::Module& module);

}  // namespace intarsia::packaging
