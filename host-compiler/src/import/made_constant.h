// A tensor that the file does not hold.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::import {

// A constant when there are bytes.
struct MadeConstant {
  graph::Tensor tensor;
  std::vector<uint8_t> bytes;
};

// Bytes of a constant, in the order of the host and of all files.
template <typename T>
std::vector<uint8_t> little_endian(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline MadeConstant real_constant(std::string name, Shape shape, const std::vector<float>& values) {
  return {{.name = std::move(name), .type = DataType::Float32, .shape = std::move(shape)},
          little_endian(values)};
}

// 0, 1, 2 ... along an axis of a tensor of that rank; first + step * i.
inline MadeConstant counting(std::string name, size_t rank, size_t axis, int64_t count,
                             int32_t first = 0, int32_t step = 1) {
  Shape shape(rank, 1);
  if (rank != 0) shape[axis] = count;
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + step * static_cast<int32_t>(i);
  return {{.name = std::move(name), .type = DataType::Int32, .shape = std::move(shape)},
          little_endian(values)};
}

}  // namespace intarsia::import
