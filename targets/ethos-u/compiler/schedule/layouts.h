// Which tensors lie in NHWCB16: by cost, one tensor after the other.
#pragma once

#include <functional>
#include <vector>

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Sets of tensors that may lie in bricks, each of which lies in one place: `root` of a tensor is the one
// whose place it takes, itself as a rule. Only tensors inside of the program whose every operand is a box
// of whole bricks.
std::vector<std::vector<int32_t>> brick_candidates(const Program& program,
                                                   const std::function<int32_t(int32_t)>& root);

}  // namespace intarsia::targets::ethos_u
