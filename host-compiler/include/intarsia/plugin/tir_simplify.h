// Removes what has no effect: variables that nothing reads, loops and branches that
// do nothing, an element stored to itself.
#pragma once

#include "intarsia/plugin/tir.h"

namespace intarsia::tir {

Stmt simplify(const Stmt& stmt);

}  // namespace intarsia::tir
