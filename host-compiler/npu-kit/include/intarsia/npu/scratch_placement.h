// Addresses in one memory for what is there from one step to another: rings, constants and code of a cascade, or the
// feature maps and fetched constants of a whole schedule. The solver is the memory planner's (memory_plan.h); this is how a
// schedule that is being looked for asks it, many times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace intarsia::npu {

// Bytes that are needed from one step to another, and where they are.
struct ScratchRequest {
  int64_t bytes = 0;           // 0: it has an address and takes nothing
  int64_t begin = 0, end = 0;  // the first and the last step that need it
  int64_t address = 0;         // the answer
};

// Gives each an address, a multiple of `alignment`, so that those whose times meet are apart and all end at or below
// `limit`; says where the last ends. None where it finds none within that number of steps, and then requests are as they were.
// `steps`: placements that may be tried after the quick ways have failed; 0: the quick ways only.
std::optional<int64_t> place_scratch(std::vector<ScratchRequest>& requests, int64_t limit,
                                     int64_t alignment, int64_t steps);

// Where there is more room than that: each where memory has been free for longest when it begins, so that the commands
// which use it first need not wait for the last that used what was there before. In the order in which they begin; says
// where the last ends. None where one does not find a place below `limit`, and then requests are as they were. The work
// grows with the cube of the requests.
std::optional<int64_t> spread_scratch(std::vector<ScratchRequest>& requests, int64_t limit,
                                      int64_t alignment);

// The least memory that is found for them, whatever their addresses.
int64_t place_scratch_low(std::vector<ScratchRequest>& requests, int64_t alignment, int64_t steps);

}  // namespace intarsia::npu
