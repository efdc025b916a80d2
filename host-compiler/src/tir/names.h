// Names that must be usable as C identifiers.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace intarsia::tir {

// Letters, digits and underscores, not beginning with a digit.
bool is_identifier(std::string_view name);

// A keyword of C or a name that the headers of emitted code define as a macro.
bool is_reserved_in_c(std::string_view name);

// `wanted`, or `wanted_2`, `wanted_3`, ...: the first that is neither taken nor reserved.
std::string unique_name(const std::string& wanted,
                        const std::function<bool(const std::string&)>& is_taken);

}  // namespace intarsia::tir
