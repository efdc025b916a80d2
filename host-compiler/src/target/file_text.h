// Reads the small files users hand us: target texts and tags.
#pragma once

#include <string>

#include "intarsia/result.h"

namespace intarsia {

// Refuses what is not a regular file, and more than a megabyte.
Result<std::string> read_small_file(const std::string& path, const std::string& where);

}  // namespace intarsia
