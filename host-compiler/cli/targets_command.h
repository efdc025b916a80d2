// `intarsia targets [NAME]`: what target/target_list.h says.
#pragma once

#include <optional>
#include <string>

#include "intarsia/target.h"

namespace intarsia::cli {

// Prints it, or the complaint on stderr; returns the exit code.
int run_targets_command(const TargetCatalogue& catalogue, std::optional<std::string> name,
                        bool json);

}  // namespace intarsia::cli
