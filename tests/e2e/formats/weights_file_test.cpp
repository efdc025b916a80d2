// compile --weights-file: constants as a binary file that the assembler takes in, in every form of a package.
#include <filesystem>

#include <fmt/format.h>

#include "cross_build.h"
#include "large_models.h"

namespace intarsia::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two models in one program, in C and in C++; prints the scores of both.
constexpr const char* kMain = R"(#include <stdio.h>
#include "digits.h"
#include "other.h"
DIGITS_DEFINE_RESOURCES(memory);
OTHER_DEFINE_RESOURCES(other_memory);
static struct digits model;
static struct other second;
int main(int argc, char **argv) {
  FILE *file = fopen(argv[argc - 1], "rb");
  if (file == NULL || digits_init(&model, &memory) != INTARSIA_OK) return 1;
  if (other_init(&second, &other_memory) != INTARSIA_OK) return 2;
  if (fread(digits_input0(&model), DIGITS_INPUT0_BYTES, 1, file) != 1) return 3;
  (void)fclose(file);
  for (int i = 0; i < DIGITS_INPUT0_BYTES; ++i) other_input0(&second)[i] = digits_input0(&model)[i];
  if (digits_run(&model) != INTARSIA_OK || other_run(&second) != INTARSIA_OK) return 4;
  for (int i = 0; i < 10; ++i) printf("%d ", digits_output0(&model)[i]);
  for (int i = 0; i < 10; ++i) printf("%d ", other_output0(&second)[i]);
  return 0;
}
)";

class WeightsFiles : public CrossBuild {
 protected:
  void SetUp() override {
    CrossBuild::SetUp();
    write_image("image.bin", 1);
  }
  ProcessOutcome compiled(std::vector<std::string> more) const {
    more.insert(more.begin(), {"compile", digits_path()});
    return intarsia(more);
  }
  std::string text_of(const std::string& name) const { return *read_text_file(path(name)); }
  static std::string scores_twice() {
    std::string text;
    for (int i = 0; i < 2; ++i)
      for (const uint8_t score : recorded_scores(1))
        text += fmt::format("{} ", static_cast<int8_t>(score));
    return text;
  }
};

