// The emitted C in other people's builds: both compilers, no warnings; its CMakeLists.txt and its .mk,
// with several models and several instances in one program.
#include <filesystem>

#include <fmt/format.h>

#include "cli.h"
#include "needs.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSum = R"(intarsia.graph clamp_sum
func @main(%0, %1) -> (%2) {
  %0 left: i8[1,8] q(0.5:0)
  %1 right: i8[1,8] q(0.5:0)
  %2 total: i8[1,8] q(0.5:0)
  add total(%0, %1) -> (%2) {activation=relu}
}
entry @main
)";

// Two instances of one model and a third model, each fed and run between the others' steps. Prints
// both instances' scores and the sum.
constexpr const char* kMain = R"(#include <stdio.h>
#include <string.h>

#include "clamp_sum.h"
#include "digits.h"

static _Alignas(DIGITS_ALIGNMENT) uint8_t ram_a[DIGITS_RAM_BYTES], ram_b[DIGITS_RAM_BYTES];
static _Alignas(CLAMP_SUM_ALIGNMENT) uint8_t ram_sum[CLAMP_SUM_RAM_BYTES];

static void read_image(struct digits *model, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fread(digits_input(model, 0), DIGITS_INPUT0_BYTES, 1, file) != 1) printf("no image\n");
  if (file != NULL) fclose(file);
}

static void print(const int8_t *values, int count) {
  for (int i = 0; i < count; ++i) printf("%d ", values[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  struct digits a, b;
  struct clamp_sum sum;
  const struct digits_resources resources_a = {.ram = ram_a}, resources_b = {.ram = ram_b};
  const struct clamp_sum_resources resources_sum = {.ram = ram_sum};
  if (argc != 3 || digits_init(&a, &resources_a) != 0) return 1;
  read_image(&a, argv[1]);
  if (digits_init(&b, &resources_b) != 0 || clamp_sum_init(&sum, &resources_sum) != 0) return 2;
  read_image(&b, argv[2]);
  memset(clamp_sum_input(&sum, 0), 50, CLAMP_SUM_INPUT0_BYTES);
  if (digits_run(&a) != 0) return 3;
  memset(clamp_sum_input(&sum, 1), 7, CLAMP_SUM_INPUT1_BYTES);
  if (digits_run(&b) != 0 || clamp_sum_run(&sum) != 0) return 4;
  print(digits_output(&a, 0), DIGITS_OUTPUT0_BYTES);
  print(digits_output(&b, 0), DIGITS_OUTPUT0_BYTES);
  print(clamp_sum_output(&sum, 0), CLAMP_SUM_OUTPUT0_BYTES);
  return 0;
}
)";

std::string printed(const std::vector<uint8_t>& values) {
  std::string text;
  for (const uint8_t value : values) text += fmt::format("{} ", static_cast<int8_t>(value));
  return text + "\n";
}

class EmittedC : public Cli {
 protected:
  // Every C source of a compiled folder, with everything C firmware is built with.
  void expect_no_warnings(const std::string& folder, const std::string& compiler,
                          const std::vector<std::string>& how) const {
    for (const auto& [name, text] : read_folder(folder)) {
      if (!name.ends_with(".c")) continue;
      std::vector<std::string> command = {compiler,       "-std=c11", "-Wall", "-Wextra",
                                          "-Wconversion", "-Werror",  "-I."};
      command.insert(command.end(), how.begin(), how.end());
      command.insert(command.end(), {"-c", name, "-o", "/dev/null"});
      const ProcessOutcome outcome = program(command, folder);
      EXPECT_TRUE(outcome.succeeded()) << command_line_text(command) << "\n" << outcome.err;
    }
  }

  // Both models in folders of the test, one of them compiled for a board whose memory has the same
  // name; the two-instance program, and images for it.
  void compile_two_models() const {
    write("clamp_sum.graph", std::string(kSum));
    write("main.c", std::string(kMain));
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--board", "microbit", "-o", "digits"})));
    ASSERT_TRUE(done(intarsia({"compile", "clamp_sum.graph", "-o", "clamp_sum"})));
    write_image("a.bin", 1);
    write_image("b.bin", 2);
  }
  void expect_right_outputs(const std::string& program_name) const {
    const ProcessOutcome outcome = program({path(program_name), "a.bin", "b.bin"});
    EXPECT_TRUE(done(outcome));
    EXPECT_EQ(outcome.out, printed(recorded_scores(1)) + printed(recorded_scores(2)) +
                               printed(std::vector<uint8_t>(8, 57)));
  }
};

TEST_F(EmittedC, NoWarnings) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "digits"})));
  int compilers = 0;
  for (const char* compiler : {"gcc", "clang"}) {
    if (!have_program(compiler)) continue;
    ++compilers;
    expect_no_warnings("digits", compiler, {"-O2"});
  }
  if (compilers < 2) GTEST_SKIP() << needs("clang") << "gcc and clang are to be compared";
}

