// One over the square root of int16.
#pragma once

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

Reason refuses_rsqrt(const Site& site);
void legalise_rsqrt(Builder& builder, const graph::Node& node);

}  // namespace intarsia::targets::ethos_u
