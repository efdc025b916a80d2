#include "quoted_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "intarsia/diagnostics.h"

namespace intarsia {

namespace {

constexpr size_t kClippedWidth = 60;

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

std::optional<size_t> find_unreadable(std::string_view text, bool allow_space) {
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool space = c == '\t' || c == '\n' || c == '\r';
    const size_t length = utf8_length(text.substr(i));
    if (length == 0 || (is_control(c) && !(space && allow_space))) return i;
    i += length;
  }
  return std::nullopt;
}

std::string position_in(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  const std::string_view in_line = before.substr(line_start);
  const auto column =
      1 + in_line.size() - std::count_if(in_line.begin(), in_line.end(), is_continuation);
  if (text.find('\n') == text.npos) return fmt::format("character {}", column);
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     column);
}

std::string in_quotes(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    if (shown.size() >= kClippedWidth) {
      shown += "...";
      break;
    }
    const size_t length = utf8_length(text.substr(i));
    if (length == 0 || is_control(text[i])) {
      shown += '?';
    } else {
      shown += text.substr(i, length);
    }
    i += std::max<size_t>(1, length);
  }
  return "'" + shown + "'";
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kClippedWidth) return false;
  const char first = text.front();
  const bool letter =
      (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
  return letter && std::all_of(text.begin(), text.end(), is_name_character);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kClippedWidth) return {};
  const std::string nearest = nearest_name(std::string(word), candidates);
  return nearest.empty() ? std::string() : fmt::format("did you mean '{}'?", nearest);
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

}  // namespace intarsia