// File names that C, its headers or CMake have for something else: what is emitted compiles all the same, in C
// and in C++, and keeps its bytes when it runs.
TEST_F(EmittedC, NamesOfFilesCollideWithNothing) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"stdint", "stdint_"},    {"String", "String_"},
      {"int", "int_"},          {"size_t", "size_t_"},
      {"my model", "my_model"}, {"it's \"x\"", "it_s_x"},
      {"7 up", "_7_up"},        {"\xe6\xa8\xa1", "model"},
      {"linux", "linux_"},      {"intarsia_package", "model_intarsia_package"}};
  for (const auto& [stem, name] : names) {
    write(stem + ".tflite", digits_bytes());
    ASSERT_TRUE(done(intarsia({"compile", stem + ".tflite", "-o", "folder of " + name}))) << stem;
    ASSERT_TRUE(exists("folder of " + name + "/" + name + ".h")) << stem;
    expect_no_warnings("folder of " + name, "gcc", {"-fsyntax-only"});
    write(name + ".cpp",
          fmt::format(
              "#include <cstdint>\n#include <cstring>\n#include <string>\n#include \"{0}.h\"\n"
              "int main() {{ struct {0} m; return {0}_init(&m, nullptr) == 0; }}\n",
              name));
    EXPECT_TRUE(done(program({"c++", "-std=gnu++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                              "-Ifolder of " + name, name + ".cpp"})))
        << stem;
  }
  write_image("a.bin", 1);
  ASSERT_TRUE(
      intarsia({"run", "--native", "stdint.tflite", "--input", "a.bin", "--output-dir", "out"})
          .succeeded());
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(1));
  const std::string longest(240, 'n');
  write(longest + ".tflite", digits_bytes());
  ASSERT_TRUE(done(intarsia({"compile", longest + ".tflite", "-o", "long"})));
  EXPECT_TRUE(exists("long/" + longest.substr(0, 128) + ".h"));
}

TEST_F(EmittedC, NameIsChosenAndChecked) {
  write_image("a.bin", 1);
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--name", "mnist", "-o", "out"})));
  EXPECT_TRUE(exists("out/mnist.h") && exists("out/mnist.mk") && !exists("out/digits.h"));
  EXPECT_TRUE(intarsia({"run", "--native", digits_path(), "--name", "mnist", "--input", "a.bin",
                        "--output-dir", "o"})
                  .succeeded());
  EXPECT_EQ(read("o/out0.bin"), recorded_scores(1));
  EXPECT_TRUE(
      refused(intarsia({"run", "out", "--name", "other", "--input", "a.bin", "--output-dir", "o"}),
              {"is compiled as 'mnist' already"}));
  for (const auto& [name, word] : {std::pair{"int", "is a keyword of C or C++"},
                                   {"stdint", "would hide the system's header <stdint.h>"},
                                   {"a-b", "is not a C identifier"},
                                   {"intarsia_x", "prefix of the runtime's own names"}}) {
    const ProcessOutcome outcome = intarsia({"compile", digits_path(), "--name", name, "-o", "no"});
    EXPECT_TRUE(usage_error(outcome, word));
    EXPECT_TRUE(usage_error(outcome, "letters, digits and '_'"));
    EXPECT_FALSE(exists("no"));
  }
  write("int.graph", std::string(kSum).replace(std::string(kSum).find("clamp_sum"), 9, "int"));
  EXPECT_TRUE(refused(intarsia({"compile", "int.graph", "-o", "no"}),
                      {"int.graph: module 'int': the name is a keyword of C or C++"}));
  EXPECT_TRUE(done(intarsia({"compile", "int.graph", "--name", "sum", "-o", "sum"})));
}

// Names come from files and converters; no line of C may depend on their being short.
TEST_F(EmittedC, NoWarningsWithLongNames) {
  const std::string name(120, 'n');
  std::string model = kSum;
  model.replace(model.find("clamp_sum"), 9, name);
  for (const char* tensor : {"left", "right", "total:", "total("})
    model.replace(model.find(tensor), 4, std::string(200, tensor[0]));
  write("long.graph", model);
  ASSERT_TRUE(done(intarsia({"compile", "long.graph", "-o", "long"})));
  for (const char* compiler : {"gcc", "clang"})
    if (have_program(compiler)) expect_no_warnings("long", compiler, {"-fsyntax-only"});
}

class EmittedCOfModel : public EmittedC, public testing::WithParamInterface<fs::path> {};

TEST_P(EmittedCOfModel, HasNoWarnings) {
  ASSERT_TRUE(done(intarsia({"compile", (GetParam() / "model.tflite").string(), "-o", "out"})));
  for (const char* compiler : {"gcc", "clang"})
    if (have_program(compiler)) expect_no_warnings("out", compiler, {"-fsyntax-only"});
}

INSTANTIATE_TEST_SUITE_P(Recorded, EmittedCOfModel, testing::ValuesIn(recorded_models()),
                         [](const auto& info) { return test_name(info.param); });

TEST_F(EmittedC, TheHeaderIsForCppToo) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "digits"})));
  write("main.cpp",
        std::string("#include \"digits.h\"\nint main() { return DIGITS_INPUT_COUNT - 1; }\n"));
  for (const char* standard : {"-std=c++11", "-std=c++20"})
    EXPECT_TRUE(done(program({"c++", standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                              "-fsyntax-only", "-Idigits", "main.cpp"})));
}

