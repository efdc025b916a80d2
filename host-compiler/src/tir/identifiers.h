// Names that must be usable as C identifiers.
#pragma once

#include <string>
#include <string_view>

namespace intarsia::tir {

// Letters, digits and underscores, not beginning with a digit.
bool is_identifier(std::string_view name);

// A keyword of C or a name that the headers of emitted code define as a macro.
bool is_reserved_in_c(std::string_view name);

}  // namespace intarsia::tir
