// Values of tensors: samples to check a program with, and the one rule by which a program's values are
// compared with the reference's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::graph {

inline constexpr int kFirstRandomSample = 3;
// One value per input of the module's function. Sample 0 is all zero points, 1 and 2 are the smallest and the
// largest values of the type (of floats: -1 and 1), all others are random (floats between -1 and 1). The
// same number gives the same sample everywhere. A bool is 0 or 1. What the function uses as places along an axis lies
// within that axis.
std::vector<TensorValue> make_sample(const Module& module, const Function& function, int index);
// Of the function that is the model.
std::vector<TensorValue> make_sample(const Module& module, int index);

// An element of a program's value that is not the reference's.
struct ValueDifference {
  int64_t element = 0;  // row-major; -1: the values have different sizes
  std::string reference, program;

  // "element 7 [0,1,3]: reference 5, program 7".
  std::string text(const Shape& shape) const;
};

// The first element that differs, or nothing. Integers and bools agree bit by bit, or within `steps`
// where they are quantised values, of 8 or 16 bits. Floats agree when they differ by no more than 4e-5 of the reference's
// magnitude, or 4e-5 where that is below 1: the mathematical functions of two C libraries differ in their
// last bits. NaN agrees with NaN, an infinity with the same infinity only, 0 with -0.
std::optional<ValueDifference> first_difference(const Tensor& tensor, const TensorValue& reference,
                                                const TensorValue& program, int32_t steps = 0);

// Of integers of 8 or 16 bits, the largest difference of two elements; 0 for all other types.
int32_t largest_steps(const Tensor& tensor, const TensorValue& a, const TensorValue& b);

}  // namespace intarsia::graph