TEST_F(EmittedC, InACMakeProject) {
  compile_two_models();
  write("CMakeLists.txt",
        std::string("cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES C)\n"
                    "add_subdirectory(digits)\nadd_subdirectory(clamp_sum)\n"
                    "add_executable(firmware main.c)\n"
                    "target_link_libraries(firmware PRIVATE digits clamp_sum)\n"));
  const ProcessOutcome configured =
      program({INTARSIA_CMAKE, "-S", ".", "-B", "build", "-G", INTARSIA_GENERATOR});
  ASSERT_TRUE(configured.succeeded()) << configured.out << configured.err;
  const ProcessOutcome built = program({INTARSIA_CMAKE, "--build", "build"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  expect_right_outputs("build/firmware");
}

TEST_F(EmittedC, TwoModelsOfOneNameAreRefusedByCMakeAndMake) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "one"})));
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "two"})));
  write("CMakeLists.txt",
        std::string("cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES C)\n"
                    "add_subdirectory(one)\nadd_subdirectory(two)\n"));
  const ProcessOutcome configured =
      program({INTARSIA_CMAKE, "-S", ".", "-B", "build", "-G", INTARSIA_GENERATOR});
  EXPECT_FALSE(configured.succeeded());
  EXPECT_NE(configured.err.find("There is a target 'digits' already"), std::string::npos)
      << configured.err;
  if (!have_program("make")) GTEST_SKIP() << "no make";
  write("Makefile", std::string("include one/digits.mk\ninclude one/digits.mk\nall:\n\t@true\n"));
  EXPECT_TRUE(done(program({"make", "all"}))) << "one model twice is no harm";
  write("Makefile", std::string("include one/digits.mk\ninclude two/digits.mk\nall:\n\t@true\n"));
  const ProcessOutcome made = program({"make", "all"});
  EXPECT_FALSE(made.succeeded());
  EXPECT_NE(made.err.find("hold models of one name"), std::string::npos) << made.err;
}

