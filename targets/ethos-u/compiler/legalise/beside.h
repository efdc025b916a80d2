// Operations side by side that one operation can do.
#pragma once

#include "program/program.h"

namespace intarsia::targets::ethos_u {

// Operations of few elements that do the same to neighbouring channels become one, which saves beginning each; the channels of
// their results are neighbours then too, so that what follows may join as well.
void join_neighbours(Program& program);

}  // namespace intarsia::targets::ethos_u
