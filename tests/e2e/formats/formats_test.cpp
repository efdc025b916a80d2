// compile --format: the same C in every ecosystem's folder, and samples that run.
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class Formats : public Cli {
 protected:
  ProcessOutcome formatted(const std::string& format, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"compile", digits_path(), "--format", format, "-o", format};
    words.insert(words.end(), more.begin(), more.end());
    return intarsia(words);
  }
  void expect_done(const ProcessOutcome& outcome) const {
    EXPECT_TRUE(outcome.succeeded()) << outcome.out << outcome.err;
  }
};

// Every format but the plain one, and the folder that its C files are in.
const std::map<std::string, std::string>& roots() {
  static const std::map<std::string, std::string> kRoots = {
      {"cmake", ""},       {"zephyr", "src/"},  {"pico", "src/"},
      {"esp-idf", "src/"}, {"arduino", "src/"}, {"platformio", "src/"},
      {"cmsis-pack", ""},  {"clayer", ""},      {"rust", "c/"}};
  return kRoots;
}

// A format that is added has to be in roots() too.
TEST_F(Formats, AreAllTried) {
  const ProcessOutcome unknown = formatted("?");
  for (const auto& [format, root] : roots()) EXPECT_THAT(unknown.err, HasSubstr(format));
  // Behind them are those that are no folder of C.
  const std::string folders = unknown.err.substr(0, unknown.err.find(", tflite"));
  EXPECT_EQ(std::count(folders.begin(), folders.end(), ','), static_cast<int64_t>(roots().size()))
      << unknown.err;
}

// The model's and the runtime's C, by what a format may move: the folder in front.
TEST_F(Formats, HaveTheSameFilesByteForByte) {
  ASSERT_TRUE(done(formatted("plain")));
  const auto plain = read_folder("plain");
  for (const auto& [format, root] : roots()) {
    expect_done(formatted(format));
    const auto there = read_folder(format);
    int compared = 0;
    for (const auto& [name, text] : plain) {
      if (!name.ends_with(".c") && !name.ends_with(".h")) continue;
      const std::string place = root + name;
      const auto found = there.find(place);
      ASSERT_NE(found, there.end()) << format << " lacks " << place;
      EXPECT_EQ(found->second, text) << format << ": " << place;
      ++compared;
    }
    EXPECT_GT(compared, 5);
  }
}

TEST_F(Formats, AreFoldersThatRunAndAreReplaced) {
  write_image("image.bin", 0);
  for (const auto& [format, root] : roots()) {
    expect_done(formatted(format));
    const auto once = read_folder(format);
    expect_done(formatted(format));
    EXPECT_EQ(read_folder(format), once) << format;
    ASSERT_TRUE(done(intarsia({"run", format, "--input", "image.bin", "--output-dir", "out"})));
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(0)) << format;
    write(format + "/README.md.mine", std::string("mine"));
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", format}))) << "plain instead";
    EXPECT_FALSE(exists(format + "/README.md"));
    EXPECT_TRUE(exists(format + "/README.md.mine"));
  }
}

// What Zephyr has to know comes from the core and the board: a condition for tuned kernels, none for plain C.
TEST_F(Formats, ZephyrLearnsOfTheCoreAndTheBoard) {
  ASSERT_TRUE(done(formatted("zephyr", {"--board", "mps3-an547"})));
  auto module = read_folder("zephyr");
  EXPECT_THAT(module.at("zephyr/Kconfig"), HasSubstr("depends on ARMV8_1_M_MVEI\n"));
  EXPECT_THAT(module.at("samples/digits/prj.conf"), HasSubstr("CONFIG_FPU=y\n"));
  EXPECT_THAT(module.at("samples/digits/tests.yaml"),
              HasSubstr("      - mps3_an547\n      - mps3/corstone300/an547\n"));
  EXPECT_THAT(module.at("README.md"), HasSubstr("west build -b mps3/corstone300/an547 "));
  ASSERT_TRUE(done(formatted("zephyr", {"--board", "mps2-an386"})));
  EXPECT_THAT(read_folder("zephyr").at("README.md"), Not(HasSubstr("Older trees")));
  ASSERT_TRUE(done(formatted("zephyr", {"--target", "c -mcpu=cortex-m3 -kernels=portable"})));
  module = read_folder("zephyr");
  EXPECT_THAT(module.at("zephyr/Kconfig"), Not(HasSubstr("depends on")));
  EXPECT_THAT(module.at("samples/digits/prj.conf"), Not(HasSubstr("CONFIG_FPU")));
  EXPECT_THAT(module.at("samples/digits/tests.yaml"), Not(HasSubstr("platform_allow")));
}

