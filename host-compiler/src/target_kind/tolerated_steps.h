// By how many steps a device's results may differ from the reference's.
#pragma once

#include <cstdint>

#include "intarsia/plugin/target_kind.h"

namespace intarsia {

// What its kind says of the operator; 0 where no result has 8 or 16 bits, since a kind counts in steps of such numbers.
int32_t tolerated_steps(const TargetRegistry& registry, const Target& device,
                        const graph::Function& function, const graph::Node& node);

}  // namespace intarsia
