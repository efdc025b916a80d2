// Weights and tables are most of a stage's text, and seldom what one looks for.
#pragma once

#include <string>
#include <string_view>

namespace intarsia::cli {

// A stage's text with the beginning of each constant's bytes, or without any. Small constants, of a line, stay as they are.
// Works on the text forms of graph and TIR and on C sources.
std::string with_constants(std::string_view text, bool beginnings);

}  // namespace intarsia::cli
