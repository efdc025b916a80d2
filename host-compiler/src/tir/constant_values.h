// The elements of an integer constant.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::tir {

// Empty when the bytes are not what type and extents say, or the type is Float32.
std::vector<int64_t> integer_values(const Constant& constant);

}  // namespace intarsia::tir
