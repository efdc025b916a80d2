// Kernel functions of the tensor IR as kernels in a dialect of C.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "intarsia/gpu/dialect.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::gpu {

struct Kernel {
  std::string text;                      // a whole definition
  std::vector<tir::BufferId> arguments;  // buffers of the function
  std::array<int64_t, 3> global = {1, 1, 1};
};

// The function as kernels that run one after another, numbered from `first`: "k<number>".
std::vector<Kernel> kernels_of(const Dialect& dialect, const tir::Func& func, int first);

// What comes before the kernels: types and scalar helpers.
std::string prelude(const Dialect& dialect);
// Whether the scalar helper is in the prelude.
bool has_helper(const std::string& function);

}  // namespace intarsia::gpu
