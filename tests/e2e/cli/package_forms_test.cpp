// What a package offers a firmware project: its header's facts, its forms (one file, a shared runtime), where its
// objects go, and what it refuses.
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli.h"
#include "intarsia/contract/version.h"
#include "needs.h"
#include "shared_data.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Another model: one addition, which calls other functions of the runtime.
constexpr const char* kSum = R"(intarsia.graph clamp_sum
func @main(%0, %1) -> (%2) {
  %0 left: i8[1,8] q(0.5:3)
  %1 right: u8[1,8] q(0.25:128)
  %2 total: i8[1,8] q(0.5:3)
  %3 turned: i8[1,8] q(0.25:0)
  quantize turned(%1) -> (%3)
  add total(%0, %3) -> (%2) {activation=relu}
}
entry @main
)";

// Reads an image, prints the scores.
constexpr const char* kMain = R"(#include <stdio.h>

#include "digits.h"

DIGITS_DEFINE_RESOURCES(memory);
static struct digits model;

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  size_t read;
  if (file == NULL || digits_init(&model, &memory) != INTARSIA_OK) return 1;
  read = fread(digits_input0(&model), DIGITS_INPUT0_BYTES, 1, file);
  (void)fclose(file);
  if (read != 1 || digits_run(&model) != INTARSIA_OK) return 2;
  for (int i = 0; i < DIGITS_OUTPUT0_CLASS_COUNT; ++i) printf("%d ", digits_output0(&model)[i]);
  printf("\n");
  return 0;
}
)";

std::string printed(const std::vector<uint8_t>& values) {
  std::string text;
  for (const uint8_t value : values) text += fmt::format("{} ", static_cast<int8_t>(value));
  return text + "\n";
}

class PackageForms : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write("main.c", std::string(kMain));
    write("clamp_sum.graph", std::string(kSum));
    write_image("image.bin", 1);
  }
  void expect_scores(const std::string& program_name) const {
    const ProcessOutcome outcome = program({path(program_name), "image.bin"});
    EXPECT_TRUE(done(outcome));
    EXPECT_EQ(outcome.out, printed(recorded_scores(1)));
  }
  ProcessOutcome compiled(std::vector<std::string> more) const {
    more.insert(more.begin(), {"compile", digits_path()});
    return intarsia(more);
  }
};

TEST_F(PackageForms, TheHeaderSaysWhereTheModelComesFrom) {
  ASSERT_TRUE(done(compiled({"--board", "mps2-an386", "-o", "digits"})));
  const std::string header = *read_text_file(path("digits/digits.h"));
  const ProcessOutcome sum = program({"sha256sum", digits_path()});
  ASSERT_TRUE(done(sum));
  EXPECT_THAT(header, HasSubstr("#define DIGITS_MODEL_SHA256 \"" + sum.out.substr(0, 64) + "\"\n"));
  EXPECT_THAT(header, HasSubstr("#define DIGITS_TARGET \"c -mcpu=cortex-m4\"\n"));
  EXPECT_THAT(header, HasSubstr("#define DIGITS_BOARD \"mps2-an386\"\n"));
  const std::string version = intarsia({"--version"}).out;  // "intarsia 1.2.3\n"
  EXPECT_THAT(header, HasSubstr(fmt::format("#define DIGITS_COMPILER \"Intarsia {}\"\n",
                                            version.substr(9, version.size() - 10))));
}

