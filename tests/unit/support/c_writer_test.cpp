#include "intarsia/plugin/c_writer.h"

#include <gtest/gtest.h>

namespace intarsia {
namespace {

TEST(CWriter, IndentsAndKeepsBlankLinesAwayFromBraces) {
  CWriter out;
  out.blank();
  out.directive("#include <stdint.h>");
  out.blank();
  out.blank();
  out.open("int f(int x)");
  out.blank();
  out.open("if (x > 0)");
  out.line("return 1;");
  out.blank();
  out.reopen("else");
  out.line("g();");
  out.blank();
  out.line("return 2;");
  out.blank();
  out.close();
  out.close();
  out.open("struct s");
  out.line("int a;");
  out.close(";");
  EXPECT_EQ(out.text(), R"(#include <stdint.h>

int f(int x) {
  if (x > 0) {
    return 1;
  } else {
    g();

    return 2;
  }
}
struct s {
  int a;
};
)");
}

TEST(CWriter, BreaksLongLinesOutsideBrackets) {
  CWriter out;
  out.open("void f(void)");
  out.line(
      "result[index_of_the_row * 64 + column] = first_function(argument, another_argument) + "
      "second_function(argument);");
  out.line(
      "call(\"a string with many blanks that is not broken anywhere inside of it, as that "
      "would change it\", 1);");
  out.close();
  EXPECT_EQ(out.text(), R"(void f(void) {
  result[index_of_the_row * 64 + column] = first_function(argument, another_argument) +
      second_function(argument);
  call(
      "a string with many blanks that is not broken anywhere inside of it, as that would change it",
      1);
}
)");
}

TEST(CWriter, CommentsAreWrappedAndCannotEndEarly) {
  CWriter out;
  out.comment({});
  out.comment({"one */ two"});
  out.comment({std::string(60, 'a') + " " + std::string(60, 'b'), "last"});
  EXPECT_EQ(out.text(), "/* one * / two */\n/* " + std::string(60, 'a') + "\n * " +
                            std::string(60, 'b') + "\n * last */\n");
}

}  // namespace
}  // namespace intarsia
