// The order of a cascade's steps, and what follows from it: how many slots each ring has, and from which step to
// which each place in SRAM is taken.
#pragma once

#include <vector>

#include "schedule/cascade.h"

namespace intarsia::targets::ethos_n {

// Rows are assigned. `overlaps`: a stripe more than is needed is loaded, so that it arrives meanwhile. False: a ring has
// more slots than the MCE can name, or there are too many steps.
bool order_steps(const Program& program, Cascade& cascade, const PleKernel* before, bool overlaps);

// Gives every ring, kernel and weights a place, if they fit; and counts the traffic. `spreads`: where there is room, the
// places that have been free for longest, so that fewer commands wait. That takes time: for cascades that are chosen.
bool place_cascade(const Variant& variant, const Program& program, Cascade& cascade,
                   WeightStore& weights, bool spreads = false);

}  // namespace intarsia::targets::ethos_n
