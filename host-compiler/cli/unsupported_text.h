// `explain --unsupported` for people.
#pragma once

#include <string>

#include "requests/unsupported.h"
#include "terminal.h"

namespace intarsia::cli {

std::string unsupported_text(const requests::Unsupported& unsupported, const std::string& model,
                             const Terminal& terminal);

}  // namespace intarsia::cli
