// What the dialects of C for GPUs differ in, as far as kernels made of loops use them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::gpu {

// Iterations of the loops that became a kernel's range: of the innermost loop first, at most three.
using Extents = std::vector<int64_t>;

struct Dialect {
  std::string_view kind;  // of the target: "my-gpu"
  // Text before the helpers: the integer types of <stdint.h> and its macros.
  std::string_view types;
  std::string_view helper;  // what the helpers' definitions begin with
  bool has_declarations =
      true;                 // false: functions that are declared only may not stand in a program
  std::string_view kernel;  // what a kernel's definition begins with, up to its name
  std::string_view global;  // what qualifies types in the memory that kernels share, with a blank
  // Of argument {0} of a kernel: its parameters, and the expression for its first byte.
  std::string_view parameter;
  std::string_view address;
  // The index of this work item in a dimension of the range.
  tir::Expr (*index)(size_t dimension, const Extents& extents);
  // The first line of a kernel: what ends work items beyond the range. Null where there are none.
  std::string (*guard)(const Extents& extents);
  // Why operators on floats are refused; empty where their arithmetic is the host's.
  std::string_view refuses_floats;
  size_t most_arguments = std::numeric_limits<size_t>::max();  // of a kernel
};

}  // namespace intarsia::gpu
