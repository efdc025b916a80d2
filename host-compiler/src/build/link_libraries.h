// Libraries that a package asks for and the user has to bring: a vendor's driver, another runtime.
#pragma once

#include <string>
#include <vector>

#include "intarsia/build.h"

namespace intarsia::build {

// Those of the manifest that lie in no folder which the board's core names with -L, and in none of the compiler's own.
// A board with an operating system is asked when it links: its linker knows more folders than these.
Result<std::vector<std::string>> libraries_not_found(const BuildSetting& setting);

}  // namespace intarsia::build
