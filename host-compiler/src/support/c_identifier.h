// Names from outside (tensor names, file stems) made into identifiers of C and C++.
#pragma once

#include <string>
#include <string_view>

namespace intarsia {

// `text` with every run of other characters as one '_', none at either end; a leading digit gets a
// '_' before it, a keyword of C or C++ one behind it. `fallback` when nothing is left.
std::string c_identifier(std::string_view text, std::string_view fallback);

bool is_c_keyword(std::string_view name);  // of C11 or C++20

// ASCII letters as capitals, for macros.
std::string upper_case(std::string text);

}  // namespace intarsia
