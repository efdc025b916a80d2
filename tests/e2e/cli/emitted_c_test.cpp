// The emitted C in other people's builds: both compilers, no warnings; its CMakeLists.txt and its .mk,
// with several models and several instances in one program.
#include <filesystem>

#include <fmt/format.h>

#include "cli.h"
#include "needs.h"
#include "shared_data.h"

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
                                          "-Wconversion", "-Werror",  "-I.",   "-Iruntime/include"};
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

TEST_F(EmittedC, NoWarningsInRealModels) {
  INTARSIA_NEEDS_SHARED("models");
  for (const char* model :
       {"ad01_int8", "hello_world_int8", "hello_world_float", "kws_ref_model",
        "micro_speech_quantized", "pretrainedResnet_quant", "simple_add_model", "vww_96_int8"}) {
    const fs::path file = shared_folder() / "models" / model / "model.tflite";
    if (!fs::exists(file)) continue;
    ASSERT_TRUE(done(intarsia({"compile", file.string(), "-o", model})));
    for (const char* compiler : {"gcc", "clang"})
      if (have_program(compiler)) expect_no_warnings(model, compiler, {"-fsyntax-only"});
  }
}

TEST_F(EmittedC, TheHeaderIsForCppToo) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "digits"})));
  write("main.cpp",
        std::string("#include \"digits.h\"\nint main() { return DIGITS_INPUT_COUNT - 1; }\n"));
  for (const char* standard : {"-std=c++11", "-std=c++20"})
    EXPECT_TRUE(
        done(program({"c++", standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                      "-Idigits", "-Idigits/runtime/include", "main.cpp"})));
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
