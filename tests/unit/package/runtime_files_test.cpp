// Which files of the runtime a model gets.
#include "packaging/runtime_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::packaging {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> paths(const std::vector<SourceFile>& files) {
  std::vector<std::string> paths;
  for (const SourceFile& file : files) paths.push_back(file.path);
  return paths;
}

const std::vector<SourceFile> kRuntime = {
    {"intarsia/all.h", "#include \"intarsia/f.h\"\n#include \"intarsia/g.h\"\n"},
    {"intarsia/f.c",
     "#include \"intarsia/f.h\"\n#include \"intarsia/private.h\"\n"
     "void intarsia_f(void) { intarsia_h(); }\n"},
    {"intarsia/f.h", "void intarsia_f(void);\n"},
    {"intarsia/g.c", "#include \"intarsia/g.h\"\nvoid intarsia_g(void) {}\n"},
    {"intarsia/g.h", "void intarsia_g(void);\n"},
    {"intarsia/h.c", "#include \"intarsia/private.h\"\nvoid intarsia_h(void) {}\n"},
    {"intarsia/private.h", "#include \"table.def\"\nvoid intarsia_h(void);\n"},
    {"intarsia/table.def", "ROW(1)\n"},
};

TEST(RuntimeFiles, AreThoseThatTheModelCallsAndWhatTheseCall) {
  std::vector<SourceFile> package = {
      {"kws.c",
       "#include \"kws.h\"\n#include \"intarsia/all.h\"\nvoid kws_run(void) { intarsia_f(); }\n"},
      {"kws.h", "void kws_run(void);\n"}};
  add_runtime_files(kRuntime, package);
  EXPECT_THAT(paths(package),
              ElementsAre("kws.c", "kws.h", "intarsia/f.c", "intarsia/f.h", "intarsia/h.c",
                          "intarsia/private.h", "intarsia/table.def"));
  EXPECT_THAT(package[0].text, HasSubstr("#include \"intarsia/f.h\"\n"));
  EXPECT_THAT(package[0].text, Not(HasSubstr("all.h")));
}

TEST(RuntimeFiles, OfAModelThatCallsNothingAreNone) {
  std::vector<SourceFile> package = {
      {"kws.c", "#include \"intarsia/all.h\"\nvoid kws_run(void) { }\n"}};
  add_runtime_files(kRuntime, package);
  EXPECT_THAT(paths(package), ElementsAre("kws.c"));
  EXPECT_THAT(package[0].text, Not(HasSubstr("#include")));
}

// Nothing of it is called, and still the model's source has it, with what its condition needs.
TEST(RuntimeFiles, AWarningStandsInTheModel) {
  const std::vector<SourceFile> runtime = {
      {"a/made_for.h",
       "#ifdef A\n#define CHECKS 1\n#endif\n#ifndef O\n#warning \"no O\"\n#endif\n"},
      {"a/made_for_one.h",
       "#include \"a/made_for.h\"\n#if CHECKS && !defined(B)\n#warning \"no B\"\n#endif\n"},
      {"a/made_for_two.h", "#include \"a/made_for.h\"\n"},
  };
  for (const std::string name : {"one", "two"}) {
    std::vector<SourceFile> package = {
        {"kws.c", "#include \"a/made_for_" + name + ".h\"\nvoid kws_run(void) { }\n"}};
    add_runtime_files(runtime, package);
    EXPECT_THAT(paths(package), ElementsAre("kws.c"));
    EXPECT_THAT(package[0].text, HasSubstr("#ifdef A\n#define CHECKS 1\n#endif\n#ifndef O\n"
                                           "#warning \"no O\"\n#endif\n"));
    EXPECT_THAT(package[0].text, Not(HasSubstr("#include")));
    EXPECT_EQ(package[0].text.find("no B") != std::string::npos, name == "one");
  }
}

// Whether something is one file's own is said by the whole runtime: a second model may call the second user.
TEST(RuntimeFiles, AFilesOwnPartsStandInIt) {
  const std::vector<SourceFile> runtime = {
      {"a/f.h",
       "#include \"a/own.h\"\n#include \"a/shared.h\"\n#include \"b/other.h\"\n"
       "#define ROW(x) x\n#include \"a/rows.def\"\n#include \"a/twice.def\"\n"
       "#include \"a/twice.def\"\nvoid f(void);\n"},
      {"a/g.c", "#include \"a/shared.h\"\n#include \"a/of_source.h\"\nvoid g(void) {}\n"},
      {"a/of_source.h", "int of_source;\n"},
      {"a/own.h", "int own;\n"},
      {"a/rows.def", "ROW(1)\n"},
      {"a/shared.h", "int shared;\n"},
      {"a/twice.def", "ROW(2)\n"},
      {"b/other.h", "int other;\n"},
  };
  std::vector<SourceFile> package = {{"m.c", "#include \"a/f.h\"\nvoid run(void) { f(); }\n"}};
  add_runtime_files(runtime, package);
  EXPECT_THAT(paths(package),
              ElementsAre("m.c", "a/f.h", "a/shared.h", "a/twice.def", "b/other.h"));
  EXPECT_EQ(package[1].text,
            "int own;\n#include \"a/shared.h\"\n#include \"b/other.h\"\n#define ROW(x) x\nROW(1)\n"
            "#include \"a/twice.def\"\n#include \"a/twice.def\"\nvoid f(void);\n");
}

// What stands behind the name of a header does not hide that it is included.
TEST(RuntimeFiles, ARemarkBehindAnIncludeIsNoPartOfIt) {
  const std::vector<SourceFile> runtime = {
      {"a/f.h", "#include \"a/own.h\"  // before \"b\"\n#include \"a/shared.h\"\nvoid f(void);\n"},
      {"a/g.c", "#include \"a/shared.h\"  // behind \"b\"\nvoid g(void) {}\n"},
      {"a/own.h", "int own;\n"},
      {"a/shared.h", "int shared;\n"},
  };
  std::vector<SourceFile> package = {
      {"m.c", "#include \"a/f.h\"  // \"f\"\nvoid run(void) { f(); g(); }\n"}};
  add_runtime_files(runtime, package);
  EXPECT_THAT(paths(package), ElementsAre("m.c", "a/f.h", "a/g.c", "a/shared.h"));
  EXPECT_EQ(package[1].text, "int own;\n#include \"a/shared.h\"\nvoid f(void);\n");
}

TEST(RuntimeFiles, DriversComeWhole) {
  std::vector<SourceFile> runtime = kRuntime;
  runtime.push_back(
      {"intarsia/npu.cpp", "#include \"intarsia/g.h\"\nextern \"C\" void open() {}\n"});
  std::vector<SourceFile> package = {{"kws.c", "void kws_run(void) { }\n"}};
  add_runtime_files(runtime, package);
  EXPECT_THAT(paths(package), ElementsAre("kws.c", "intarsia/g.h", "intarsia/npu.cpp"));
}

}  // namespace
}  // namespace intarsia::packaging
