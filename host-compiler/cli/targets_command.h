// `intarsia targets [NAME]`: the kinds with their attributes, the tags with what they stand for; of
// one kind, tag or whole target text everything there is to know, its other spellings included.
#pragma once

#include <optional>
#include <string>

#include "intarsia/target.h"
#include "terminal.h"

namespace intarsia::cli {

// For examples: a device's tag behind that of the host it is usually beside, the tag alone, and its kind.
struct ExampleTarget {
  std::string composed = "HOST+DEVICE", device = "DEVICE", kind = "KIND";
};
ExampleTarget example_target(const TargetCatalogue& catalogue);

// The text to print. Fails when `name` is no kind and no target.
Result<std::string> describe_targets(const TargetCatalogue& catalogue,
                                     const std::optional<std::string>& name, bool json,
                                     const Terminal& terminal = {});

// Prints it, or the complaint on stderr; returns the exit code.
int run_targets_command(const TargetCatalogue& catalogue, std::optional<std::string> name,
                        bool json);

}  // namespace intarsia::cli