// Twister's console passes where the expression is found: with values that are not the reference's it must not be.
TEST_F(Formats, ZephyrsTestFailsWhereValuesDiffer) {
  const auto fits = [&](const std::string& folder, const std::string& line) {
    const std::string file = path(folder + "/samples/" + folder + "/tests.yaml");
    const ProcessOutcome found =
        program({"python3", "-c",
                 "import re, sys\n"
                 "line, = [l for l in open(sys.argv[1]) if l.startswith(\"        - '\")]\n"
                 "print(re.search(line.strip()[3:-1], sys.argv[2]) is not None)",
                 file, line});
    EXPECT_TRUE(done(found));
    return found.out == "True\n";
  };
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--format", "zephyr", "-o", "digits"})));
  EXPECT_TRUE(fits("digits", "digits: 10 of 10 exact"));
  for (const char* line : {"digits: 0 of 10 exact", "digits: 1 of 10 exact", "digits: ran"})
    EXPECT_FALSE(fits("digits", line)) << line;
  const auto compile_map = [&](const std::string& name, const std::string& width) {
    write(name + ".graph",
          "intarsia.graph " + name + "\nfunc @main(%0) -> (%1) {\n  %0 in: f32[1," + width +
              "]\n  %1 out: f32[1," + width + "]\n  tanh curve(%0) -> (%1)\n}\nentry @main\n");
    ASSERT_TRUE(done(intarsia({"compile", name + ".graph", "--format", "zephyr", "-o", name})));
  };
  compile_map("curve", "4");
  EXPECT_TRUE(fits("curve", "curve: 3 of 4 exact"));
  compile_map("wide", "40000");  // without data
  EXPECT_TRUE(fits("wide", "wide: ran"));
  EXPECT_FALSE(fits("wide", "wide_run: status 3"));
}

// The last bits of floats are the compiler's: a sample that fails for them would tell of an error where there is none.
TEST_F(Formats, SamplesOfFloatsNeedNotBeExact) {
  write("curve.graph", R"(intarsia.graph curve
func @main(%0) -> (%1) {
  %0 in: f32[1,4]
  %1 out: f32[1,4]
  tanh curve(%0) -> (%1)
}
entry @main
)");
  const auto text_of = [&](const std::string& folder) {
    std::string all;
    for (const auto& [name, content] : read_folder(folder)) all += content;
    return all;
  };
  ASSERT_TRUE(done(intarsia({"compile", "curve.graph", "--format", "cmake", "-o", "curve"})));
  const std::string floats = text_of("curve");
  EXPECT_THAT(floats, HasSubstr("curve: %d of %d exact"));
  EXPECT_THAT(floats, Not(HasSubstr("equal == values ?")));
  EXPECT_THAT(floats, HasSubstr("no error of the sample"));
  ASSERT_TRUE(done(formatted("cmake")));
  const std::string integers = text_of("cmake");
  EXPECT_THAT(integers, HasSubstr("return equal == values ? 0 : 1;"));
  EXPECT_THAT(integers, Not(HasSubstr("no error of the sample")));
}

TEST_F(Formats, AnUnknownOneIsNamed) {
  EXPECT_TRUE(refused(formatted("zephir"), {"--format", "there is no format 'zephir'", "zephyr"}));
  EXPECT_FALSE(exists("zephir"));
  EXPECT_THAT(formatted("cmake", {"--single-file"}).err,
              HasSubstr("--single-file is a form of the plain package"));
}

