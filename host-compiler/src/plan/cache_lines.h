// Devices write past the CPU's data cache. What they write shares no line of it with anything else, so that lines can be thrown
// away when they have written.
#pragma once

#include "intarsia/plan.h"
#include "intarsia/plugin/tir.h"
#include "plan/lifetimes.h"

namespace intarsia::plan {

// Bytes of a line: what the memories' blocks begin at multiples of, where that is more than any block does; else 0.
int64_t cache_line_of(const MemoryMap& memory);

// Aligns and pads what a device beside the CPU writes to whole lines.
void keep_cache_lines(const tir::Module& module, const MemoryMap& memory, Lifetimes& lifetimes);

}  // namespace intarsia::plan
