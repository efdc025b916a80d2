// The verifier's steps. Each adds what it finds to `problems`; a later step may assume that the
// earlier ones found nothing in the function.
#pragma once

#include <string>

#include "intarsia/plugin/tir.h"

namespace intarsia::tir {

// 1. Names, extents, alignments, scopes, what parameters and constants refer to.
void verify_declarations(const Module& module, const Func& func, Diagnostics& problems);
// 2. Every node: types, numbers of indices, ids that exist, variables defined once and before use.
void verify_types(const Func& func, Diagnostics& problems);
// 3a. A kernel: accesses allowed and in bounds, nothing read before it is written.
void verify_kernel(const Module& module, const Func& func, Diagnostics& problems);
void verify_in_place(const Func& func, Diagnostics& problems);
// 3b. A schedule: calls, each matching its callee, in branches and loops of the forms tir.h allows.
void verify_schedule(const Module& module, const Func& func, Diagnostics& problems);
// 3c. A tiled function: interpreted, it stays within its buffers, reads nothing before it is
// written, and its outputs may overlap its inputs as it says.
void verify_tiled(const Module& module, const Func& func, Diagnostics& problems);

bool has_calls(const Func& func);

std::string place(const Func& func);  // "function 'conv_3'"

}  // namespace intarsia::tir
