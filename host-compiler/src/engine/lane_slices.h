// Whether the iterations of a loop write apart from each other.
#pragma once

#include "intarsia/plugin/tir.h"

namespace intarsia::engine {

// Of every buffer in memory that the loop writes, each iteration reads and writes elements of its own: there is a
// dimension in which no index of one iteration is one of another.
bool stores_apart(const tir::Func& func, const tir::For& loop);

}  // namespace intarsia::engine
