// What an operator of one integer gives, as the reference evaluator computes it.
#pragma once

#include <cstdint>
#include <vector>

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

// The operator's results for every value of its input's type, from the least on.
std::vector<uint8_t> all_results(const Site& site);
int32_t int16_at(const std::vector<uint8_t>& bytes, int32_t index);

}  // namespace intarsia::targets::ethos_u
