// What a program's streams do to memory, by the plan: for drivers that check regions, and for data caches.
#pragma once

#include <vector>

#include "intarsia/compiled_model.h"
#include "package_writer/stream_memory.h"

namespace intarsia::packaging {

// One for each of the program's streams.
std::vector<StreamMemory> stream_memories(const CompiledProgram& program);

}  // namespace intarsia::packaging
