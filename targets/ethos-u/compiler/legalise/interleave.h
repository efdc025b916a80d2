// Short operations between others that wait for each other.
#pragma once

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// A short operation that reads what the one right before it makes waits until that is written, which takes longer than its own
// work. Where an operation that neither of them needs may run between them, it does so for next to nothing: chains that have
// nothing to do with each other, such as gates of a recurrent layer or heads of attention, take turns. Only where what tensors
// take at once does not grow. Results stay the same.
void interleave_chains(Program& program);

}  // namespace intarsia::targets::ethos_u
