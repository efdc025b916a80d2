// What legalisation leaves to be put together once the whole program is there.
#pragma once

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Copies, clamps and tables join the operation that makes their input, where nothing else reads it.
void fuse(Program& program);

// Tensors that no operation mentions go.
void drop_unused(Program& program);

}  // namespace intarsia::targets::ethos_u
