// `intarsia targets [NAME]`: the kinds with their attributes, the tags with what they stand for; of
// one kind, tag or whole target text everything there is to know, its other spellings included.
#pragma once

#include <optional>
#include <string>

#include "intarsia/target.h"

namespace intarsia::cli {

// The text to print. Fails when `name` is no kind and no target.
Result<std::string> describe_targets(const TargetCatalogue& catalogue,
                                     const std::optional<std::string>& name, bool json);

// Prints it, or the complaint on stderr; returns the exit code.
int run_targets_command(const TargetCatalogue& catalogue, std::optional<std::string> name,
                        bool json);

}  // namespace intarsia::cli
