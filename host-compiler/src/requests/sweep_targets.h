// The targets of a sweep: what was written, with the values of attributes that are to be tried.
#pragma once

#include <string>
#include <vector>

#include "intarsia/target.h"

namespace intarsia::requests {

struct TargetChoice {
  std::string text;   // as parse_target() takes it; empty: the board's own core
  std::string shown;  // what was written, with the values of attributes behind it
};

// Each target with every combination of values of the attributes that some device of it has. No target: the board's own
// core. Problems of all targets and attributes are reported together.
Result<std::vector<TargetChoice>> target_choices(const TargetCatalogue& catalogue,
                                                 const std::vector<std::string>& targets,
                                                 const std::vector<std::string>& attributes);

}  // namespace intarsia::requests
