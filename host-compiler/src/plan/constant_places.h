// Which memory each constant goes to: those that are read most often to the fastest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "intarsia/plan.h"

namespace intarsia::plan {

struct ConstantToPlace {
  int64_t bytes = 0;
  int64_t reads = 0;  // of each byte in one inference
};

// Constants that C reads, with their sizes in the same order.
struct ConstantsToPlace {
  std::vector<ConstantId> ids;
  std::vector<ConstantToPlace> sizes;
};
// Reads are counted where there are several memories to choose from.
ConstantsToPlace constants_of(const tir::Module& module, const MemoryMap& memory);

// The index of a memory for each constant. `capacities`: bytes of the memories, the fastest first. Constants go one after
// another to the first memory that has room: those with most reads first. Where the large ones then find no room, the
// largest first. Empty where neither finds room for all. The result depends on nothing but the arguments.
std::optional<std::vector<int32_t>> place_constants(std::span<const ConstantToPlace> constants,
                                                    std::span<const int64_t> capacities);

// Indices of the pools that hold constants, the fastest first. Where nobody has said: the first that is read-only.
std::vector<int32_t> pools_of_constants(const MemoryMap& memory);

// What a constant takes, with what may lie between it and the next.
int64_t constant_room(int64_t bytes);

// How often one inference reads each byte of every constant of the module, estimated: a function reads its constants as often
// as it multiplies by each of them, or as often as it looks up its results in them; once at least.
std::vector<int64_t> constant_reads(const tir::Module& module);

}  // namespace intarsia::plan
