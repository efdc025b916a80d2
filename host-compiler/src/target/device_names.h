// How devices that were not given a name are called: see TargetSpec.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "intarsia/target.h"

namespace intarsia {

// Fills in the empty names.
void derive_names(std::vector<Target>& devices);

// For each device whether its name has to be written, or would be derived as it is.
std::vector<bool> names_to_write(std::span<const Target> devices);

}  // namespace intarsia
