// The command line with models that are object files.
#include <gmock/gmock.h>

#include "cli.h"
#include "needs_llvm.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Objects : public Cli {
 protected:
  void SetUp() override {
    INTARSIA_NEEDS_LLVM();
    Cli::SetUp();
    write_image("image.bin", 3);
  }
  void TearDown() override {
    if (kHasLlvm) Cli::TearDown();
  }
  void expect_scores(std::vector<std::string> more) const {
    std::vector<std::string> command = {"run",       digits_path(),  "--input",
                                        "image.bin", "--output-dir", "out"};
    command.insert(command.end(), more.begin(), more.end());
    const ProcessOutcome ran = intarsia(command);
    ASSERT_TRUE(ran.succeeded()) << ran.err;
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
  }
};

TEST_F(Objects, AreRunInTheProcessAndAsAProgram) {
  expect_scores({"--target", "llvm"});
  expect_scores({"--target", "host", "--native"});
  expect_scores({"--target", "llvm", "--batch"});
  // Of another machine, from its loops.
  expect_scores({"--target", "riscv32-llvm"});
}

TEST_F(Objects, OfOtherMachinesAreVerifiedOnTheirBoard) {
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no compiler and emulator for Cortex-M";
  const ProcessOutcome verified =
      intarsia({"verify", digits_path(), "--target", "cortex-m4-llvm", "--board", "mps2-an386"});
  ASSERT_TRUE(verified.succeeded()) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("firmware on board mps2-an386"));
  EXPECT_THAT(verified.out + verified.err,
              HasSubstr("the program on this machine is left out: digits.o: is code for Arm"));
}

TEST_F(Objects, AreNoSources) {
  const auto compiled = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"compile",        digits_path(), "--target",
                                        "cortex-m4-llvm", "-o",          "package"};
    command.insert(command.end(), more.begin(), more.end());
    return intarsia(command);
  };
  EXPECT_TRUE(compiled({}).succeeded());
  EXPECT_TRUE(exists("package/digits.o"));
  EXPECT_FALSE(exists("package/digits.c"));
  for (const char* format : {"zephyr", "arduino", "rust", "esp-idf"})
    EXPECT_TRUE(refused(compiled({"--format", format}),
                        {"takes sources in C, and digits is an object file", "--format plain"}));
  EXPECT_TRUE(refused(compiled({"--single-file"}), {"--single-file: takes sources in C"}));
}

// The build files of a package name the object, and any C compiler of the machine links it.
TEST_F(Objects, AreLinkedByMakeAndCMake) {
  ASSERT_TRUE(
      intarsia({"compile", digits_path(), "--target", "llvm", "-o", "package"}).succeeded());
  write("main.c",
        "#include \"digits.h\"\n"
        "DIGITS_DEFINE_RESOURCES(memory);\n"
        "int main(void) {\n"
        "  static struct digits model;\n"
        "  return digits_init(&model, &memory) || digits_run(&model);\n"
        "}\n");
  write("CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.20)\nproject(app C)\nadd_subdirectory(package)\n"
        "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE digits)\n");
  const ProcessOutcome configured = program({"cmake", "-S", ".", "-B", "build"});
  ASSERT_TRUE(configured.succeeded()) << configured.err;
  const ProcessOutcome built = program({"cmake", "--build", "build"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  EXPECT_TRUE(program({path("build/app")}).succeeded());
}

}  // namespace
}  // namespace intarsia::test
