// The command line with models that are object files.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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

TEST_F(Objects, AreVerifiedAsObjects) {
  const ProcessOutcome verified = intarsia({"verify", digits_path(), "--target", "llvm"});
  ASSERT_TRUE(verified.succeeded()) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("reference, the object file on this machine and the compiled "
                                      "model in this process agree"));
}

// mps3-an547 with less memory for constants, so that a small network needs more than one.
TEST_F(Objects, HaveConstantsInSeveralMemories) {
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no compiler and emulator for Cortex-M";
  auto board =
      nlohmann::json::parse(*read_text_file(INTARSIA_SOURCE_DIR "/boards/mps3-an547/board.json"));
  board["name"] = "narrow";
  for (nlohmann::json& memory : board["memories"]) {
    if (memory["name"] == "bram") memory["size"] = "8K", memory["reserved"] = "5K";
    if (memory["name"] == "sram") memory["size"] = "10K";
  }
  write("narrow/board.json", board.dump());
  for (const char* target : {"cortex-m55-llvm", "cortex-m55-llvm + example-npu"}) {
    const ProcessOutcome verified =
        intarsia({"verify", digits_path(), "--board", "./narrow", "--target", target});
    EXPECT_TRUE(verified.succeeded()) << target << verified.out << verified.err;
  }
  ASSERT_TRUE(intarsia({"compile", digits_path(), "--board", "./narrow", "--target",
                        "cortex-m55-llvm", "-o", "package"})
                  .succeeded());
  const std::string object = read_folder("package").at("digits.o");
  for (const char* section : {".intarsia.weights.digits_stem_weights", ".intarsia.constants.sram."})
    EXPECT_NE(object.find(section), std::string::npos) << section;
  // Code apart from constants, and a bound that holds.
  const auto report = nlohmann::json::parse(read_folder("package").at("report.json"));
  EXPECT_GT(report.at("flash").at("constant_bytes_linked"), 7000);
  EXPECT_GT(report.at("stack").at("bytes"), 0);
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
