#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace intarsia::cli {
namespace {

constexpr int kUnknownWidth = 80, kLeastWidth = 40;

int width_of(int descriptor) {
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUnknownWidth;
  return std::max<int>(kLeastWidth, size.ws_col);
}

Terminal look_at_terminal(int descriptor) {
  Terminal terminal;
  terminal.is_terminal = isatty(descriptor) != 0;
  terminal.has_colours = wants_colours(terminal.is_terminal, std::getenv("NO_COLOR"),
                                       std::getenv("CLICOLOR_FORCE"), std::getenv("TERM"));
  if (terminal.is_terminal) terminal.width = width_of(descriptor);
  return terminal;
}

const char* code_of(Tint tint) {
  switch (tint) {
    case Tint::Plain:
      return "";
    case Tint::Heading:
      return "1";
    case Tint::Name:
      return "36";
    case Tint::Good:
      return "32";
    case Tint::Note:
      return "1;36";
    case Tint::Warning:
      return "1;33";
    case Tint::Error:
      return "1;31";
    case Tint::Faint:
      return "2";
  }
  return "";
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

}  // namespace

bool wants_colours(bool is_terminal, const char* no_color, const char* clicolor_force,
                   const char* term) {
  const auto is_set = [](const char* value) { return value != nullptr && *value != '\0'; };
  if (is_set(no_color)) return false;
  if (is_set(clicolor_force) && std::string_view(clicolor_force) != "0") return true;
  return is_terminal && is_set(term) && std::string_view(term) != "dumb";
}

const Terminal& output_terminal() {
  static const Terminal terminal = look_at_terminal(STDOUT_FILENO);
  return terminal;
}

const Terminal& error_terminal() {
  static const Terminal terminal = look_at_terminal(STDERR_FILENO);
  return terminal;
}

std::string tinted(const Terminal& terminal, Tint tint, std::string_view text) {
  if (!terminal.has_colours || tint == Tint::Plain || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code_of(tint), text);
}

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string clipped(std::string_view text, size_t columns) {
  constexpr std::string_view kCut = "...";
  if (columns_of(text) <= columns) return std::string(text);
  const size_t kept = columns > kCut.size() ? columns - kCut.size() : 0;
  size_t end = 0, seen = 0;
  for (; end < text.size(); ++end)
    if (begins_character(text[end]) && seen++ == kept) break;
  return std::string(text.substr(0, end)) + std::string(kCut.substr(0, columns - kept));
}

std::string wrapped(std::string_view text, size_t width, size_t indent, size_t at) {
  std::string result;
  size_t column = at;
  bool is_first = true;  // of its line
  const auto start_line = [&] {
    result += "\n" + std::string(indent, ' ');
    column = indent;
    is_first = true;
  };
  for (size_t begin = 0; begin < text.size();) {
    if (text[begin] == '\n') {
      start_line();
      ++begin;
      continue;
    }
    if (text[begin] == ' ') {
      ++begin;
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const size_t columns = columns_of(word);
    if (!is_first && column + 1 + columns > width) start_line();
    if (!is_first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += columns;
    is_first = false;
    begin = end;
  }
  return result;
}

std::string for_output(std::string_view text) {
  const Terminal& terminal = output_terminal();
  if (!terminal.is_terminal) return std::string(text);
  return wrapped(text, static_cast<size_t>(terminal.width), 2);
}

}  // namespace intarsia::cli
