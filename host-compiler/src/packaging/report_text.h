// Sections of report.txt that a model of several programs has for all of them together.
#pragma once

#include <string>
#include <vector>

#include "intarsia/report.h"

namespace intarsia::packaging {

std::string edges_text(const std::vector<TensorInfo>& inputs,
                       const std::vector<TensorInfo>& outputs);
// Of every device that takes part; nothing where nothing was estimated.
std::string cycles_text(const std::vector<DeviceCycles>& devices);

}  // namespace intarsia::packaging
