#include "support/shown_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>

namespace intarsia {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: these are not UTF-8
};

// The one that `text` begins with; shorter forms than could be are none, nor are halves of UTF-16's pairs.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t head = byte(0);
  if (head < 0x80) return {head, 1};
  const size_t bytes = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : 2;
  if (head < 0xc0 || head >= 0xf8 || text.size() < bytes) return {};
  uint32_t code = head & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool acts(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||  // the two blocks of control characters
         code == 0x61c || (code >= 0x200b && code <= 0x200f) ||  // without width, or of direction
         (code >= 0x2028 && code <= 0x202e) ||                   // ends of lines, and direction
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

std::string without_acting(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    const size_t bytes = std::max<size_t>(next.bytes, 1);
    const bool stays =
        next.bytes > 0 && (!acts(next.code) || kept.find(text.front()) != std::string_view::npos);
    shown += stays ? text.substr(0, bytes) : std::string_view("?");
    text.remove_prefix(bytes);
  }
  return shown;
}

// With '_' for those, and for what is not printed or not ASCII.
std::string without(std::string_view text, std::string_view special) {
  std::string plain(text);
  for (char& c : plain)
    if (!std::isprint(static_cast<unsigned char>(c)) || special.find(c) != std::string_view::npos)
      c = '_';
  return plain;
}

}  // namespace

std::string shown_text(std::string_view text) {
  return without_acting(text, "");
}

std::string shown_lines(std::string_view text) {
  return without_acting(text, "\n\t");
}

std::string code_text(std::string_view text) {
  return without(text, "\\\"?`*/");
}

std::string literal_text(std::string_view text) {
  return without(text, "\\\"?");
}

}  // namespace intarsia
