// What --count-cycles shows.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "intarsia/build.h"

namespace intarsia::cli {

// An array of the runs: instructions, cycles as {"optimistic", "nominal", "pessimistic"}, and the same of each operator.
nlohmann::ordered_json cycles_json(const std::vector<RunCycles>& runs);

// A table of the operators, the most expensive first.
std::string cycles_text(const RunCycles& run);

}  // namespace intarsia::cli
