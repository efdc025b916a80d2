// Scratch that costs no RAM.
#pragma once

#include <cstdint>

#include "intarsia/plugin/op_view.h"

namespace intarsia::targets::cortex_m {

// How many bytes of scratch the operator may have before more than another operator's operands must be held at once. 0 where nothing
// is known.
int64_t free_scratch(const operators::OpView& view);

// Of the memory of constants: cycles that each word waits for, and how many bytes copies may take where others' scratch has no more.
struct SlowConstants {
  int64_t waits = 0, free_scratch = 0;
};
inline SlowConstants slow_constants(const operators::OpView& view, int64_t waits) {
  return {waits, waits > 0 ? free_scratch(view) : 0};
}

}  // namespace intarsia::targets::cortex_m
