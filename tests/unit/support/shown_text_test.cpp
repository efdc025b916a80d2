#include "support/shown_text.h"

#include <gtest/gtest.h>

#include <string>

namespace intarsia {
namespace {

TEST(ShownText, NamesAsTheyAreStay) {
  for (const char* name : {"", "model/dense/BiasAdd;model/dense/MatMul", "a 'b' \\ `c` \"d\"",
                           "Gr\u00f6\u00dfe \u65e5\u672c \U0001f642"})
    EXPECT_EQ(shown_text(name), name);
}

TEST(ShownText, WhatActsOnATerminalDoesNot) {
  EXPECT_EQ(shown_text("a\nb\r\tc\x1b[31md\a\x7f"), "a?b??c?[31md??");
  EXPECT_EQ(shown_text(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(shown_text("a\u009b31mb"), "a?31mb");     // the escape of one character
  EXPECT_EQ(shown_text("a\u202eb\u2066c"), "a?b?c");  // text that runs backwards
  EXPECT_EQ(shown_text("a\u2028b"), "a?b");           // the end of a line
}

TEST(ShownText, BytesThatAreNoTextAreNotShown) {
  EXPECT_EQ(shown_text("a\xffz\x9b"), "a?z?");
  EXPECT_EQ(shown_text("a\xc0\x8az"), "a??z");            // a line's end in two bytes
  EXPECT_EQ(shown_text("a\xed\xa0\x80z"), "a???z");       // half of a pair
  EXPECT_EQ(shown_text("a\xe6\x97"), "a??");              // cut off
  EXPECT_EQ(shown_text("a\xf7\xbf\xbf\xbfz"), "a????z");  // beyond the last one
}

TEST(ShownText, LinesKeepTheirEnds) {
  EXPECT_EQ(shown_lines("one\n\ttwo\r\x1b[2J"), "one\n\ttwo??[2J");
}

TEST(CodeText, EndsNoCommentAndNoString) {
  EXPECT_EQ(code_text("a*/b//c\"d\\e?f`g\nh"), "a__b__c_d_e_f_g_h");
  EXPECT_EQ(code_text("serving_default_x:0;'y'"), "serving_default_x:0;'y'");
  EXPECT_EQ(code_text("\u00f6"), "__");
  EXPECT_EQ(literal_text("a*/b//c\"d\\e?f`g\nh"), "a*/b//c_d_e_f`g_h");
}

}  // namespace
}  // namespace intarsia
