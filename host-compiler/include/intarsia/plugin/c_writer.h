// Writes C: the only place that knows indentation, braces, blank lines and the width of a line.
//
//   CWriter out;
//   out.open("static int32_t twice(int32_t x)");   // static int32_t twice(int32_t x) {
//   out.line("return 2 * x;");                     //   return 2 * x;
//   out.close();                                   // }
//
// Lines longer than 100 columns are broken at blanks, outside of as many brackets as possible.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace intarsia {

// Text that is laid out while it is written.
class CWriter {
 public:
  static constexpr size_t kWidth = 100;

  void line(std::string_view text);        // one statement or declaration
  void directive(std::string_view text);   // #include and the like: never indented nor broken
  void open(std::string_view head);        // head {
  void reopen(std::string_view between);   // } between {
  void close(std::string_view tail = {});  // }tail
  void blank();                            // at most one, and none next to a brace
  void comment(const std::vector<std::string>& lines);  // /* ... */; nothing for no lines

  // What was written until now.
  const std::string& text() const { return text_; }

 private:
  void begin_line();  // the blank line that was asked for
  void put(std::string_view text);

  std::string text_;
  size_t depth_ = 0;
  bool blank_wanted_ = false;
  bool after_opening_ = true;
};

}  // namespace intarsia