// The bytes of the arrays, one behind the other, and no array left for the C compiler.
TEST_F(WeightsFiles, HoldWhatTheArraysDid) {
  ASSERT_TRUE(done(compiled({"-o", "arrays"})));
  ASSERT_TRUE(done(compiled({"--weights-file", "always", "-o", "file"})));
  EXPECT_FALSE(exists("arrays/digits_weights.bin")) << "auto: they are few";
  EXPECT_FALSE(exists("arrays/intarsia/contract/incbin.h"));
  EXPECT_THAT(text_of("file/digits_data.h"), Not(HasSubstr("{")));
  EXPECT_EQ(text_of("arrays/digits.c"), text_of("file/digits.c"));
  EXPECT_EQ(text_of("arrays/digits.h"), text_of("file/digits.h"));
  const ProcessOutcome sum = program({"sha256sum", path("file/digits_weights.bin")});
  EXPECT_THAT(text_of("file/digits_weights.S"), HasSubstr("SHA-256 " + sum.out.substr(0, 64)));

  // Both as sections of objects: each symbol has the bytes and the size that the array has.
  write(
      "all.c", std::string("#include \"digits_data.h\"\nconst void *all[] = {\n") + [&] {
        std::string names;
        for (const std::string& symbol :
             listed(text_of("file/digits_weights.S"), "intarsia_weights ", ","))
          names += symbol + ",\n";
        return names;
      }() + "};\n");
  ASSERT_TRUE(
      done(program({"cc", "-fdata-sections", "-Iarrays", "-c", "all.c", "-o", "arrays.o"})));
  ASSERT_TRUE(done(program({"cc", "-Wall", "-Wextra", "-Werror", "-Ifile", "-c",
                            "file/digits_weights.S", "-o", "file.o"})));
  int compared = 0;
  for (const std::string& symbol :
       listed(text_of("file/digits_weights.S"), "intarsia_weights ", ",")) {
    for (const char* object : {"arrays.o", "file.o"})
      ASSERT_TRUE(done(program({"objcopy", "-O", "binary", "-j", ".rodata." + symbol, object,
                                std::string(object) + ".bin"})));
    EXPECT_EQ(read("arrays.o.bin"), read("file.o.bin")) << symbol;
    EXPECT_FALSE(read("file.o.bin").empty()) << symbol;
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

TEST_F(WeightsFiles, OfTwoModelsLiveInOneProgramOfCOrCpp) {
  write("main.c", std::string(kMain));
  write("main.cpp", std::string(kMain));
  ASSERT_TRUE(done(compiled({"--weights-file", "always", "-o", "digits"})));
  ASSERT_TRUE(done(compiled({"--weights-file", "always", "--name", "other", "-o", "other"})));
  for (const char* compiler : {"gcc", "clang"}) {
    if (!have_program(compiler)) continue;
    // From another folder: files are found by the include folders.
    std::filesystem::create_directories(path("build"));
    std::vector<std::string> command = {compiler,      "-Wall",      "-Wextra", "-Werror",
                                        "-I../digits", "-I../other", "-c"};
    for (const auto& [name, text] : read_folder("digits"))
      if (name.ends_with(".c") || name.ends_with(".S")) command.push_back("../digits/" + name);
    for (const char* name : {"other.c", "other_weights.S"})
      command.push_back(std::string("../other/") + name);
    ASSERT_TRUE(done(program(command, "build"))) << compiler;
    for (const char* source : {"main.c", "main.cpp"}) {
      const std::string driver = std::string(source) == "main.c" ? "cc" : "c++";
      ASSERT_TRUE(done(program({"sh", "-c",
                                driver + " -Idigits -Iother " + source +
                                    " build/*.o -lm -Wl,--fatal-warnings -o both"})));
      const ProcessOutcome ran = program({path("both"), "image.bin"});
      EXPECT_TRUE(done(ran));
      EXPECT_EQ(ran.out, scores_twice()) << compiler << " " << source;
    }
  }
}

TEST_F(WeightsFiles, GoToTheSectionsThatAreAskedFor) {
  ASSERT_TRUE(done(compiled({"--weights-file", "always", "--section", "weights=.qspi", "--section",
                             "classifier_weights=.itcm", "-o", "digits"})));
  const auto sections = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command = {"cc", "-Idigits", "-c", "digits/digits_weights.S"};
    command.insert(command.end(), options.begin(), options.end());
    EXPECT_TRUE(done(program(command)));
    return program({"objdump", "-t", "digits_weights.o"}).out;
  };
  std::string symbols = sections({});
  EXPECT_THAT(symbols, HasSubstr(".hidden digits_classifier_weights"));
  EXPECT_THAT(symbols,
              testing::ContainsRegex(" \\.itcm\t[0-9a-f]+ \\.hidden digits_classifier_weights"));
  EXPECT_THAT(symbols, testing::ContainsRegex(" \\.qspi\t[0-9a-f]+ \\.hidden digits_stem_weights"));
  ASSERT_TRUE(done(compiled({"--weights-file", "always", "-o", "digits"})));
  symbols = sections({"-DINTARSIA_WEIGHTS_SECTION=.flash2"});
  EXPECT_THAT(symbols,
              testing::ContainsRegex(" \\.flash2\t[0-9a-f]+ \\.hidden digits_stem_weights"));
  // An attribute of C says nothing to the assembler, and is not passed over in silence.
  const ProcessOutcome attribute =
      program({"cc", "-Idigits", "-DINTARSIA_WEIGHTS=__attribute__((section(\".flash2\")))", "-c",
               "digits/digits_weights.S"});
  EXPECT_FALSE(attribute.succeeded());
  EXPECT_THAT(attribute.err, HasSubstr("INTARSIA_WEIGHTS_SECTION"));
}

// As every format builds it where `run` does; those that cannot have such sources say so.
TEST_F(WeightsFiles, AreOfEveryFormatThatTakesAssemblerSources) {
  for (const std::string format :
       {"plain", "cmake", "zephyr", "pico", "esp-idf", "arduino", "platformio", "rust"}) {
    ASSERT_TRUE(
        compiled({"--weights-file", "always", "--format", format, "-o", format}).succeeded())
        << format;
    const auto files = read_folder(format);
    const bool has_bin = std::any_of(files.begin(), files.end(), [](const auto& file) {
      return file.first.ends_with("digits_weights.bin");
    });
    EXPECT_TRUE(has_bin) << format;
    ASSERT_TRUE(done(intarsia({"run", format, "--input", "image.bin", "--output-dir", "out"})));
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(1)) << format;
  }
  for (const std::string format : {"cmsis-pack", "clayer"})
    EXPECT_TRUE(refused(compiled({"--weights-file", "always", "--format", format, "-o", format}),
                        {"--format " + format, "--weights-file always"}));
  EXPECT_TRUE(refused(compiled({"--weights-file", "always", "--single-file", "-o", "single"}),
                      {"--single-file", "--weights-file always"}));
  EXPECT_TRUE(usage_error(compiled({"--weights-file", "sometimes", "-o", "x"}), "sometimes"));
}

// Above the size that auto takes: a file, but arrays where the form has no place for one.
TEST_F(WeightsFiles, AreForManyBytesUnlessTheFormHasNone) {
  write("net.tflite", build(weights_of(3 << 20, kInt8, kInt8)));
  const auto net = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"compile", "net.tflite"});
    ASSERT_TRUE(intarsia(more).succeeded());
  };
  net({"-o", "plain"});
  EXPECT_TRUE(exists("plain/net_weights.bin"));
  net({"--runtime", "runtime", "-o", "apart"});
  EXPECT_TRUE(exists("apart/net_weights.S"));
  EXPECT_TRUE(exists("runtime/intarsia/contract/incbin.h"));
  net({"--weights-file", "never", "-o", "arrays"});
  net({"--single-file", "-o", "single"});
  net({"--format", "clayer", "-o", "layer"});
  net({"--format", "cmsis-pack", "-o", "pack"});
  for (const char* folder : {"arrays", "single", "layer", "pack"})
    for (const auto& [name, text] : read_folder(folder)) {
      EXPECT_FALSE(name.ends_with(".S") || name.ends_with(".bin")) << folder << "/" << name;
      EXPECT_THAT(text, Not(HasSubstr("net_weights.S"))) << folder << "/" << name;
    }
  EXPECT_EQ(text_of("layer/net_data.h"), text_of("arrays/net_data.h"));
  EXPECT_EQ(text_of("pack/net_data.h"), text_of("arrays/net_data.h"));
}

