// What is at the other end of standard output and standard error: a terminal of some width, with colours or without, or a
// pipe or file, which gets plain text as wide as it comes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace intarsia::cli {

struct Terminal {
  bool is_terminal = false;
  bool has_colours = false;
  int width = 80;  // columns; 80 where nobody knows
};

// Asked once, at the first call.
const Terminal& output_terminal();
const Terminal& error_terminal();

// Whether text is coloured: on terminals, but for TERM=dumb (or none) and where NO_COLOR is set; CLICOLOR_FORCE asks for
// colours where there is no terminal. Null: the variable is not set.
bool wants_colours(bool is_terminal, const char* no_color, const char* clicolor_force,
                   const char* term);

enum class Tint : uint8_t { Plain, Heading, Name, Good, Note, Warning, Error, Faint };

// The text as it is, or with the colours of the tint around it.
std::string tinted(const Terminal& terminal, Tint tint, std::string_view text);

// Columns that a UTF-8 text takes: its characters.
size_t columns_of(std::string_view text);
// The text within so many columns; what is cut off is shown as "...".
std::string clipped(std::string_view text, size_t columns);
// Words of the text in lines of at most `width` columns, all but the first behind `indent` spaces; the first begins at
// column `at`. Lines of the text stay lines.
std::string wrapped(std::string_view text, size_t width, size_t indent, size_t at = 0);

// For standard output: in lines of the terminal's width, in a pipe as it comes.
std::string for_output(std::string_view text);

}  // namespace intarsia::cli
