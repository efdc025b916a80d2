// What legalisation leaves to be put together once the whole program is there.
#pragma once

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Copies, clamps and tables join the operation that makes their input, where nothing else reads it.
void fuse(Program& program);

// Short operations that pass every element through a table, or the unit for tanh and sigmoid, become products with 1, which need no
// accumulators: there is a unit less on the way of what waits for them. Not where the micro-block is a single pixel: a product takes
// the output unit longer there.
void multiply_short_activations(Program& program, const Extent& micro_block);

// Tensors that no operation mentions go.
void drop_unused(Program& program);

}  // namespace intarsia::targets::ethos_u
