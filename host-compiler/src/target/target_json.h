// What there is to know of targets, as JSON.
#pragma once

#include <optional>
#include <string>

#include "intarsia/target.h"

namespace intarsia {

const char* role_name(Role role);  // "cpu", "accelerator" or "device"

// The kinds with their attributes, and the tags with what they stand for; or what `name` is: a kind, or a target in any
// spelling with the values of all its attributes. Fails when it is neither.
Result<std::string> targets_json(const TargetCatalogue& catalogue,
                                 const std::optional<std::string>& name);

}  // namespace intarsia