TEST_F(Formats, RefuseWhatTheyCannotCarry) {
  for (const char* format : {"arduino", "platformio", "rust"})
    EXPECT_TRUE(refused(formatted(format, {"--target", "ethos-u55-128"}),
                        {"--format " + std::string(format), "drivers", "ethos-u", "zephyr"}));
  for (const char* format : {"cmsis-pack", "clayer"})
    EXPECT_TRUE(refused(formatted(format, {"--target", "ethos-u55-128"}),
                        {"--format " + std::string(format), "simulated", "--board"}));
  EXPECT_TRUE(refused(formatted("rust", {"--target", "c -mcpu=cortex-m4"}),
                      {"--format rust", "cortex-m4", "--board"}));
  for (const char* format : {"cmake", "zephyr", "arduino", "rust"})
    EXPECT_TRUE(refused(formatted(format, {"--runtime", "runtime"}),
                        {"--format " + std::string(format), "plain, cmsis-pack, clayer"}));
  EXPECT_FALSE(exists("runtime"));
  EXPECT_TRUE(refused(formatted("esp-idf", {"--board", "mps2-an385"}),
                      {"--format esp-idf", "cortex-m3", "--target c"}));
  EXPECT_TRUE(
      refused(formatted("esp-idf", {"--target", "ethos-u55-128"}), {"--format esp-idf", "zephyr"}));
  EXPECT_TRUE(
      refused(formatted("zephyr", {"--target", "ethos-u55-128"}), {"--format zephyr", "--board"}));
}

TEST_F(Formats, RefuseSeveralCpusButForThePlainOne) {
  std::vector<std::string> two = {"--target", "low_power_cpu: c; inference_cpu: c"};
  for (const char* name : {"stem", "block1_depthwise", "block1_pointwise"})
    two.insert(two.end(), {"--pin", name + std::string("=low_power_cpu")});
  for (const auto& [format, root] : roots()) {
    EXPECT_TRUE(refused(formatted(format, two), {"--format " + format, "--format plain"}));
    EXPECT_FALSE(exists(format));
  }
}

// Installed, moved, found by a project that knows nothing else.
TEST_F(Formats, CMakeIsFoundWhereItWasInstalled) {
  ASSERT_TRUE(done(formatted("cmake")));
  expect_done(program({INTARSIA_CMAKE, "-S", "cmake", "-B", "b1", "-G", INTARSIA_GENERATOR,
                       "-DDIGITS_SAMPLE=ON", "-DCMAKE_INSTALL_PREFIX=" + path("there"),
                       "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"}));
  expect_done(program({INTARSIA_CMAKE, "--build", "b1"}));
  const ProcessOutcome sample = program({path("b1/digits_sample")});
  expect_done(sample);
  EXPECT_THAT(sample.out, HasSubstr("digits: 10 of 10 exact"));
  EXPECT_THAT(sample.out, HasSubstr("largest: "));
  expect_done(program({INTARSIA_CMAKE, "--build", "b1", "--target", "install"}));
  fs::create_directories(path("user"));
  fs::rename(path("cmake/sample"), path("user/sample"));
  fs::remove_all(path("cmake"));
  fs::remove_all(path("b1"));
  write("user/CMakeLists.txt",
        std::string("cmake_minimum_required(VERSION 3.13)\nproject(user LANGUAGES C)\n"
                    "find_package(digits REQUIRED)\nadd_executable(user sample/digits_sample.c)\n"
                    "target_link_libraries(user PRIVATE intarsia::digits m)\n"));
  expect_done(program({INTARSIA_CMAKE, "-S", "user", "-B", "b2", "-G", INTARSIA_GENERATOR,
                       "-DCMAKE_PREFIX_PATH=" + path("there")}));
  expect_done(program({INTARSIA_CMAKE, "--build", "b2"}));
  EXPECT_THAT(program({path("b2/user")}).out, HasSubstr("digits: 10 of 10 exact"));
}

