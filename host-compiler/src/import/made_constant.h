// A tensor that the file does not hold.
#pragma once

#include <cstdint>
#include <cstring>
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

}  // namespace intarsia::import
