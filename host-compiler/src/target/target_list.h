// The kinds with their attributes, the tags with what they stand for; of one kind, tag or whole target text everything there
// is to know, its other spellings included.
#pragma once

#include <optional>
#include <string>

#include "intarsia/target.h"

namespace intarsia {

// As text, or as JSON. Fails when `name` is no kind and no target.
Result<std::string> describe_targets(const TargetCatalogue& catalogue,
                                     const std::optional<std::string>& name, bool json);

}  // namespace intarsia
