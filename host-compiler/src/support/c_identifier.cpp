#include "support/c_identifier.h"

#include <algorithm>
#include <array>

namespace intarsia {

namespace {

// C11's and C++20's together: generated headers are included from both.
constexpr std::array kKeywords = {"alignas",
                                  "alignof",
                                  "and",
                                  "and_eq",
                                  "asm",
                                  "auto",
                                  "bitand",
                                  "bitor",
                                  "bool",
                                  "break",
                                  "case",
                                  "catch",
                                  "char",
                                  "char16_t",
                                  "char32_t",
                                  "char8_t",
                                  "class",
                                  "co_await",
                                  "co_return",
                                  "co_yield",
                                  "compl",
                                  "concept",
                                  "const",
                                  "const_cast",
                                  "consteval",
                                  "constexpr",
                                  "constinit",
                                  "continue",
                                  "decltype",
                                  "default",
                                  "delete",
                                  "do",
                                  "double",
                                  "dynamic_cast",
                                  "else",
                                  "enum",
                                  "explicit",
                                  "export",
                                  "extern",
                                  "false",
                                  "float",
                                  "for",
                                  "friend",
                                  "goto",
                                  "if",
                                  "inline",
                                  "int",
                                  "long",
                                  "mutable",
                                  "namespace",
                                  "new",
                                  "noexcept",
                                  "not",
                                  "not_eq",
                                  "nullptr",
                                  "operator",
                                  "or",
                                  "or_eq",
                                  "private",
                                  "protected",
                                  "public",
                                  "register",
                                  "reinterpret_cast",
                                  "requires",
                                  "restrict",
                                  "return",
                                  "short",
                                  "signed",
                                  "sizeof",
                                  "static",
                                  "static_assert",
                                  "static_cast",
                                  "struct",
                                  "switch",
                                  "template",
                                  "this",
                                  "thread_local",
                                  "throw",
                                  "true",
                                  "try",
                                  "typedef",
                                  "typeid",
                                  "typename",
                                  "union",
                                  "unsigned",
                                  "using",
                                  "virtual",
                                  "void",
                                  "volatile",
                                  "wchar_t",
                                  "while",
                                  "xor",
                                  "xor_eq"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string c_identifier(std::string_view text, std::string_view fallback) {
  std::string name;
  for (const char c : text) {
    if (is_word(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return std::string(fallback);
  if (name.front() >= '0' && name.front() <= '9') name.insert(name.begin(), '_');
  if (is_c_keyword(name)) name += '_';
  return name;
}

bool is_c_keyword(std::string_view name) {
  return std::ranges::find(kKeywords, name) != kKeywords.end();
}

std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

}  // namespace intarsia
