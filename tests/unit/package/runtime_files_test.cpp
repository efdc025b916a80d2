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