// In C11 and in C++11 on, without a warning; and with the rounding of the reference.
TEST_F(PackageForms, InputsAndOutputsHaveMacrosAndTypedFunctions) {
  ASSERT_TRUE(done(intarsia({"compile", "clamp_sum.graph", "-o", "sum"})));
  const std::string check = R"(#include "clamp_sum.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
CLAMP_SUM_DEFINE_RESOURCES(memory);
static struct clamp_sum model;
static const int32_t dims[CLAMP_SUM_INPUT1_RANK] = CLAMP_SUM_INPUT1_DIMS;
int main(void) {
  int wrong = 0, i;
  if (clamp_sum_init(&model, &memory) != INTARSIA_OK) return 1;
  if (strcmp(CLAMP_SUM_INPUT0_NAME, "left") != 0 || strcmp(CLAMP_SUM_OUTPUT0_NAME, "total") != 0) return 2;
  if (dims[0] != 1 || dims[1] != CLAMP_SUM_INPUT1_DIM1 || CLAMP_SUM_INPUT1_ELEMENTS != 8) return 3;
  if (sizeof(CLAMP_SUM_INPUT1_TYPE) != 1 || CLAMP_SUM_INPUT0_ZERO_POINT != 3) return 4;
  for (i = -40000; i <= 40000; ++i) {
    const float real = (float)i / 256.0f;
    const double left = round((double)(real / CLAMP_SUM_INPUT0_SCALE)) + CLAMP_SUM_INPUT0_ZERO_POINT;
    const double right = round((double)(real / CLAMP_SUM_INPUT1_SCALE)) + CLAMP_SUM_INPUT1_ZERO_POINT;
    wrong += clamp_sum_input0_quantize(real) != (left < -128 ? -128 : left > 127 ? 127 : left);
    wrong += clamp_sum_input1_quantize(real) != (right < 0 ? 0 : right > 255 ? 255 : right);
  }
  if (clamp_sum_input0_quantize(NAN) != -128 || clamp_sum_input0_quantize(INFINITY) != 127) return 5;
  for (i = 0; i < 8; ++i) {
    clamp_sum_input0(&model)[i] = clamp_sum_input0_quantize(1.5f);
    clamp_sum_input1(&model)[i] = clamp_sum_input1_quantize((float)i);
  }
  if (clamp_sum_run(&model) != INTARSIA_OK) return 6;
  for (i = 0; i < 8; ++i)
    wrong += fabsf(clamp_sum_output0_dequantize(clamp_sum_output0(&model)[i]) - (1.5f + (float)i)) > 0.001f;
  printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 7;
}
)";
  write("check.c", check);
  write("check.cpp", check);
  ASSERT_TRUE(done(program({"cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Isum",
                            "check.c", "sum/clamp_sum.c", "sum/intarsia/contract/runtime_version.c",
                            "-lm", "-o", "check"})));
  EXPECT_TRUE(done(program({path("check")})));
  for (const char* standard : {"-std=c++11", "-std=c++17"})
    for (const char* compiler : {"g++", "clang++"})
      if (have_program(compiler)) {
        EXPECT_TRUE(done(program({compiler, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                  "-fsyntax-only", "-Isum", "check.cpp"})))
            << compiler << standard;
      }
}

// Every function that a source of the package defines for others is called from a function of the model or of
// another one of these sources: a file without such a function would not be in it.
TEST_F(PackageForms, HaveTheFilesThatAreCalledAndNoOthers) {
  for (const char* board : {"microbit", "mps2-an386", "mps3-an547"}) {
    ASSERT_TRUE(done(compiled({"--board", board, "-o", "digits"})));
    const std::string make =
        "include digits/digits.mk\n"
        "%.o:\n\t$(PREFIX)gcc $(DIGITS_CFLAGS) -Os $(DIGITS_INCLUDES) -c $(filter "
        "%/$*.c,$(DIGITS_SOURCES) "
        "$(INTARSIA_RUNTIME_SOURCES)) -o $@\n"
        "all: $(addsuffix .o,$(basename $(notdir $(DIGITS_SOURCES) $(INTARSIA_RUNTIME_SOURCES))))\n"
        "\t$(PREFIX)gcc $(DIGITS_CFLAGS) -nostdlib -r -Wl,--gc-sections -Wl,-e,digits_run "
        "-Wl,-u,digits_init "
        "-Wl,-Map,map.txt $^ -o all.o\n";
    if (!have_program("make") || !have_program("arm-none-eabi-gcc"))
      GTEST_SKIP() << needs("cross-toolchain") << "firmware is linked";
    write("Makefile", make);
    const ProcessOutcome made = program({"make", "-s", "all", "PREFIX=arm-none-eabi-"});
    ASSERT_TRUE(made.succeeded()) << made.out << made.err;
    // What the linker has left of each object.
    const ProcessOutcome symbols =
        program({"arm-none-eabi-nm", "--defined-only", "--extern-only", "all.o"});
    ASSERT_TRUE(symbols.succeeded()) << symbols.err;
    for (const auto& [name, text] : read_folder("digits/intarsia")) {
      if (!name.ends_with(".c")) continue;
      const ProcessOutcome own = program({"arm-none-eabi-nm", "--defined-only", "--extern-only",
                                          fs::path(name).stem().string() + ".o"});
      bool called = false;
      std::istringstream lines(own.out);
      for (std::string line; std::getline(lines, line);)
        called = called || symbols.out.find(" T " + line.substr(line.rfind(' ') + 1) + "\n") !=
                               std::string::npos;
      EXPECT_TRUE(called) << board << ": nothing calls " << name;
    }
    fs::remove_all(path("digits"));
    for (const auto& [name, text] : read_folder("."))
      if (name.ends_with(".o")) fs::remove(path(name));
  }
}

