// In which order a program's operations run, where its results leave that open.
#pragma once

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Whatever takes more memory when it is there than what it is made from is made right before it is read, where the program
// then takes less memory at once. A model that was unrolled over time steps, say, may name all steps' products with the input
// first; and those of a second layer, which together take more than the sequence that has to stay for them. And what takes less
// than what it is the last one to read is made as early as lowers what is taken at once, such as a shortcut with a stride, which
// a model names behind the branch beside it. `may_make_parts_early`: and parts of one tensor, such as copies of what is joined, are
// made all together as soon as nobody else reads what they are made from, and a branch, such as a pool and the convolution behind it,
// comes before others that begin where it does, where that lowers it; the program says so then.
void choose_order(Program& program, bool may_make_parts_early = true);

}  // namespace intarsia::targets::ethos_u
