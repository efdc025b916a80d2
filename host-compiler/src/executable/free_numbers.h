// The numbers of a function that no address and no number of iterations depends on: zero points, multipliers, limits.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/plugin/kernel_library.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::executable {

struct FreedNumbers {
  tir::Stmt body;  // with loads where the numbers were
  std::vector<int32_t> numbers;
  std::vector<float> reals;
};

// `numbers` and `reals` are buffers that the loads are of.
FreedNumbers free_numbers(const tir::Stmt& body, const ConstantStructs& structs,
                          tir::BufferId numbers, tir::BufferId reals);

}  // namespace intarsia::executable
