// Reads the textual IRs: tokens with their place, and errors that name it.
//
//   TextReader in(text, "kws.ir");
//   in.expect("func");
//   const std::string name = in.name("a function name");
//   in.list("(", ")", [&] { ids.push_back(in.integer("a tensor number", 0, 1000)); });
//   if (!in.ok()) return in.error();
//
// Errors are sticky: the first one is kept, and from then on the reader stands at the end of the
// text and every call returns a neutral value at once. A parser needs no test after each call; its
// own loops must stop at `at_end()`, as `list` does.
//
// Tokens: words (letters, digits, `_`, `.`; not starting with a digit), unsigned numbers, strings
// "..." with escapes \" \\ \n \t \xNN, and punctuation (one character, or one of -> <= >= == != <<
// >>
// && || ..). A comment runs from // to the end of its line. A sign is punctuation: `integer` and
// `real` read it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/diagnostics.h"

namespace intarsia {

enum class TokenKind : uint8_t { Word, Number, String, Punctuation, Invalid, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // as written; of a string without its quotes, escapes not replaced
  std::string_view
      comment;        // of the last comment line since the previous token, without // and blanks
  size_t offset = 0;  // of the first character in the text
};

class TextReader {
 public:
  // Both must outlive the reader.
  TextReader(std::string_view text, std::string_view file);

  bool ok() const { return error_.empty(); }
  const Diagnostics& error() const { return error_; }
  // Records a problem at the next token (or at `token`), unless one is recorded already.
  void fail(std::string what, std::string hint = {});
  void fail_at(const Token& token, std::string what, std::string hint = {});
  // "kws.ir:12:3", for messages made later.
  std::string place(const Token& token) const;

  const Token& peek(size_t ahead = 0);
  Token next();
  bool at_end() { return peek().kind == TokenKind::End; }

  // Words and punctuation, by their text.
  bool is(std::string_view text, size_t ahead = 0);
  bool accept(std::string_view text);  // consumes it if it is next
  void expect(std::string_view text);  // consumes it, or fails

  // Each consumes one thing, or fails saying that `what` was expected.
  std::string word(std::string_view what);
  std::string string(std::string_view what);  // a quoted string, escapes replaced
  std::string name(std::string_view what);    // a word or a quoted string: inverse of text_name()
  bool boolean(std::string_view what);        // true, false
  int64_t integer(std::string_view what, int64_t least = std::numeric_limits<int64_t>::min(),
                  int64_t most = std::numeric_limits<int64_t>::max());
  float real(std::string_view what);                // inverse of text_real()
  std::vector<uint8_t> hex(std::string_view what);  // x"0a 0B": inverse of text_hex()

  // open item , item , ... close; also an empty list. `item` consumes one item.
  template <typename Item>
  void list(std::string_view open, std::string_view close, Item&& item) {
    expect(open);
    if (accept(close)) return;
    do {
      item();
    } while (accept(","));
    expect(close);
  }

 private:
  Token scan();
  void skip_blanks(Token& token);
  std::string unescaped(const Token& token);

  std::string_view text_, file_;
  size_t position_ = 0;
  std::vector<Token> ahead_;  // tokens scanned but not consumed; a handful
  Diagnostics error_;
};

std::string text_quoted(std::string_view text);           // "a\"b"
std::string text_name(std::string_view text);             // a word as it is, anything else quoted
std::string text_real(float value);                       // %.9g; inf, nan
std::string text_hex(const std::vector<uint8_t>& bytes);  // x"0a0b"

}  // namespace intarsia
