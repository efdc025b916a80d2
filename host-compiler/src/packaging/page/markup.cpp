#include "packaging/page/markup.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace intarsia::packaging::page {
namespace {

constexpr const char* kNarrowSpace = "\u202f";
constexpr const char* kReplacement = "\ufffd";

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (const auto code = static_cast<unsigned char>(c);
            (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f)
          out += kReplacement;
        else
          out += c;
    }
  }
  return out;
}

std::string json_in_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  // Outside of strings JSON has none of these.
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

std::string grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  const size_t first = digits.starts_with('-') ? 1 : 0;
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) out += kNarrowSpace;
    out += digits[i];
  }
  return out;
}

std::string bytes_text(int64_t bytes) {
  return counted(bytes, "byte");
}

std::string counted(int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string percent(double part, double whole) {
  if (!(whole > 0) || !(part > 0)) return "0%";
  const double value = 100 * part / whole;
  return value < 0.1 ? "<0.1%" : fmt::format("{:.1f}%", value);
}

std::string time_text(double microseconds) {
  if (microseconds < 1000) return fmt::format("{:.1f} µs", microseconds);
  if (microseconds < 1e6) return fmt::format("{:.2f} ms", microseconds / 1e3);
  return fmt::format("{:.2f} s", microseconds / 1e6);
}

std::string shortened(std::string_view text, size_t most) {
  size_t characters = 0;
  for (const char c : text) characters += continues(c) ? 0 : 1;
  if (characters <= most) return std::string(text);
  if (most < 2) return "";
  const size_t head = most / 2, tail = most - 1 - head;
  std::string out;
  size_t at = 0;
  for (const char c : text) {
    if (!continues(c)) ++at;
    if (at == head + 1 && !continues(c)) out += "…";
    if (at <= head || at > characters - tail) out += c;
  }
  return out;
}

int64_t round_distance(int64_t length, int64_t marks, bool binary) {
  const int64_t least = std::max<int64_t>(1, length / std::max<int64_t>(1, marks));
  if (binary) {
    int64_t distance = 1;
    while (distance < least) distance *= 2;
    return distance;
  }
  for (int64_t ten = 1;; ten *= 10)
    for (const int64_t factor : {1, 2, 5})
      if (ten * factor >= least) return ten * factor;
}

}  // namespace intarsia::packaging::page
