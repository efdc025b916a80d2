// A tensor that the file does not hold.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::import {

// A constant when there are bytes.
struct MadeConstant {
  graph::Tensor tensor;
  std::vector<uint8_t> bytes;
};

}  // namespace intarsia::import
