#include "dumped_constants.h"

#include <algorithm>

#include <fmt/format.h>

namespace intarsia::cli {
namespace {

constexpr size_t kShown = 48;      // characters of a value
constexpr size_t kLinesShown = 2;  // of a C array

// "x"0a0b..."": bytes in two digits each; else a list.
std::string size_of_value(std::string_view value) {
  if (value.starts_with("x\"")) return fmt::format("{} bytes", (value.size() - 3) / 2);
  return fmt::format("{} elements", std::count(value.begin(), value.end(), ',') + 1);
}

bool is_constant_line(std::string_view line) {
  return line.starts_with("const @") || line.starts_with("constant @");
}

std::string constant_line(std::string_view line, bool beginnings) {
  const size_t at = line.find(" = ");
  if (at == std::string_view::npos) return std::string(line);
  const std::string_view value = line.substr(at + 3);
  if (value.size() <= kShown) return std::string(line);
  return fmt::format("{}{}... ({})", line.substr(0, at + 3),
                     beginnings ? value.substr(0, kShown) : "", size_of_value(value));
}

// `_Alignas(4) static const int8_t name[18] ATTRIBUTE = {`, of which the end may be on lines of its own: whether an array
// begins like this, as only arrays of constants do.
bool begins_array(std::string_view line) {
  if (line.starts_with("_Alignas(")) line.remove_prefix(std::min(line.find(") ") + 2, line.size()));
  if (line.starts_with("static ")) line.remove_prefix(std::string_view("static ").size());
  return line.starts_with("const ") && line.find('@') == std::string_view::npos;
}

}  // namespace

std::string with_constants(std::string_view text, bool beginnings) {
  std::string result;
  bool in_head = false, in_array = false;
  size_t lines = 0;  // of the array
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (in_array && line.starts_with("}")) {
      const size_t kept = beginnings ? kLinesShown : 0;
      if (lines > kept) result += fmt::format("  /* {} lines more */\n", lines - kept);
      in_array = false;
    }
    if (in_array && ++lines > (beginnings ? kLinesShown : 0)) continue;
    result += is_constant_line(line) ? constant_line(line, beginnings) : std::string(line);
    result += '\n';
    in_head = begins_array(line) || (in_head && line.starts_with(' '));
    if (in_head && line.ends_with("= {")) in_array = true, lines = 0;
    if (line.ends_with('{') || line.ends_with(';')) in_head = false;  // or of a function
  }
  return result;
}

}  // namespace intarsia::cli
