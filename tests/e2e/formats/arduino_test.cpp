// Libraries for Arduino and PlatformIO: what their specifications ask of the folder, and the sketch compiled as C++.
#include <regex>
#include <set>
#include <sstream>

#include "cross_build.h"

namespace intarsia::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// As far as the sketch needs it.
constexpr const char* kArduino = R"(#pragma once
extern "C" int console_printf(const char *format, ...);
struct SerialPort {
  void begin(unsigned long) {}
  explicit operator bool() const { return true; }
  void print(const char *text) { console_printf("%s", text); }
};
static SerialPort Serial;
void setup();
void loop();
)";
constexpr const char* kSketchMain = "int main() {\n  setup();\n  loop();\n  return 0;\n}\n";

class Arduino : public CrossBuild {
 protected:
  void SetUp() override {
    CrossBuild::SetUp();
    write("shim/Arduino.h", std::string(kArduino));
  }
  // Every C file below src/, with that as the one include folder.
  void compile_library(const std::string& folder, const std::vector<std::string>& options) {
    std::vector<std::string> with_folder = options;
    with_folder.push_back("-I" + folder + "/src");
    int sources = 0;
    for (const auto& [name, text] : read_folder(folder + "/src")) {
      if (!name.ends_with(".c") && !name.ends_with(".S")) continue;
      compile(folder + "/src/" + name, with_folder);
      ++sources;
    }
    EXPECT_GT(sources, 4);
  }
  static std::vector<std::string> with(std::vector<std::string> a, std::vector<std::string> b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

std::map<std::string, std::string> properties_of(const std::string& text) {
  std::map<std::string, std::string> properties;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    EXPECT_NE(equals, std::string::npos) << line;
    EXPECT_TRUE(properties.emplace(line.substr(0, equals), line.substr(equals + 1)).second) << line;
  }
  return properties;
}

// The rules of the Arduino library specification for library.properties and keywords.txt.
TEST_F(Arduino, TheLibraryIsAsTheSpecificationAsks) {
  package("arduino", "mps2-an386", "lib");
  const auto files = read_folder("lib");
  const auto properties = properties_of(files.at("library.properties"));
  for (const char* key : {"name", "version", "author", "maintainer", "sentence", "paragraph",
                          "category", "url", "architectures"})
    EXPECT_FALSE(properties.at(key).empty()) << key;
  EXPECT_TRUE(std::regex_match(properties.at("name"), std::regex("[A-Za-z0-9][A-Za-z0-9 _.-]*")));
  EXPECT_TRUE(std::regex_match(properties.at("version"), std::regex("\\d+\\.\\d+\\.\\d+")));
  EXPECT_EQ(properties.at("category"), "Data Processing");
  EXPECT_EQ(properties.at("includes"), "digits.h");
  EXPECT_TRUE(properties.at("sentence").ends_with("."));
  EXPECT_TRUE(files.contains("src/digits.h"));
  EXPECT_TRUE(files.contains("examples/digits/digits.ino")) << "named as its folder";
  EXPECT_FALSE(files.contains("digits.h")) << "what lies beside src/ is not compiled";
  std::istringstream keywords(files.at("keywords.txt"));
  for (std::string line; std::getline(keywords, line);)
    EXPECT_TRUE(std::regex_match(line, std::regex("\\w+\tKEYWORD[12]"))) << line;
}

TEST_F(Arduino, NamesThatAreReservedAreChanged) {
  for (const std::string name : {"Arduino_digits", "_digits"}) {
    const ProcessOutcome outcome = intarsia(
        {"compile", digits_path(), "--name", name, "--format", "arduino", "-o", "lib_" + name});
    EXPECT_TRUE(outcome.succeeded());
    EXPECT_THAT(outcome.err, HasSubstr("note: Arduino allows no library of the name '" + name +
                                       "': it is 'Intarsia_" + name + "'"));
    const auto files = read_folder("lib_" + name);
    EXPECT_THAT(files.at("library.properties"), HasSubstr("name=Intarsia_" + name + "\n"));
    EXPECT_TRUE(files.contains("examples/Intarsia_" + name + "/Intarsia_" + name + ".ino"));
    EXPECT_TRUE(files.contains("src/" + name + ".h"));
  }
}

// Two names of 100 characters that differ at the end are two names of at most 63.
TEST_F(Arduino, LongNamesAreShortened) {
  std::set<std::string> libraries;
  for (const std::string end : {"1", "2"}) {
    const std::string model = std::string(99, 'm') + end;
    const ProcessOutcome outcome =
        intarsia({"compile", digits_path(), "--name", model, "--format", "arduino", "-o", end});
    EXPECT_TRUE(outcome.succeeded());
    EXPECT_THAT(outcome.err, HasSubstr("note: Arduino allows no library of the name '" + model));
    const auto files = read_folder(end);
    const std::string name = properties_of(files.at("library.properties")).at("name");
    EXPECT_EQ(name.size(), 63u);
    EXPECT_TRUE(files.contains("examples/" + name + "/" + name + ".ino"));
    EXPECT_THAT(files.at("README.md"), HasSubstr("\nArduino allows no library"));
    libraries.insert(name);
  }
  EXPECT_EQ(libraries.size(), 2u);
}

// What weights are: arrays of C, or a file that the assembler takes in.
class ArduinoWith : public Arduino, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(WeightsFile, ArduinoWith, testing::Values("never", "always"),
                         [](const auto& param) { return std::string(param.param); });

// -Os, C++11 for the sketch, warnings as "More" in the IDE.
TEST_P(ArduinoWith, TheSketchRunsOnACortexM4) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  package("arduino", "mps2-an386", "lib", {"--weights-file", GetParam()});
  EXPECT_EQ(exists("lib/src/digits_weights.S"), std::string(GetParam()) == "always");
  const std::vector<std::string> flags = core_flags("lib");
  compile_library("lib", with(flags, {"-Os", "-std=gnu11"}));
  write("sketch.cpp", *read_text_file(path("lib/examples/digits/digits.ino")) + kSketchMain);
  compile("sketch.cpp", with(flags, {"-Os", "-std=gnu++11", "-fno-exceptions", "-fno-rtti",
                                     "-Ishim", "-Ilib/src", "-Ilib/examples/digits"}));
  const ProcessOutcome outcome = link_and_run("mps2-an386", flags);
  EXPECT_TRUE(outcome.succeeded()) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("largest: "));
  EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
}