// Names of CMake's own, and paths that shells and lists split.
TEST_F(EmittedC, FoldersWithSpacesAndQuotes) {
  write("test.tflite", digits_bytes());
  const std::string folder = "it's a \"folder\" of mine";
  ASSERT_TRUE(done(intarsia({"compile", "test.tflite", "-o", folder})));
  write_image("a b.bin", 1);
  ASSERT_TRUE(intarsia({"run", folder, "--input", "a b.bin", "--output-dir", "out 1"}).succeeded());
  EXPECT_EQ(read("out 1/out0.bin"), recorded_scores(1));
  write("main.c",
        std::string("#include \"test.h\"\nint main(void) { return TEST_INPUT_COUNT - 1; }\n"));
  write("CMakeLists.txt",
        fmt::format("cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES C)\n"
                    "enable_testing()\nadd_subdirectory([[{}]] model)\n"
                    "add_executable(firmware main.c)\n"
                    "target_link_libraries(firmware PRIVATE test_model)\n",
                    folder));
  const ProcessOutcome configured =
      program({INTARSIA_CMAKE, "-S", ".", "-B", "build", "-G", INTARSIA_GENERATOR});
  ASSERT_TRUE(configured.succeeded()) << configured.out << configured.err;
  const ProcessOutcome built = program({INTARSIA_CMAKE, "--build", "build"});
  EXPECT_TRUE(built.succeeded()) << built.out << built.err;
  if (!have_program("make")) GTEST_SKIP() << "no make";
  write("Makefile",
        std::string("include it's\\ a\\ \"folder\"\\ of\\ mine/test.mk\nall:\n\t@true\n"));
  const ProcessOutcome made = program({"make", "all"});
  EXPECT_FALSE(made.succeeded());
  EXPECT_NE(made.err.find("make reads no paths with spaces"), std::string::npos) << made.err;
}

TEST_F(EmittedC, InAMakefile) {
  if (!have_program("make")) GTEST_SKIP() << needs("make") << "it is not installed";
  compile_two_models();
  write("Makefile",
        std::string(
            "include digits/digits.mk\ninclude clamp_sum/clamp_sum.mk\n"
            "firmware:\n"
            "\t$(CC) -std=c11 $(DIGITS_INCLUDES) $(CLAMP_SUM_INCLUDES) main.c $(DIGITS_SOURCES) "
            "$(CLAMP_SUM_SOURCES) $(INTARSIA_RUNTIME_SOURCES) -o $@\n"));
  const ProcessOutcome built = program({"make", "firmware"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  expect_right_outputs("firmware");
}

// The runtime's sources are a part of each folder; a program takes them once.
TEST_F(EmittedC, OneModelInAMakefile) {
  if (!have_program("make")) GTEST_SKIP() << needs("make") << "it is not installed";
  write("clamp_sum.graph", std::string(kSum));
  ASSERT_TRUE(done(intarsia({"compile", "clamp_sum.graph", "-o", "sum"})));
  write("main.c",
        std::string(
            "#include \"clamp_sum.h\"\nint main(void) { return CLAMP_SUM_INPUT_COUNT - 2; }\n"));
  write("project/Makefile",
        std::string("include ../sum/clamp_sum.mk\nfirmware:\n"
                    "\t$(CC) -std=c11 $(CLAMP_SUM_INCLUDES) ../main.c $(CLAMP_SUM_SOURCES) "
                    "$(INTARSIA_RUNTIME_SOURCES) -o $@\n"));
  const ProcessOutcome built = program({"make", "firmware"}, "project");
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  EXPECT_TRUE(done(program({path("project/firmware")})));
}

}  // namespace
}  // namespace intarsia::test
