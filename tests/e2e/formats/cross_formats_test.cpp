// Zephyr modules, libraries for the Pico SDK and ESP-IDF components for their cores: the files that they list, and no others.
#include <cstdlib>
#include <filesystem>

#include "cross_build.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CrossFormats : public CrossBuild {
 protected:
  // What stands in front of .c in a CMakeLists.txt, below the folder src/ of the package.
  std::vector<std::string> listed_sources(const std::string& folder,
                                          const std::string& description) const {
    std::vector<std::string> sources;
    const std::string text = *read_text_file(path(folder + "/" + description));
    for (size_t at = 0; (at = text.find(".c", at)) != std::string::npos; at += 2) {
      if (text[at + 2] != '\n' && text[at + 2] != '"') continue;
      std::string name = text.substr(0, at + 2);
      name = name.substr(name.find_last_of(" \"\n") + 1);
      if (const size_t root = name.find("src/"); root != std::string::npos)
        name = name.substr(root + 4);
      sources.push_back(folder + "/src/" + name);
    }
    EXPECT_GT(sources.size(), 4u);
    return sources;
  }
  void expect_exact(const ProcessOutcome& outcome) const {
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
  }
  static std::vector<std::string> with(std::vector<std::string> a,
                                       const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

class ZephyrOn : public CrossFormats, public testing::WithParamInterface<const char*> {};

TEST_P(ZephyrOn, ListedFilesAreAProgram) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  const std::string board = GetParam();
  package("zephyr", board, "m");
  write("shim/zephyr/sys/printk.h", std::string("int console_printf(const char *format, ...);\n"
                                                "#define printk console_printf\n"));
  const auto flags = core_flags("m");
  // Zephyr's default and what the module asks for.
  for (const std::string& source : listed_sources("m", "zephyr/CMakeLists.txt"))
    compile(source, with(flags, {"-Os", "-O2", "-std=c11", "-Im/src"}));
  compile("m/samples/digits/src/main.c", with(flags, {"-Os", "-std=c11", "-Im/src", "-Ishim"}));
  expect_exact(link_and_run(board, flags));
}

INSTANTIATE_TEST_SUITE_P(Boards, ZephyrOn,
                         testing::Values("mps2-an385", "mps2-an386", "mps3-an547"),
                         [](const auto& param) { return std::string(param.param).substr(5); });

TEST_F(CrossFormats, ThePicosFilesRunOnItsCore) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--target", "c -mcpu=cortex-m0plus",
                             "--format", "pico", "-o", "m"})));
  write("shim/pico/stdlib.h", std::string("static inline void stdio_init_all(void) {}\n"));
  write("console.h", std::string("int console_printf(const char *, ...);\n"));
  const std::vector<std::string> flags = {"-mcpu=cortex-m0plus", "-mthumb"};
  for (const std::string& source : listed_sources("m", "CMakeLists.txt"))
    compile(source, with(flags, {"-Os", "-std=c11", "-Im/src"}));
  compile("m/sample/main.c",
          with(flags, {"-Os", "-std=c11", "-Im/src", "-Ishim", "-include", "console.h"}));
  // A core that runs the code of the smaller one.
  expect_exact(link_and_run("mps2-an385", flags));
}

TEST_F(CrossFormats, EspIdfsFilesAreCForItsRiscVCores) {
  if (!have_program("clang") || !have_tools()) GTEST_SKIP() << needs("clang") << "not installed";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--format", "esp-idf", "-o", "m"})));
  for (const char* core : {"rv32imc", "rv32imafc"})
    for (const std::string& source : listed_sources("m", "CMakeLists.txt")) {
      // The headers of newlib, which ESP-IDF has too, are those of every core.
      const ProcessOutcome compiled = program({"clang",
                                               "--target=riscv32-unknown-elf",
                                               std::string("-march=") + core,
                                               "-Og",
                                               "-O2",
                                               "-std=gnu17",
                                               "-Wall",
                                               "-Wextra",
                                               "-Werror",
                                               "-Wno-unused-parameter",
                                               "-Wno-sign-compare",
                                               "-isystem",
                                               "/usr/lib/arm-none-eabi/include",
                                               "-isystem",
                                               "/usr/include/newlib",
                                               "-Im/src",
                                               "-c",
                                               source,
                                               "-o",
                                               "riscv.o"});
      EXPECT_TRUE(compiled.succeeded()) << source << compiled.err;
    }
}

