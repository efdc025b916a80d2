// Hard swish of int16.
#pragma once

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

Reason refuses_hard_swish(const Site& site);
void legalise_hard_swish(Builder& builder, const graph::Node& node);

}  // namespace intarsia::targets::ethos_u
