// Text as HTML and SVG have it, and numbers as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace intarsia::packaging::page {

// Between tags and inside of quoted attributes. What HTML cannot hold becomes U+FFFD.
std::string escaped(std::string_view text);
// JSON inside of a <script> element: no text in it ends the element or begins a comment.
std::string json_in_script(std::string_view json);

// "1 234 567", with narrow spaces that do not break.
std::string grouped(int64_t number);
// "3 072 bytes", "1 byte".
std::string bytes_text(int64_t bytes);
// "12.3%"; "<0.1%" for little, "0%" for nothing.
std::string percent(double part, double whole);
// "1.23 ms", "246.0 µs", "12.3 s".
std::string time_text(double microseconds);
// About as wide as a character of a drawing is in the widest of the usual fonts.
inline constexpr double kCharacter = 6.9;
// At most `most` characters, a shortened text with an ellipsis in its middle.
std::string shortened(std::string_view text, size_t most);
// "1 operator", "2 operators".
std::string counted(int64_t number, std::string_view noun);

// A round distance between marks of an axis that is `length` long, for about `marks` of them: 1, 2 or 5 times a power of
// ten, or a power of two.
int64_t round_distance(int64_t length, int64_t marks, bool binary);

}  // namespace intarsia::packaging::page
