// The boards there are, and what is to be known of each.
#pragma once

#include <string>
#include <vector>

#include "intarsia/board.h"
#include "requests/environment.h"

namespace intarsia::requests {

// All of the environment's folders, or the one of that name or path.
Result<std::vector<board::Board>> boards_named(const Environment& environment,
                                               const std::string& name);

// An array.
std::string boards_json(const std::vector<board::Board>& boards);

}  // namespace intarsia::requests
