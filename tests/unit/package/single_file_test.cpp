// One C file that holds every kernel: names of its files must not meet.
#include <gtest/gtest.h>

#include "intarsia/package.h"
#include "needs.h"
#include "packaging/headers_apart.h"
#include "packaging/runtime_files.h"
#include "packaging/runtime_trees.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::packaging {
namespace {

struct Core {
  const char *kernels, *name;
};

void PrintTo(const Core& core, std::ostream* out) {
  *out << core.name;
}

class SingleFile : public testing::TestWithParam<Core> {};

// A model that does nothing, and what a model would get that calls all there is for such a core.
PackageContents package_of_everything(const std::string& kernels) {
  PackageContents package;
  PackageOptions options;
  options.resource_root = INTARSIA_SOURCE_DIR;
  Result<RuntimeTrees> portable = portable_runtime(options, {});
  EXPECT_TRUE(portable.ok());
  RuntimeTrees runtime = portable.ok() ? *std::move(portable) : RuntimeTrees();
  EXPECT_TRUE(add_target(options, kernels, runtime).ok());
  std::string calls = "void m_run(void) {\n";
  for (const SourceFile& file : runtime.firmware)
    if (file.path.ends_with(".c"))
      for (const std::string& name : read_c_text(file.text).defines) calls += name + "();\n";
  package.files = {{"m.c", calls + "}\n"}, {"m.h", ""}, {"m_data.h", ""}};
  add_runtime_files(std::move(runtime.firmware), package.files);
  package.files[0].text =
      "#include \"m.h\"\n#include \"m_data.h\"\nvoid m_run(void);\nvoid m_run(void) {}\n";
  package.manifest.model = "m";
  for (const SourceFile& file : package.files)
    if (file.path.ends_with(".c")) package.manifest.sources.push_back(file.path);
  return package;
}

TEST(HeadersApart, AreThoseWithNamesOfAnotherFile) {
  const std::map<std::string, std::string> texts = {
      {"m.c", "#include \"call.h\"\nvoid m(void) { one(); two(); }\n"},
      {"call.h", "#include \"types.h\"\nvoid one(struct t *t);\nvoid two(void);\n"},
      {"types.h", "struct t { int a; };\nenum { kSame = 2 };\n"},
      {"one.c",
       "#define WIDTH 4\n#include \"by_width.h\"\n#include \"steps.h\"\nvoid one(struct t *t) "
       "{}\n"},
      {"two.c",
       "#include \"other_steps.h\"\n#include \"alone.h\"\nenum { kSame = 3 };\nvoid two(void) "
       "{}\n"},
      {"by_width.h", "static inline int wide(void) { return WIDTH; }\n"},
      {"steps.h", "static inline int step(void) { return 1; }\n"},
      {"other_steps.h", "static inline int step(void) { return 2; }\n"},
      {"above.h", "#include \"steps.h\"\nstatic inline int above(void) { return step(); }\n"},
      {"alone.h", "static inline int alone(void) { return 3; }\n"}};
  ReadFiles files;
  for (const auto& [path, text] : texts) {
    files[path].text = read_c_text(text);
    for (const std::string& name : files[path].text.includes) files[path].includes.insert(name);
  }
  EXPECT_EQ(headers_apart(files, "m.c"),
            (std::set<std::string>{"above.h", "by_width.h", "other_steps.h", "steps.h"}));
}

TEST_P(SingleFile, MayHoldEveryKernel) {
  const Result<ProcessOutcome> compiler = run_process({"arm-none-eabi-gcc", "--version"});
  if (!compiler.ok() || !compiler->succeeded())
    GTEST_SKIP() << test::needs("cross-toolchain") << "for a core";
  const PackageContents package = package_of_everything(GetParam().kernels);
  EXPECT_GT(package.manifest.sources.size(), 20u);
  const Result<PackageContents> single = single_file_package(package);
  ASSERT_TRUE(single.ok()) << single.error().to_string();
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string source = folder->path() + "/m.c";
  std::string text;
  for (const SourceFile& file : single->files)
    if (file.path == "m.c") {
      text = file.text;
      if (file.rest) file.rest([&](std::string_view part) { text += part; });
    } else if (file.path == "m.h") {
      ASSERT_TRUE(write_file(folder->path() + "/m.h", file.text).ok());
    }
  ASSERT_TRUE(write_file(source, text).ok());
  const Result<ProcessOutcome> compiled =
      run_process({"arm-none-eabi-gcc", std::string("-mcpu=") + GetParam().name, "-mthumb", "-O1",
                   "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source});
  ASSERT_TRUE(compiled.ok());
  EXPECT_TRUE(compiled->succeeded()) << compiled->err.substr(0, 20000);
}

INSTANTIATE_TEST_SUITE_P(Cores, SingleFile,
                         testing::Values(Core{"cortex-m", "cortex-m0"},
                                         Core{"cortex-m", "cortex-m3"},
                                         Core{"cortex-m", "cortex-m4"},
                                         Core{"cortex-m", "cortex-m55"}),
                         [](const auto& info) { return std::string(info.param.name).substr(7); });

}  // namespace
}  // namespace intarsia::packaging
