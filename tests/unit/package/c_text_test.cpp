// What a C source says of itself.
#include "packaging/c_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::packaging {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(CText, FunctionsWithABodyAreDefined) {
  const CText text = read_c_text(
      "#include \"a/b.h\"\n#include <stdint.h>\n"
      "static int helper(int x) { return other(x); }\n"
      "void intarsia_f(const int *in, /* of intarsia_comment */ int n) {\n"
      "  if (n) { helper(in[0]); }\n}\n"
      "__attribute__((noinline)) int32_t intarsia_g(void) { return kLimit; }\n");
  EXPECT_THAT(text.includes, ElementsAre("a/b.h"));
  EXPECT_THAT(text.defines, ElementsAre("intarsia_f", "intarsia_g"));
  EXPECT_THAT(text.locals, Contains("helper"));
  EXPECT_THAT(text.uses, Contains("other"));
  EXPECT_THAT(text.uses, Contains("kLimit"));
  EXPECT_THAT(text.uses, Not(Contains("intarsia_comment")));
}

TEST(CText, PrototypesAreDeclaredAndNotUsed) {
  const CText text = read_c_text(
      "#ifndef A_H\n#define A_H\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
      "struct intarsia_shape { int16_t in_h; };\n"
      "typedef int32_t intarsia_status;\n"
      "enum { INTARSIA_OK = 0, kNext };\n"
      "void intarsia_f(const struct intarsia_window *w, int n);\n"
      "static inline int intarsia_two(void) { return 2 * intarsia_one(); }\n"
      "#ifdef __cplusplus\n}\n#endif\n#endif\n");
  for (const char* name :
       {"intarsia_shape", "intarsia_status", "INTARSIA_OK", "kNext", "intarsia_f", "intarsia_two"})
    EXPECT_THAT(text.declares, Contains(name));
  EXPECT_THAT(text.declares, Not(Contains("intarsia_window")));
  EXPECT_THAT(text.uses, Contains("intarsia_one"));
  EXPECT_THAT(text.uses, Not(Contains("intarsia_f")));
  EXPECT_THAT(text.defines, IsEmpty());
  EXPECT_FALSE(text.only_includes);
}

TEST(CText, MacrosThatDefineFunctionsNameThem) {
  const CText text = read_c_text(
      "#define KERNEL(name, how) \\\n  void name(int x) { work(x, how); }\n"
      "KERNEL(intarsia_f_s8, WHOLE)\nKERNEL(intarsia_g_s8, ANY)\n"
      "int intarsia_h(void) { return 1; }\n"
      "KERNEL(intarsia_last, ANY)\n");
  EXPECT_THAT(text.defines,
              ElementsAre("intarsia_f_s8", "intarsia_g_s8", "intarsia_h", "intarsia_last"));
  EXPECT_THAT(text.uses, Contains("work"));
  EXPECT_THAT(text.macros, ElementsAre("KERNEL"));
}

TEST(CText, KnowsWhatElseIsAFilesOwn) {
  const CText text = read_c_text(
      "#define FOUR four_of_them\n#define CALLED(x) x\n"
      "#define MAKE(name) static void name(void) {}\n#define MAKE_OF(kind) MAKE(sum_of_##kind)\n"
      "typedef void (*step)(const struct later *);\ntypedef int32_t number;\n"
      "typedef struct pair { int a, b; } pair;\nstruct other { int c; };\n"
      "static inline int FOUR(void) { return 4; }\n"
      "A_INLINE int lines(int x) { return x; }\nMAKE(made_here)\nMAKE_OF(whole)\n");
  for (const char* name : {"four_of_them", "step", "number", "lines", "made_here"})
    EXPECT_THAT(text.locals, Contains(name));
  // The macro joins the latter to a longer name.
  for (const char* name : {"void", "later", "other", "whole"})
    EXPECT_THAT(text.locals, Not(Contains(name)));
  EXPECT_THAT(text.tags, ElementsAre("other", "pair"));
}

TEST(CText, NamesAreReplacedWhereTheyMeanTheSame) {
  EXPECT_EQ(
      with_names(
          "struct a a = {.a = b->a, b.a, \"a\", 'a', 0xa}; // a\n/* a */ a(aa, a1); struct\n",
          {{"a", "x_a"}}, {}),
      "struct a x_a = {.a = b->a, b.a, \"a\", 'a', 0xa}; // a\n/* a */ x_a(aa, a1); struct\n");
  EXPECT_EQ(with_names("struct a *a; enum b c; mystruct b; b = 1;", {{"b", "y"}},
                       {{"a", "x"}, {"b", "z"}}),
            "struct x *a; enum z c; mystruct y; y = 1;");
}

TEST(CText, AHeaderMayOnlyCollectOthers) {
  EXPECT_TRUE(read_c_text("// All of them.\n#ifndef ALL_H_\n#define ALL_H_\n#include \"a.h\"\n"
                          "#include \"b.h\"\n#endif  // ALL_H_\n")
                  .only_includes);
  EXPECT_FALSE(read_c_text("#define ONE 1\n#include \"a.h\"\n").only_includes);
  const CText warning = read_c_text("#include \"a.h\"\n#if A\n#warning \"b\"\n#endif\n");
  EXPECT_FALSE(warning.only_includes);
  EXPECT_TRUE(warning.warns);
}

TEST(CText, LiteralsHoldNoNames) {
  const CText text = read_c_text(
      "void f(void) { say(\"intarsia_no { \\\" }\", '\"', intarsia_yes); }\nint intarsia_g(void) { "
      "return 0; }\n");
  EXPECT_THAT(text.uses, Contains("intarsia_yes"));
  EXPECT_THAT(text.uses, Not(Contains("intarsia_no")));
  EXPECT_THAT(text.defines, ElementsAre("f", "intarsia_g"));
}

}  // namespace
}  // namespace intarsia::packaging
