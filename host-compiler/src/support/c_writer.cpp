#include "intarsia/plugin/c_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "intarsia/plugin/check.h"

namespace intarsia {

namespace {

constexpr size_t kIndent = 2;
constexpr size_t kContinuation = 4;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Where to break `text` so that its first part has at most `room` characters: after a blank or the
// parenthesis of a call, preferably such that the rest fits one line of `rest_room`, inside the
// fewest brackets, as late as possible. 0 when there is no place; then the line stays long.
size_t break_point(std::string_view text, size_t room, size_t rest_room) {
  size_t best = 0;
  int best_depth = 0, depth = 0;
  bool best_fits = false;
  char quote = 0;
  const auto candidate = [&](size_t at) {
    if (at < kContinuation || at > room || text.substr(at) == " {") return;
    const bool fits = text.size() - at <= rest_room;
    const bool worse = fits != best_fits ? best_fits : depth > best_depth;
    if (best != 0 && worse) return;
    best = at;
    best_depth = depth;
    best_fits = fits;
  };
  for (size_t i = 0; i < text.size() && i <= room; ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
      if (c == '(' && i > 0 && is_name_character(text[i - 1])) candidate(i + 1);
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ' ') {
      candidate(i);
    }
  }
  return best;
}

// "*/" inside a comment would end it.
std::string comment_text(std::string text) {
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text.replace(at, 2, "* /");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void CWriter::begin_line() {
  if (blank_wanted_ && !after_opening_) text_ += '\n';
  blank_wanted_ = false;
  after_opening_ = false;
}

void CWriter::put(std::string_view text) {
  begin_line();
  size_t indent = depth_ * kIndent;
  while (indent + text.size() > kWidth) {
    const size_t rest_indent = depth_ * kIndent + kContinuation;
    const size_t at = break_point(text, kWidth - std::min(indent, kWidth),
                                  kWidth - std::min(rest_indent, kWidth));
    if (at == 0) break;
    text_.append(indent, ' ').append(text.substr(0, at)) += '\n';
    text.remove_prefix(text[at] == ' ' ? at + 1 : at);
    indent = rest_indent;
  }
  text_.append(indent, ' ').append(text) += '\n';
}

void CWriter::line(std::string_view text) {
  INTARSIA_CHECK(!text.starts_with('#'),
                 "a directive ends with its line, which must not be broken");
  put(text);
}

void CWriter::directive(std::string_view text) {
  begin_line();
  text_.append(text) += '\n';
}

void CWriter::open(std::string_view head) {
  put(fmt::format("{} {{", head));
  ++depth_;
  after_opening_ = true;
}

void CWriter::reopen(std::string_view between) {
  INTARSIA_CHECK(depth_ > 0, "a brace is open");
  --depth_;
  blank_wanted_ = false;
  put(fmt::format("}} {} {{", between));
  ++depth_;
  after_opening_ = true;
}

void CWriter::close(std::string_view tail) {
  INTARSIA_CHECK(depth_ > 0, "a brace is open");
  --depth_;
  blank_wanted_ = false;
  put(fmt::format("}}{}", tail));
}

void CWriter::blank() {
  blank_wanted_ = true;
}

void CWriter::comment(const std::vector<std::string>& lines) {
  const size_t room = kWidth - std::min(depth_ * kIndent + 6, kWidth / 2);
  std::vector<std::string> wrapped;
  for (const std::string& line : lines) {
    std::string rest = comment_text(line);
    while (rest.size() > room) {
      const size_t at = rest.rfind(' ', room);
      if (at == std::string::npos || at == 0) break;
      wrapped.push_back(rest.substr(0, at));
      rest.erase(0, at + 1);
    }
    wrapped.push_back(rest);
  }
  for (size_t i = 0; i < wrapped.size(); ++i) {
    begin_line();
    text_.append(depth_ * kIndent, ' ').append(i == 0 ? "/* " : " * ").append(wrapped[i]);
    if (wrapped[i].empty()) text_.pop_back();  // no blank at the end of a line
    text_ += i + 1 == wrapped.size() ? " */\n" : "\n";
  }
}

}  // namespace intarsia
