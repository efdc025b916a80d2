#include "support/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace intarsia {
namespace {

// <cctype> asks the locale; the text form does not depend on one.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word_part(char c) {
  return is_letter(c) || is_digit(c) || c == '.';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_printable(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::string_view kPairs[] = {"->", "<=", ">=", "==", "!=", "<<", ">>", "&&", "||", ".."};

std::string shown(const Token& token) {
  constexpr size_t kLongest = 40;
  switch (token.kind) {
    case TokenKind::End:
      return "the end of the text";
    case TokenKind::String:
      return "a string";
    default:
      return fmt::format("'{}'", token.text.substr(0, kLongest));
  }
}

}  // namespace

TextReader::TextReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

std::string TextReader::place(const Token& token) const {
  const std::string_view before = text_.substr(0, std::min(token.offset, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}", file_, line, before.size() - line_start + 1);
}

void TextReader::fail(std::string what, std::string hint) {
  fail_at(peek(), std::move(what), std::move(hint));
}

void TextReader::fail_at(const Token& token, std::string what, std::string hint) {
  if (!ok()) return;
  error_.add(place(token), std::move(what), std::move(hint));
  position_ = text_.size();
  ahead_.clear();
}

void TextReader::skip_blanks(Token& token) {
  while (position_ < text_.size()) {
    if (is_blank(text_[position_])) {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      const size_t end = std::min(text_.find('\n', position_), text_.size());
      std::string_view comment = text_.substr(position_ + 2, end - position_ - 2);
      while (!comment.empty() && is_blank(comment.front())) comment.remove_prefix(1);
      while (!comment.empty() && is_blank(comment.back())) comment.remove_suffix(1);
      token.comment = comment;
      position_ = end;
    } else {
      return;
    }
  }
}

Token TextReader::scan() {
  Token token;
  skip_blanks(token);
  token.offset = position_;
  if (position_ >= text_.size()) return token;

  const std::string_view rest = text_.substr(position_);
  size_t length = 1;
  const auto run = [&](auto&& belongs) {
    while (length < rest.size() && belongs(rest[length])) ++length;
  };
  const char first = rest[0];
  if (is_letter(first)) {
    token.kind = TokenKind::Word;
    run(is_word_part);
  } else if (is_digit(first)) {
    token.kind = TokenKind::Number;
    run(is_digit);
    if (length + 1 < rest.size() && rest[length] == '.' && is_digit(rest[length + 1])) {
      ++length;
      run(is_digit);
    }
    if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
      size_t digits = length + 1;
      if (digits < rest.size() && (rest[digits] == '+' || rest[digits] == '-')) ++digits;
      if (digits < rest.size() && is_digit(rest[digits])) {
        length = digits;
        run(is_digit);
      }
    }
    if (length < rest.size() && is_letter(rest[length])) {  // 12abc is one mistake, not two tokens
      token.kind = TokenKind::Invalid;
      run(is_word_part);
    }
  } else if (first == '"') {
    while (length < rest.size() && rest[length] != '"' && rest[length] != '\n')
      length += rest[length] == '\\' ? 2 : 1;
    if (length >= rest.size() || rest[length] != '"') {
      token.kind = TokenKind::Invalid;
      length = std::min(length, rest.size());
    } else {
      token.kind = TokenKind::String;
      token.text = rest.substr(1, length - 1);
      position_ += length + 1;
      return token;
    }
  } else if (is_printable(first) && static_cast<unsigned char>(first) < 0x80) {
    token.kind = TokenKind::Punctuation;
    for (const std::string_view pair : kPairs)
      if (rest.substr(0, 2) == pair) length = 2;
  } else {
    token.kind = TokenKind::Invalid;
  }
  token.text = rest.substr(0, length);
  position_ += length;
  return token;
}

const Token& TextReader::peek(size_t ahead) {
  while (ahead_.size() <= ahead) ahead_.push_back(scan());
  return ahead_[ahead];
}

Token TextReader::next() {
  const Token token = peek();
  ahead_.erase(ahead_.begin());
  if (token.kind == TokenKind::Invalid) {
    if (token.text.front() == '"') {
      fail_at(token, "the string does not end on its line", "close it with \"");
    } else if (is_digit(token.text.front())) {
      fail_at(token, fmt::format("{} is neither a number nor a name", shown(token)));
    } else {
      fail_at(token, fmt::format("unexpected character (code {})",
                                 static_cast<int>(static_cast<unsigned char>(token.text.front()))));
    }
    return Token{TokenKind::End, {}, {}, token.offset};
  }
  return token;
}

bool TextReader::is(std::string_view text, size_t ahead) {
  const Token& token = peek(ahead);
  return (token.kind == TokenKind::Word || token.kind == TokenKind::Punctuation) &&
         token.text == text;
}

bool TextReader::accept(std::string_view text) {
  if (!is(text)) return false;
  next();
  return true;
}

void TextReader::expect(std::string_view text) {
  if (accept(text) || !ok()) return;
  const Token token = next();
  fail_at(token, fmt::format("expected '{}', found {}", text, shown(token)));
}

std::string TextReader::word(std::string_view what) {
  const Token token = next();
  if (token.kind == TokenKind::Word) return std::string(token.text);
  fail_at(token, fmt::format("expected {}, found {}", what, shown(token)));
  return {};
}

std::string TextReader::string(std::string_view what) {
  const Token token = next();
  if (token.kind == TokenKind::String) return unescaped(token);
  fail_at(token, fmt::format("expected {} in quotes, found {}", what, shown(token)));
  return {};
}

std::string TextReader::name(std::string_view what) {
  const Token token = next();
  if (token.kind == TokenKind::Word) return std::string(token.text);
  if (token.kind == TokenKind::String) return unescaped(token);
  fail_at(token, fmt::format("expected {}, found {}", what, shown(token)));
  return {};
}

bool TextReader::boolean(std::string_view what) {
  const Token token = next();
  if (token.kind == TokenKind::Word && (token.text == "true" || token.text == "false"))
    return token.text == "true";
  fail_at(token, fmt::format("expected {} (true or false), found {}", what, shown(token)));
  return false;
}

int64_t TextReader::integer(std::string_view what, int64_t least, int64_t most) {
  const bool negative = accept("-");
  const Token token = next();
  std::string digits = negative ? "-" : "";
  digits += token.text;
  int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = end == digits.data() + digits.size();
  if (token.kind != TokenKind::Number || !whole) {
    fail_at(token, fmt::format("expected {} (an integer), found {}", what, shown(token)));
    return std::clamp<int64_t>(0, least, most);
  }
  if (status != std::errc() || value < least || value > most) {
    fail_at(token, fmt::format("{} {} is outside {} .. {}", what, digits, least, most));
    return least;
  }
  return value;
}

float TextReader::real(std::string_view what) {
  const bool negative = accept("-");
  const Token token = next();
  float value = 0;
  if (token.kind == TokenKind::Word && token.text == "inf") {
    value = std::numeric_limits<float>::infinity();
  } else if (token.kind == TokenKind::Word && token.text == "nan") {
    value = std::numeric_limits<float>::quiet_NaN();
  } else if (token.kind != TokenKind::Number) {
    fail_at(token, fmt::format("expected {} (a number), found {}", what, shown(token)));
  } else if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), value).ec !=
             std::errc()) {
    fail_at(token, fmt::format("{} {} is outside the range of float", what, shown(token)));
  }
  return negative ? -value : value;
}

