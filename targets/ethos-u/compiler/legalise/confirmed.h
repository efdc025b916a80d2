// Which of the encodings that an operator becomes no stream of Arm's compiler shows (isa/confirmed.def).
#pragma once

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

// Null: the operator by itself becomes nothing but confirmed encodings. Else the first that is not, in words.
// `site` is of an operator that the rules take.
Reason refuses_unconfirmed(const Site& site);
// The same of an operation of a program.
Reason unconfirmed(const Program& program, const Operation& operation);

}  // namespace intarsia::targets::ethos_u
