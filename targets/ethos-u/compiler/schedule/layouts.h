// Which tensors lie in NHWCB16: by cost, one tensor after the other.
#pragma once

#include <functional>
#include <vector>

#include "program/program.h"
#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

// Tensors that may lie in bricks, all in one place.
struct BrickCandidate {
  std::vector<int32_t> tensors;
  bool is_padded = false;  // their channels do not fill the last brick, which takes memory
};

// `root` of a tensor is the one whose place it takes, itself as a rule. Only tensors inside of the program whose every
// operand begins with a brick.
std::vector<BrickCandidate> brick_candidates(const Program& program,
                                             const std::function<int32_t(int32_t)>& root);

// A map of 16 channels lies in memory the same way in both layouts, and so do the first channels of one. Who reads them, or writes
// all, calls it NHCWB16, of which rows are read at a time whatever reads NHWC pixel by pixel. The same of the channels of a single
// pixel, of 16 and 32 bits.
void name_single_bricks(Schedule& schedule);

}  // namespace intarsia::targets::ethos_u
