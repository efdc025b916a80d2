// Products of two activations of int16.
#pragma once

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

Reason refuses_batch_matmul_int16(const Site& site);
void legalise_batch_matmul_int16(Builder& builder, const graph::Node& node);

}  // namespace intarsia::targets::ethos_u
