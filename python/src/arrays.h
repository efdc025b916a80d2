// Values of tensors as arrays, and arrays as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "intarsia/graph.h"
#include "intarsia/package.h"

namespace intarsia::python {

using Array = nanobind::ndarray<nanobind::numpy>;
// Python's side has checked its type and its shape.
using Operand = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

// What Python is told of a tensor.
struct TensorFacts {
  std::string name, dtype, type;
  std::vector<int64_t> shape;
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  int axis = 0;
};
TensorFacts facts_of(const graph::Tensor& tensor);
TensorFacts facts_of(const TensorInfo& tensor);

// Of `samples` values, one after another: the array has that extent in front of the tensor's; 0: of one value, without. The array
// owns the bytes, which are not copied.
Array to_array(DataType type, const Shape& shape, std::vector<uint8_t> bytes, size_t samples = 0);

// A copy of the array's elements as the tensor's bytes.
std::vector<uint8_t> bytes_of(DataType type, const Shape& shape, const Operand& operand,
                              size_t samples = 0);

}  // namespace intarsia::python
