#include "tir/identifiers.h"

#include <algorithm>
#include <iterator>

namespace intarsia::tir {

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_reserved_in_c(std::string_view name) {
  static constexpr std::string_view kReserved[] = {
      "NULL",      "asm",      "auto",     "bool",    "break",     "case",     "char",
      "const",     "continue", "default",  "do",      "double",    "else",     "enum",
      "extern",    "false",    "float",    "for",     "goto",      "if",       "inline",
      "int",       "int16_t",  "int32_t",  "int64_t", "int8_t",    "intptr_t", "long",
      "ptrdiff_t", "register", "restrict", "return",  "short",     "signed",   "size_t",
      "sizeof",    "static",   "struct",   "switch",  "true",      "typedef",  "typeof",
      "uint16_t",  "uint32_t", "uint64_t", "uint8_t", "uintptr_t", "union",    "unsigned",
      "void",      "volatile", "while"};
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

}  // namespace intarsia::tir
