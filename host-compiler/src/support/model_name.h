// The name of a model: prefix of its C functions, types and macros, and stem of its files. It must not
// collide with what programs around it already use.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace intarsia {

// The longest name: <name>_<device>_stage12_descriptor.c still fits the 255 bytes of a file name.
inline constexpr size_t kLongestModelName = 128;

// Why `name` cannot be a model's, as the end of a sentence ("is a keyword of C or C++"); empty when it can.
std::string model_name_problem(std::string_view name);

// With the small letters of A to Z, which some file systems and ecosystems do not tell from the large ones.
std::string lower_case(std::string_view text);

// What is allowed, in one clause, for messages.
std::string model_name_rule();

// A name from a file's stem: made a C identifier, cut when it is too long, with a '_' behind it where it would
// collide. "model" when nothing is left.
std::string model_name_from_stem(std::string_view stem);

}  // namespace intarsia
