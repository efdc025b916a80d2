#include "support/text_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace intarsia {
namespace {

std::string error_of(TextReader& in) {
  return in.ok() ? "" : in.error().items().front().to_string();
}

TEST(TextReader, ReadsEveryKindOfToken) {
  TextReader in("func @main // the entry\n (%3) -> x\"0a FF\" \"a\\\"b\\x41\" -1.5e-3 -7 true a..b",
                "t");
  in.expect("func");
  in.expect("@");
  EXPECT_EQ(in.word("a name"), "main");
  EXPECT_EQ(in.peek().comment, "the entry");
  int64_t id = 0;
  in.list("(", ")", [&] {
    in.expect("%");
    id = in.integer("a number");
  });
  EXPECT_EQ(id, 3);
  in.expect("->");
  EXPECT_EQ(in.hex("bytes"), (std::vector<uint8_t>{10, 255}));
  EXPECT_EQ(in.string("text"), "a\"bA");
  EXPECT_EQ(in.real("a scale"), -1.5e-3f);
  EXPECT_EQ(in.integer("a number"), -7);
  EXPECT_TRUE(in.boolean("a flag"));
  EXPECT_EQ(in.word("a word"), "a..b");
  EXPECT_TRUE(in.at_end());
  EXPECT_TRUE(in.ok()) << error_of(in);
}

TEST(TextReader, NamesThePlaceAndKeepsTheFirstError) {
  TextReader in("one\n  two", "file");
  in.expect("one");
  in.expect("three");
  in.expect("four");
  EXPECT_EQ(error_of(in), "file:2:3: expected 'three', found 'two'");
  EXPECT_EQ(in.error().items().size(), 1u);
  EXPECT_TRUE(in.at_end());
}

TEST(TextReader, RefusesWhatIsMalformed) {
  const auto error = [](std::string_view text, auto&& read) {
    TextReader in(text, "t");
    read(in);
    return error_of(in);
  };
  const auto integer = [](TextReader& in) { in.integer("count", 0, 9); };
  const auto string = [](TextReader& in) { in.string("a name"); };
  const auto hex = [](TextReader& in) { in.hex("the data"); };
  EXPECT_EQ(error("", integer), "t:1:1: expected count (an integer), found the end of the text");
  EXPECT_EQ(error("10", integer), "t:1:1: count 10 is outside 0 .. 9");
  EXPECT_EQ(error("99999999999999999999", integer),
            "t:1:1: count 99999999999999999999 is outside 0 .. 9");
  EXPECT_EQ(error("1.5", integer), "t:1:1: expected count (an integer), found '1.5'");
  EXPECT_EQ(error("1x", integer), "t:1:1: '1x' is neither a number nor a name");
  EXPECT_EQ(error("\x01", integer), "t:1:1: unexpected character (code 1)");
  EXPECT_EQ(error("\"abc", string), "t:1:1: the string does not end on its line; close it with \"");
  EXPECT_EQ(error("\"abc\\\"", string),
            "t:1:1: the string does not end on its line; close it with \"");
  EXPECT_EQ(error("\"\\q\"", string),
            "t:1:1: the string has an unknown escape; use \\\" \\\\ \\n \\t or \\xNN");
  EXPECT_EQ(error("x\"0\"", hex), "t:1:2: the data has an odd number of hexadecimal digits");
  EXPECT_EQ(error("x\"0g\"", hex),
            "t:1:2: the data has a character that is not a hexadecimal digit");
  EXPECT_EQ(error("1e99", [](TextReader& in) { in.real("scale"); }),
            "t:1:1: scale '1e99' is outside the range of float");
}

TEST(TextReader, ListsEndAtGarbage) {
  TextReader in("(1, 2", "t");
  std::vector<int64_t> values;
  in.list("(", ")", [&] { values.push_back(in.integer("a value")); });
  EXPECT_EQ(error_of(in), "t:1:6: expected ')', found the end of the text");
  TextReader open("(1,", "t");
  open.list("(", ")", [&] { open.integer("a value"); });
  EXPECT_EQ(error_of(open), "t:1:4: expected a value (an integer), found the end of the text");
}

TEST(TextReader, WritersAreInverses) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  for (const std::string& text : {all, std::string(), std::string("a.b_1"), std::string("1a"),
                                  std::string("cortex-m55"), std::string("\0x", 2)}) {
    const std::string written = text_name(text);
    TextReader in(written, "t");
    EXPECT_EQ(in.name("a name"), text);
    EXPECT_TRUE(in.ok() && in.at_end()) << error_of(in);
  }
  EXPECT_EQ(text_name("a.b_1"), "a.b_1");
  EXPECT_EQ(text_name("cortex-m55"), "\"cortex-m55\"");

  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bits = random();
    float value, read;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) continue;
    const std::string written = text_real(value);
    TextReader in(written, "t");
    read = in.real("a value");
    EXPECT_EQ(std::memcmp(&read, &value, sizeof value), 0) << written;
  }
  const std::vector<uint8_t> bytes = {0, 1, 0xab, 0xff};
  const std::string hex = text_hex(bytes);
  TextReader in(hex, "t");
  EXPECT_EQ(in.hex("bytes"), bytes);
}

TEST(TextReader, SurvivesAnyBytes) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 64, ' ');
    for (char& c : text)
      c = random() % 4 == 0 ? static_cast<char>(random()) : "\"\\x1.-> /ea"[random() % 11];
    TextReader in(text, "t");
    while (!in.at_end()) {
      switch (random() % 5) {
        case 0:
          in.name("a name");
          break;
        case 1:
          in.real("a real");
          break;
        case 2:
          in.hex("bytes");
          break;
        case 3:
          in.integer("an integer", -5, 5);
          break;
        default:
          in.next();
          break;
      }
    }
  }
}

}  // namespace
}  // namespace intarsia