TEST_F(PackageForms, ASingleFileIsTheWholeModel) {
  ASSERT_TRUE(done(compiled({"--single-file", "-o", "one"})));
  write_image("zero.bin", 0);
  ASSERT_TRUE(done(intarsia({"run", "one", "--input", "zero.bin", "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(0));
  std::set<std::string> code;
  for (const auto& [name, text] : read_folder("one"))
    if (name.ends_with(".c") || name.ends_with(".h")) code.insert(name);
  EXPECT_EQ(code, (std::set<std::string>{"digits.c", "digits.h"}));
  for (const char* compiler : {"gcc", "clang"}) {
    if (!have_program(compiler)) continue;
    ASSERT_TRUE(
        done(program({compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror",
                      "-Ione", "main.c", "one/digits.c", "-lm", "-o", "single"})));
    expect_scores("single");
  }
}

// Both hold the same functions of the runtime, under names of their own.
TEST_F(PackageForms, TwoSingleFilesLiveInOneProgram) {
  ASSERT_TRUE(done(compiled({"--single-file", "-o", "one"})));
  ASSERT_TRUE(done(compiled({"--single-file", "--name", "other", "-o", "two"})));
  write("both.c", std::string(kMain) + R"(
#include "other.h"
OTHER_DEFINE_RESOURCES(memory_of_other);
int other_begins(struct other *o);
int other_begins(struct other *o) { return other_init(o, &memory_of_other); }
)");
  ASSERT_TRUE(
      done(program({"cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Ione", "-Itwo",
                    "both.c", "one/digits.c", "two/other.c", "-lm", "-o", "both"})));
  expect_scores("both");
}

TEST_F(PackageForms, ASingleFileIsForEveryCore) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "firmware is compiled";
  for (const char* board :
       {"microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"}) {
    ASSERT_TRUE(done(compiled({"--board", board, "--single-file", "-o", "one"})));
    write("Makefile",
          std::string(
              "include one/digits.mk\nall:\n\tarm-none-eabi-gcc $(DIGITS_CFLAGS) -Os -Wall -Wextra "
              "-Wconversion -Werror -c $(DIGITS_SOURCES) -o digits.o\n"));
    EXPECT_TRUE(done(program({"make", "-s", "all"}))) << board;
  }
}

// Of a network of twelve layers, beside its weights. Kernel functions with a core's instructions are hand-written and have
// portable C beside each instruction, so they are most of such a package.
TEST_F(PackageForms, HoldsFewFilesAndLittleText) {
  const fs::path kws = shared_folder() / "models/kws_ref_model/model.tflite";
  if (!fs::exists(kws)) GTEST_SKIP() << needs("shared-data") << kws.string();
  struct Most {
    const char* target;
    size_t files, bytes;
  };
  for (const Most& most : {Most{"c -mcpu=cortex-m4", 29, 212'000},
                           Most{"c -mcpu=cortex-m4 -kernels=portable", 20, 60'000}}) {
    ASSERT_TRUE(intarsia({"compile", kws.string(), "--name", "kws", "--target", most.target,
                          "--board", "mps2-an386", "-o", "kws"})
                    .succeeded());
    size_t files = 0, bytes = 0;
    for (const auto& [name, text] : read_folder("kws"))
      if ((name.ends_with(".c") || name.ends_with(".h") || name.ends_with(".def")) &&
          name != "kws_data.h") {
        ++files;
        bytes += text.size();
      }
    EXPECT_LE(files, most.files) << most.target;
    EXPECT_LE(bytes, most.bytes) << most.target;
  }
}

// With the flags of the .mk nothing is said; with those of a smaller core, or without optimisation, the compiler warns, once.
TEST_F(PackageForms, TheCompilerSaysThatFlagsDoNotFit) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "firmware is compiled";
  struct Wrong {
    const char *board, *flags, *said;
  };
  for (const Wrong& wrong :
       {Wrong{"mps3-an547", "-mcpu=cortex-m4 -mfloat-abi=soft", "a core with Helium (MVE)"},
        Wrong{"mps2-an386", "-mcpu=cortex-m3 -mfloat-abi=soft", "a core with the DSP extension"},
        Wrong{"mps2-an385", "-mcpu=cortex-m0", "a core with long multiplication (Armv7-M)"},
        Wrong{"microbit", "-O0", "compiled without optimisation (-O0)"}})
    for (const bool single : {false, true}) {
      fs::remove_all(path("digits"));
      std::vector<std::string> words = {"--board", wrong.board, "-o", "digits"};
      if (single) words.push_back("--single-file");
      ASSERT_TRUE(done(compiled(words)));
      write("Makefile",
            std::string("include digits/digits.mk\nall:\n\tfor f in $(DIGITS_SOURCES) "
                        "$(INTARSIA_RUNTIME_SOURCES); do arm-none-eabi-gcc "
                        "$(DIGITS_CFLAGS) -Os $(WRONG) $(DIGITS_INCLUDES) -c $$f -o o; done\n"));
      EXPECT_EQ(program({"make", "-s", "all"}).err, "") << wrong.board;
      const std::string said =
          program({"make", "-s", "all", std::string("WRONG=") + wrong.flags}).err;
      EXPECT_THAT(said, HasSubstr(wrong.said)) << wrong.board << (single ? " --single-file" : "");
      EXPECT_THAT(said, HasSubstr("kernels fall back to portable C"));
      EXPECT_EQ(said.find("warning: #warning"), said.rfind("warning: #warning")) << said;
    }
}

TEST_F(PackageForms, DriversSayWhichCppTheyNeed) {
  ASSERT_TRUE(done(compiled({"--target", "ethos-u55-128", "-o", "npu"})));
  const ProcessOutcome outcome =
      program({"c++", "-std=c++17", "-Inpu", "-c", "npu/intarsia/core/package.cpp", "-o", "o"});
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_THAT(outcome.err, HasSubstr("C++20"));
  EXPECT_TRUE(
      program({"c++", "-std=c++20", "-Inpu", "-c", "npu/intarsia/core/package.cpp", "-o", "o"})
          .succeeded());
}

TEST_F(PackageForms, ASingleFileHoldsNoDrivers) {
  const ProcessOutcome outcome =
      compiled({"--target", "ethos-u55-128", "--single-file", "-o", "one"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("--single-file: digits needs more than one C file: its devices have drivers in "
                "C++; leave --single-file out"));
  EXPECT_FALSE(exists("one"));
}

TEST_F(PackageForms, ModelsShareARuntime) {
  ASSERT_TRUE(done(intarsia({"compile", "clamp_sum.graph", "--runtime", "rt", "-o", "sum"})));
  const size_t before = read_folder("rt").size();
  ASSERT_TRUE(done(compiled({"--runtime", "rt", "-o", "digits"})));
  EXPECT_GT(read_folder("rt").size(), before) << "what the second model calls has come to it";
  EXPECT_FALSE(exists("digits/intarsia") || exists("sum/intarsia"));
  ASSERT_TRUE(done(intarsia({"compile", "clamp_sum.graph", "--runtime", "rt", "-o", "sum"})));
  EXPECT_GT(read_folder("rt").size(), before) << "what the second model calls has stayed";
  write("CMakeLists.txt",
        std::string("cmake_minimum_required(VERSION 3.13)\nproject(firmware LANGUAGES C)\n"
                    "add_subdirectory(rt)\nadd_subdirectory(digits)\nadd_subdirectory(sum)\n"
                    "add_executable(firmware main.c)\n"
                    "target_link_libraries(firmware PRIVATE digits clamp_sum m)\n"));
  const ProcessOutcome configured =
      program({INTARSIA_CMAKE, "-S", ".", "-B", "build", "-G", INTARSIA_GENERATOR});
  ASSERT_TRUE(configured.succeeded()) << configured.out << configured.err;
  const ProcessOutcome built = program({INTARSIA_CMAKE, "--build", "build"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  expect_scores("build/firmware");
  if (!have_program("make")) GTEST_SKIP() << needs("make") << "it is not installed";
  write(
      "Makefile",
      std::string(
          "include rt/intarsia_runtime.mk\ninclude digits/digits.mk\ninclude sum/clamp_sum.mk\n"
          "made:\n\t$(CC) $(DIGITS_CFLAGS) $(INTARSIA_RUNTIME_INCLUDES) $(DIGITS_INCLUDES) main.c "
          "$(DIGITS_SOURCES) $(CLAMP_SUM_SOURCES) $(CLAMP_SUM_INCLUDES) "
          "$(INTARSIA_RUNTIME_SOURCES) -lm -o $@\n"));
  const ProcessOutcome made = program({"make", "-s", "made"});
  ASSERT_TRUE(made.succeeded()) << made.out << made.err;
  expect_scores("made");
}

TEST_F(PackageForms, ASharedRuntimeIsNotMixedUp) {
  ASSERT_TRUE(done(compiled({"--runtime", "rt", "-o", "digits"})));
  EXPECT_THAT(intarsia({"run", "digits", "--input", "image.bin", "--output-dir", "out"}).err,
              HasSubstr("digits: is a package whose runtime is in another folder; name the model, "
                        "or compile it without "
                        "--runtime"));
  const ProcessOutcome other = compiled({"--name", "other", "--runtime", "digits", "-o", "other"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("digits: holds the package of 'digits', not a runtime"));
  EXPECT_FALSE(exists("other"));
}

// Two versions in one program: said by the compiler of the program's own source, too.
TEST_F(PackageForms, OfAnotherVersionOfTheRuntimeDoNotCompile) {
  ASSERT_TRUE(done(compiled({"-o", "digits"})));
  ASSERT_TRUE(done(compiled({"--name", "old", "-o", "old"})));
  const auto change = [&](const std::string& file, const std::string& from, const std::string& to) {
    std::string text = *read_text_file(path(file));
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write(file, text.replace(at, from.size(), to));
  };
  const std::string version = std::to_string(INTARSIA_RUNTIME_VERSION);
  change("old/intarsia/contract/version.h", "INTARSIA_RUNTIME_VERSION " + version,
         "INTARSIA_RUNTIME_VERSION 1");
  change("old/old.h", "INTARSIA_RUNTIME_VERSION != " + version, "INTARSIA_RUNTIME_VERSION != 1");
  for (const char* order : {"#include \"digits.h\"\n#include \"old.h\"\n",
                            "#include \"old.h\"\n#include \"digits.h\"\n"}) {
    write("both.c", std::string(order));
    const ProcessOutcome outcome =
        program({"cc", "-std=c11", "-fsyntax-only", "-Iold", "-Idigits", "both.c"});
    EXPECT_FALSE(outcome.succeeded());
    EXPECT_THAT(outcome.err,
                HasSubstr("compile all models of a program with one version of Intarsia"));
  }
  // A runtime that was compiled before, and linked: init says so.
  write("version.c", std::string("#include <stdint.h>\nint32_t intarsia_runtime_version(void);\n"
                                 "int32_t intarsia_runtime_version(void) { return 1; }\n"));
  write("Makefile",
        std::string(
            "include digits/digits.mk\nall:\n\t$(CC) $(DIGITS_CFLAGS) $(DIGITS_INCLUDES) first.c "
            "$(DIGITS_SOURCES) version.c $(filter-out "
            "%/runtime_version.c,$(INTARSIA_RUNTIME_SOURCES)) "
            "-lm -o first\n"));
  write("first.c",
        std::string("#include \"digits.h\"\nDIGITS_DEFINE_RESOURCES(memory);\nint main(void) {\n"
                    "  struct digits model;\n  return digits_init(&model, &memory);\n}\n"));
  if (!have_program("make")) GTEST_SKIP() << needs("make") << "it is not installed";
  ASSERT_TRUE(done(program({"make", "-s", "all"})));
  EXPECT_EQ(program({path("first")}).exit_code, 7) << "INTARSIA_ERROR_RUNTIME_VERSION";
  EXPECT_THAT(intarsia({"explain-error", "7"}).out, HasSubstr("another version"));
}

std::string section_of(const std::string& symbols, const std::string& name) {
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);)
    if (line.ends_with(" " + name)) {
      std::istringstream words(line);
      for (std::string word; words >> word;)
        if (word.starts_with('.')) return word;
    }
  return "nowhere";
}

TEST_F(PackageForms, ObjectsGoWhereTheyAreSent) {
  ASSERT_TRUE(done(compiled({"--section", "weights=.qspi", "--section", "ram=.dtcm", "--section",
                             "classifier_weights=.itcm", "-o", "digits"})));
  ASSERT_TRUE(done(program(
      {"cc", "-std=c11", "-Wall", "-Werror", "-Idigits", "-c", "main.c", "digits/digits.c"})));
  const ProcessOutcome symbols = program({"objdump", "-t", "main.o", "digits.o"});
  ASSERT_TRUE(done(symbols));
  EXPECT_EQ(section_of(symbols.out, "memory_ram"), ".dtcm");
  EXPECT_EQ(section_of(symbols.out, "digits_classifier_weights"), ".itcm");
  EXPECT_EQ(section_of(symbols.out, "digits_stem_weights"), ".qspi");
  // For all models of a program, on the compiler's command line.
  ASSERT_TRUE(done(compiled({"-o", "digits"})));
  ASSERT_TRUE(done(program({"cc", "-std=c11", "-Idigits",
                            "-DINTARSIA_WEIGHTS=__attribute__((section(\".flash2\")))", "-c",
                            "digits/digits.c"})));
  EXPECT_EQ(section_of(program({"objdump", "-t", "digits.o"}).out, "digits_classifier_weights"),
            ".flash2");
}

TEST_F(PackageForms, SectionsAreOfWhatIsThere) {
  const ProcessOutcome outcome =
      compiled({"--section", "wieghts=.qspi", "--section", "weights=a b", "-o", "digits"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("--section wieghts=.qspi: the model has no constant and no memory called "
                        "'wieghts'; did you mean 'weights'?"));
  EXPECT_THAT(outcome.err, HasSubstr("--section weights=a b: is no name of a section"));
  EXPECT_FALSE(exists("digits"));
  EXPECT_THAT(compiled({"--section", "weights", "-o", "digits"}).err,
              HasSubstr("'weights' is not WHAT=SECTION"));
}

}  // namespace
}  // namespace intarsia::test