std::vector<uint8_t> TextReader::hex(std::string_view what) {
  std::vector<uint8_t> bytes;
  expect("x");
  const Token token = next();
  if (token.kind != TokenKind::String) {
    fail_at(token, fmt::format("expected {} as x\"0a0b\", found {}", what, shown(token)));
    return bytes;
  }
  bytes.reserve(token.text.size() / 2);
  int high = -1;
  for (const char c : token.text) {
    if (c == ' ') continue;
    const int digit = hex_digit(c);
    if (digit < 0) {
      fail_at(token, fmt::format("{} has a character that is not a hexadecimal digit", what));
      return {};
    }
    if (high >= 0) bytes.push_back(static_cast<uint8_t>(high * 16 + digit));
    high = high >= 0 ? -1 : digit;
  }
  if (high >= 0) fail_at(token, fmt::format("{} has an odd number of hexadecimal digits", what));
  return bytes;
}

std::string TextReader::unescaped(const Token& token) {
  std::string value;
  value.reserve(token.text.size());
  for (size_t i = 0; i < token.text.size(); ++i) {
    if (token.text[i] != '\\') {
      value += token.text[i];
      continue;
    }
    const char escape = token.text[++i];  // the scanner took both together
    if (escape == '"' || escape == '\\') {
      value += escape;
    } else if (escape == 'n') {
      value += '\n';
    } else if (escape == 't') {
      value += '\t';
    } else if (escape == 'x' && i + 2 < token.text.size() && hex_digit(token.text[i + 1]) >= 0 &&
               hex_digit(token.text[i + 2]) >= 0) {
      value += static_cast<char>(hex_digit(token.text[i + 1]) * 16 + hex_digit(token.text[i + 2]));
      i += 2;
    } else {
      fail_at(token, "the string has an unknown escape", "use \\\" \\\\ \\n \\t or \\xNN");
      return {};
    }
  }
  return value;
}

std::string text_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (!is_printable(c)) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string text_name(std::string_view text) {
  const bool is_word = !text.empty() && is_letter(text.front()) &&
                       std::all_of(text.begin(), text.end(), is_word_part);
  return is_word ? std::string(text) : text_quoted(text);
}

std::string text_real(float value) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{:.9g}", value);
}

std::string text_hex(const std::vector<uint8_t>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "x\"";
  text.reserve(bytes.size() * 2 + 3);
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text + "\"";
}

}  // namespace intarsia