// A project in C alone takes the folder in.
TEST_F(WeightsFiles, AreAssembledByCMake) {
  write("main.c", std::string(kMain));
  ASSERT_TRUE(done(compiled({"--weights-file", "always", "-o", "digits"})));
  ASSERT_TRUE(
      compiled({"--weights-file", "always", "--format", "cmake", "--name", "other", "-o", "other"})
          .succeeded());
  write(
      "CMakeLists.txt",
      std::string("cmake_minimum_required(VERSION 3.13)\nproject(app LANGUAGES C)\n"
                  "add_subdirectory(digits)\nadd_subdirectory(other)\nadd_executable(app main.c)\n"
                  "target_link_libraries(app PRIVATE digits intarsia::other m)\n"));
  ProcessOutcome built =
      program({INTARSIA_CMAKE, "-G", INTARSIA_GENERATOR, "-S", ".", "-B", "build"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  built = program({INTARSIA_CMAKE, "--build", "build"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  EXPECT_EQ(program({path("build/app"), "image.bin"}).out, scores_twice());
}

// Exact on the emulated cores, and measured alike: what a symbol's size is for.
TEST_F(WeightsFiles, AreVerifiedOnBoards) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  for (const char* board : {"mps2-an386", "mps3-an547"}) {
    const ProcessOutcome verified =
        intarsia({"verify", digits_path(), "--board", board, "--weights-file", "always"});
    EXPECT_TRUE(verified.succeeded()) << board << verified.out << verified.err;
    std::map<std::string, nlohmann::json> flash;
    for (const char* when : {"always", "never"}) {
      ASSERT_TRUE(done(compiled({"--board", board, "--weights-file", when, "-o", when})));
      flash[when] = nlohmann::json::parse(text_of(std::string(when) + "/report.json")).at("flash");
    }
    EXPECT_NEAR(flash["always"].at("constant_bytes_linked").get<double>(),
                flash["never"].at("constant_bytes_linked").get<double>(), 64)
        << "less what lies between objects";
  }
}

// More than the memory of the code has, and no more than the first one of the constants.
TEST_F(WeightsFiles, AreInTheBoardsMemoryForConstants) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  write("net.tflite", build(weights_of(1 << 20, kInt8, kInt8)));
  const ProcessOutcome verified = intarsia({"verify", "net.tflite", "--board", "mps3-an547"});
  EXPECT_TRUE(verified.succeeded()) << verified.out << verified.err;
}

// Streams of an NPU are the file that is beside the package in any case.
TEST_F(WeightsFiles, HoldStreamsToo) {
  ASSERT_TRUE(
      compiled({"--target", "ethos-u55-128", "--weights-file", "always", "-o", "npu"}).succeeded());
  EXPECT_TRUE(exists("npu/digits_package.S"));
  EXPECT_FALSE(exists("npu/digits_package.c"));
  ASSERT_TRUE(intarsia({"run", "npu", "--input", "image.bin", "--output-dir", "out"}).succeeded());
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(1));
  const ProcessOutcome layer =
      compiled({"--target", "ethos-u55-128", "--board", "mps3-an547", "--format", "zephyr",
                "--weights-file", "always", "-o", "zephyr"});
  EXPECT_TRUE(layer.succeeded()) << layer.err;
  EXPECT_TRUE(exists("zephyr/src/digits.intarsia")) << "where the assembler looks";
  EXPECT_TRUE(refused(compiled({"--target", "ethos-u55-128", "--board", "mps3-an547", "--format",
                                "clayer", "--weights-file", "always", "-o", "layer"}),
                      {"--format clayer"}));
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  const ProcessOutcome verified = intarsia({"verify", digits_path(), "--target", "ethos-u55-128",
                                            "--board", "mps3-an547", "--weights-file", "always"});
  EXPECT_TRUE(verified.succeeded()) << verified.out << verified.err;
}

// Each part of a model for several CPUs has its own.
TEST_F(WeightsFiles, AreOfEachPartOfAModelForSeveralCpus) {
  const ProcessOutcome outcome = compiled({"--target", "first: c; second: c", "--pin", "stem=first",
                                           "--weights-file", "always", "-o", "parts"});
  ASSERT_TRUE(outcome.succeeded()) << outcome.err;
  ASSERT_TRUE(
      intarsia({"run", "parts", "--input", "image.bin", "--output-dir", "out"}).succeeded());
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(1));
  int files = 0;
  for (const auto& [name, text] : read_folder("parts"))
    files += name.ends_with("_weights.S") ? 1 : 0;
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace intarsia::test