// Whatever the folder of the build is called, and where the installation lies within the package, twice.
TEST_F(Formats, CMakeInstallsNothingButThePackage) {
  ASSERT_TRUE(done(formatted("cmake")));
  expect_done(program({INTARSIA_CMAKE, "-S", "cmake", "-B", "cmake/out", "-G", INTARSIA_GENERATOR,
                       "-DCMAKE_INSTALL_PREFIX=" + path("cmake/there")}));
  std::set<std::string> headers;
  for (const auto& [name, text] : read_folder("cmake"))
    if (name.ends_with(".h") && !name.starts_with("sample/")) headers.insert(name);
  EXPECT_TRUE(headers.contains("digits.h") && headers.contains("intarsia/contract/status.h"));
  for (int time = 0; time < 2; ++time)
    expect_done(program({INTARSIA_CMAKE, "--build", "cmake/out", "--target", "install"}));
  std::set<std::string> installed;
  const fs::path include = path("cmake/there/include/digits");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(include)) {
    const std::string name = entry.path().lexically_relative(include).generic_string();
    if (name.ends_with(".h")) installed.insert(name);
    EXPECT_NE(name, "out");
    EXPECT_NE(name, "there");
  }
  EXPECT_EQ(installed, headers);
}

// The program reads its model from a library that the system loads; what its header declares is what it needs of it.
TEST_F(Formats, CMakeMakesSharedLibrariesWhereAskedFor) {
  if (!have_program("x86_64-linux-gnu-gcc"))
    GTEST_SKIP() << needs("linux-toolchain") << "no x86_64-linux-gnu-gcc";
  ASSERT_TRUE(done(formatted("cmake", {"--board", "x86_64-linux"})));
  const auto configured = [&](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> words = {INTARSIA_CMAKE,
                                      "-S",
                                      "cmake",
                                      "-B",
                                      folder,
                                      "-G",
                                      INTARSIA_GENERATOR,
                                      "-DBUILD_SHARED_LIBS=ON",
                                      "-DCMAKE_INSTALL_PREFIX=" + path(folder + "-there")};
    words.insert(words.end(), more.begin(), more.end());
    return program(words);
  };
  expect_done(configured("b", {"-DCMAKE_C_COMPILER=x86_64-linux-gnu-gcc", "-DDIGITS_SAMPLE=ON",
                               "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"}));
  expect_done(program({INTARSIA_CMAKE, "--build", "b", "--target", "install"}));
  EXPECT_TRUE(exists("b-there/lib/libdigits.so"));
  EXPECT_FALSE(exists("b-there/lib/libdigits.a"));
#if defined(__x86_64__) && defined(__linux__)
  const ProcessOutcome sample = program({path("b/digits_sample")});
  expect_done(sample);
  EXPECT_THAT(sample.out, HasSubstr("digits: 10 of 10 exact"));
#endif
  // Without a system there are none, and nothing is said of it.
  const ProcessOutcome bare =
      configured("bare", {"-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER_WORKS=ON"});
  expect_done(bare);
  EXPECT_THAT(bare.out + bare.err, Not(HasSubstr("shared")));
  expect_done(program({INTARSIA_CMAKE, "--build", "bare", "--target", "install"}));
  EXPECT_TRUE(exists("bare-there/lib/libdigits.a"));
}

// As for any other Linux program: a compiler of the board, and its emulator as what CMake starts programs with.
TEST_F(Formats, CMakeIsCrossCompiledForLinux) {
  if (!have_program("aarch64-linux-gnu-gcc") || !have_program("qemu-aarch64"))
    GTEST_SKIP() << needs("linux-toolchain") << "no aarch64-linux-gnu-gcc or qemu-aarch64";
  ASSERT_TRUE(done(formatted("cmake", {"--board", "aarch64-linux", "--target", "cortex-a55"})));
  expect_done(
      program({INTARSIA_CMAKE, "-S", "cmake", "-B", "b", "-G", INTARSIA_GENERATOR,
               "-DDIGITS_SAMPLE=ON", "-DCMAKE_SYSTEM_NAME=Linux",
               "-DCMAKE_SYSTEM_PROCESSOR=aarch64", "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc",
               "-DCMAKE_C_FLAGS=-mcpu=cortex-a55 -Wall -Wextra -Werror"}));
  expect_done(program({INTARSIA_CMAKE, "--build", "b"}));
  const ProcessOutcome sample =
      program({"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", path("b/digits_sample")});
  expect_done(sample);
  EXPECT_THAT(sample.out, HasSubstr("digits: 10 of 10 exact"));
}

}  // namespace
}  // namespace intarsia::test
