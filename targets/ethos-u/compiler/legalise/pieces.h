// Tensors of which no operation sees more than a piece.
#pragma once

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Pieces of inner tensors that no operation reads or writes together become tensors of their own, where those that are needed at the
// same time take less memory than the whole: each then lives from where it is made to where it is read last. What nobody
// reads or writes is no piece of any.
void keep_pieces_apart(Program& program);

}  // namespace intarsia::targets::ethos_u