// The validators of two ecosystems, where they are installed; both can tell a wrong description.
TEST_F(CrossFormats, PlatformIoPacksTheLibrary) {
  if (!have_program("pio")) GTEST_SKIP() << needs("platformio") << "no pio";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--format", "platformio", "-o", "m"})));
  const ProcessOutcome packed = program({"pio", "pkg", "pack", "m", "-o", "library.tar.gz"});
  EXPECT_TRUE(packed.succeeded()) << packed.out << packed.err;
  const ProcessOutcome named = intarsia({"compile", digits_path(), "--name", std::string(120, 'm'),
                                         "--format", "platformio", "-o", "long"});
  EXPECT_THAT(named.err, HasSubstr("note: PlatformIO allows no library of the name 'mmm"));
  const ProcessOutcome packed_too = program({"pio", "pkg", "pack", "long", "-o", "long.tar.gz"});
  EXPECT_TRUE(packed_too.succeeded()) << packed_too.out << packed_too.err;
  write("m/library.json", std::string("{\"version\": \"1.0.0\"}"));
  EXPECT_FALSE(program({"pio", "pkg", "pack", "m", "-o", "other.tar.gz"}).succeeded());
}

TEST_F(CrossFormats, TheComponentManagerTakesTheComponent) {
  if (!run_process({"compote", "version"}).ok())
    GTEST_SKIP() << needs("idf-component-manager") << "no compote";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--format", "esp-idf", "-o", "m"})));
  EXPECT_TRUE(program({"compote", "manifest", "lint", "idf_component.yml"}, "m").succeeded());
  const ProcessOutcome packed =
      program({"compote", "component", "pack", "--name", "digits", "--version", "1.0.0"}, "m");
  EXPECT_TRUE(packed.succeeded()) << packed.out << packed.err;
  EXPECT_TRUE(exists("m/dist/digits_1.0.0.tgz"));
  write("m/idf_component.yml", std::string("version: \"1.x\"\n"));
  EXPECT_FALSE(program({"compote", "manifest", "lint", "idf_component.yml"}, "m").succeeded());
}

// With a Zephyr tree and its tools: ZEPHYR_BASE, and the toolchain that its variables name.
TEST_F(CrossFormats, ZephyrItselfBuildsAndRunsTheSample) {
  const char* base = std::getenv("ZEPHYR_BASE");
  if (base == nullptr) GTEST_SKIP() << needs("zephyr") << "ZEPHYR_BASE is not set";
  // Boards have had names with slashes since Zephyr 3.7.
  const bool slashes = fs::exists(fs::path(base) / "boards/arm/mps2/board.yml");
  for (const auto& [board, name, older] :
       {std::array<std::string, 3>{"mps2-an385", "mps2/an385", "mps2_an385"},
        std::array<std::string, 3>{"mps3-an547", "mps3/corstone300/an547", "mps3_an547"}}) {
    package("zephyr", board, board + "_module");
    const ProcessOutcome configured =
        program({INTARSIA_CMAKE, "-GNinja", "-S", board + "_module/samples/digits", "-B", board,
                 "-DBOARD=" + (slashes ? name : older)});
    ASSERT_TRUE(configured.succeeded()) << configured.out << configured.err;
    const ProcessOutcome built = program({INTARSIA_CMAKE, "--build", board});
    ASSERT_TRUE(built.succeeded()) << built.out << built.err;
    // The emulator goes on when the sample is done.
    const ProcessOutcome ran = program({"timeout", "30", "ninja", "-C", board, "run"});
    EXPECT_THAT(ran.out, HasSubstr("digits: 10 of 10 exact"));
  }
}

}  // namespace
}  // namespace intarsia::test
