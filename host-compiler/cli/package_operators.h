// Who runs what in a folder that `compile` wrote.
#pragma once

#include <string>
#include <vector>

#include "intarsia/partition.h"

namespace intarsia::cli {

// As the folder's report.json says: names and devices. Empty where there is no such file, or no such list in it.
std::vector<Explanation::Operator> operators_of_package(const std::string& folder);

}  // namespace intarsia::cli