// With the Arduino framework and without one; the library's flags replace the platform's -Os.
TEST_P(ArduinoWith, PlatformIosSampleRunsInBothFrameworks) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  package("platformio", "mps2-an385", "lib", {"--weights-file", GetParam()});
  const std::vector<std::string> flags = core_flags("lib");
  const auto description =
      nlohmann::json::parse(*read_text_file(path("lib/library.json"))).at("build");
  EXPECT_EQ(description.at("srcDir"), "src");
  compile_library("lib", with(flags, description.at("flags").get<std::vector<std::string>>()));
  const std::string sample = *read_text_file(path("lib/examples/digits/main.cpp"));
  write("sketch.cpp", sample + kSketchMain);
  compile("sketch.cpp",
          with(flags, {"-Os", "-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-DARDUINO=10819",
                       "-Ishim", "-Ilib/src", "-Ilib/examples/digits"}));
  ProcessOutcome outcome = link_and_run("mps2-an385", flags);
  EXPECT_TRUE(outcome.succeeded()) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
}

TEST_F(Arduino, PlatformIosSampleIsAProgramWithPrintf) {
  if (!have_tools()) GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or QEMU";
  package("platformio", "mps2-an386", "lib");
  const std::vector<std::string> flags = core_flags("lib");
  compile_library("lib", with(flags, {"-O2"}));
  write("console.h", std::string("extern \"C\" int console_printf(const char *, ...);\n"));
  compile("lib/examples/digits/main.cpp", with(flags, {"-Os", "-std=gnu++11", "-fno-exceptions",
                                                       "-Ilib/src", "-include", "console.h"}));
  const ProcessOutcome outcome = link_and_run("mps2-an386", flags);
  EXPECT_TRUE(outcome.succeeded()) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("digits: 10 of 10 exact"));
}

// Two libraries in a sketch: objects come from archives (dot_a_linkage), so that what both have is taken once.
TEST_F(Arduino, TwoModelsLiveInOneSketch) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  package("arduino", "mps2-an386", "lib");
  package("arduino", "mps2-an386", "other", {"--name", "other", "--optimise", "size"});
  const std::vector<std::string> flags = core_flags("lib");
  for (const std::string library : {"lib", "other"}) {
    EXPECT_THAT(read_folder(library).at("library.properties"), HasSubstr("dot_a_linkage=true\n"));
    std::vector<std::string> archive = {"arm-none-eabi-ar", "rcs", library + ".a"};
    for (const auto& [name, text] : read_folder(library + "/src")) {
      if (!name.ends_with(".c")) continue;
      archive.push_back(library + std::to_string(archive.size()) + ".o");
      const ProcessOutcome compiled = program(with(
          with({"arm-none-eabi-gcc"}, flags),
          {"-Os", "-I" + library + "/src", "-c", library + "/src/" + name, "-o", archive.back()}));
      ASSERT_TRUE(compiled.succeeded()) << compiled.err;
    }
    ASSERT_TRUE(program(archive).succeeded());
  }
  write("main.c", std::string("#include \"digits.h\"\n#include \"other.h\"\n"
                              "DIGITS_DEFINE_RESOURCES(one);\nOTHER_DEFINE_RESOURCES(two);\n"
                              "static struct digits first;\nstatic struct other second;\n"
                              "int main(void) {\n"
                              "  return digits_init(&first, &one) + other_init(&second, &two) +\n"
                              "         digits_run(&first) + other_run(&second);\n}\n"));
  const ProcessOutcome linked = program(with(
      with({"arm-none-eabi-gcc"}, flags), {"-Ilib/src", "-Iother/src", "main.c", "lib.a", "other.a",
                                           "--specs=nosys.specs", "-o", "both.elf"}));
  EXPECT_TRUE(linked.succeeded()) << linked.err;
}

}  // namespace
}  // namespace intarsia::test
