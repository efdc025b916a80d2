// Packages whose constants are binary files, and those that cannot have any.
#pragma once

#include <set>
#include <string>

#include "intarsia/package.h"

namespace intarsia::packaging {

// The binary files that the package's sources for the assembler take in.
std::set<std::string> files_taken_in(const PackageContents& package);

}  // namespace intarsia::packaging
