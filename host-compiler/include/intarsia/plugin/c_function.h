// C11 source of one kernel function of the tensor IR, written to be read with a debugger open.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/kernel_library.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"

namespace intarsia::emission {

// What the function is called, and what is said above it.
struct CFunctionOptions {
  std::string symbol_prefix;               // of the function and of the constants it reads: "kws_"
  std::vector<std::string> comment_lines;  // after the function's origin: memory ranges, MACs
  ConstantStructs structs = {};
};

// static void kws_conv_3(const int8_t *input, int8_t *restrict output) { ... }
// Parameters are pointers, in order; the function's Local buffers (scratch) follow as further
// pointers, in order of their BufferIds. A pointer that is written and that the function does not
// declare in-place is `restrict`. Constants are read by their global names, declared elsewhere.
// `func` is a verified kernel or tiled function of `module`. The text needs <stdbool.h>, <stdint.h>, <math.h> if it has
// infinite literals, and intarsia/kernels/arithmetic.h. Refuses what has no C form: Int4 elements
// accessed one by one, commands of accelerators, schedules.
Result<std::string> emit_c_function(const tir::Module& module, const tir::Func& func,
                                    const CFunctionOptions& options);

}  // namespace intarsia::emission
