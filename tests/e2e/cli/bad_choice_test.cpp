// Boards, targets, pins, memories and folders that cannot be.
#include <algorithm>

#include <fmt/format.h>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

class BadChoice : public Cli {
 protected:
  ProcessOutcome compile(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"compile", digits_path()});
    if (std::find(arguments.begin(), arguments.end(), "-o") == arguments.end())
      arguments.insert(arguments.end(), {"-o", "out"});
    const ProcessOutcome outcome = intarsia(arguments);
    EXPECT_FALSE(exists("out"));
    return outcome;
  }
};

TEST_F(BadChoice, UnknownBoard) {
  EXPECT_TRUE(refused(compile({"--board", "mps2-an385x"}),
                      {"--board: there is no board 'mps2-an385x'", "did you mean 'mps2-an385'?"}));
  EXPECT_TRUE(
      refused(compile({"--board", "toaster"}), {"there is no board 'toaster'", "microbit"}));
}

TEST_F(BadChoice, UnknownTarget) {
  EXPECT_TRUE(refused(compile({"--target", "cortex-m44"}),
                      {"--target", "'cortex-m44'", "did you mean 'cortex-m4'?"}));
  EXPECT_TRUE(refused(compile({"--target", "c -mcup=cortex-m4"}),
                      {"--target", "no attribute 'mcup'", "it has mcpu"}));
}

TEST_F(BadChoice, ExtensionThatTheCoreLacks) {
  EXPECT_TRUE(
      refused(compile({"--target", "c -mcpu=cortex-m0 -mattr=+dsp"}),
              {"--target", "cortex-m0 has no extension for -mattr=+dsp", "leave -mattr out"}));
  EXPECT_TRUE(refused(compile({"--target", "c -mcpu=cortex-m4 -mattr=+dsp,+mve"}),
                      {"cortex-m4 has no extension for -mattr=+mve", "it has +dsp, +fp"}));
  EXPECT_TRUE(refused(compile({"--target", "c -mcpu=cortex-m0 -mfloat-abi=hard"}),
                      {"cortex-m0 has no floating-point unit"}));
}

TEST_F(BadChoice, TargetOfAnotherCore) {
  EXPECT_TRUE(
      refused(compile({"--target", "cortex-m55", "--board", "mps2-an386"}),
              {"--board mps2-an386: the board does not run code for cortex-m55", "cortex-m4"}));
}

TEST_F(BadChoice, Pins) {
  EXPECT_TRUE(refused(
      compile({"--pin", "max_pol=c"}),
      {"--pin max_pol=c", "no operator or function 'max_pol'", "did you mean 'max_pool'?"}));
  EXPECT_TRUE(refused(compile({"--pin", "max_pool=npu"}),
                      {"--pin max_pool", "no device 'npu'", "devices are c"}));
  EXPECT_TRUE(refused(compile({"--pin", "max_pool"}), {"--pin: 'max_pool' is not NAME=DEVICE"}));
  write("pins.txt", std::string("# a comment\nmax_pool=c\n=c\n"));
  EXPECT_TRUE(refused(compile({"--pins", "pins.txt"}), {"pins.txt:3: '=c' is not NAME=DEVICE"}));
  EXPECT_TRUE(refused(compile({"--pins", "absent.txt"}), {"absent.txt: cannot be read"}));
}

TEST_F(BadChoice, Tags) {
  EXPECT_TRUE(refused(compile({"--tags", "absent.json"}), {"absent.json"}));
  write("tags.json", std::string("{\"mine\": "));
  EXPECT_TRUE(refused(compile({"--tags", "tags.json", "--target", "mine"}), {"tags.json"}));
}

TEST_F(BadChoice, FlashBudget) {
  EXPECT_TRUE(refused(compile({"--flash-budget", "100000"}),
                      {"--flash-budget: flash cannot be measured", "choose another --board"}));
  EXPECT_TRUE(refused(intarsia({"explain", digits_path(), "--flash-budget", "100000"}),
                      {"--flash-budget: only 'compile' and 'check' measure flash"}));
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  EXPECT_TRUE(refused(compile({"--board", "mps2-an386", "--flash-budget", "1000"}),
                      {"--flash-budget: 1000 bytes are too few: the least is", "decides it with",
                       "give at least"}));
}

TEST_F(BadChoice, FolderThatCannotBeMade) {
  write("file", std::string("text"));
  EXPECT_TRUE(
      refused(compile({"-o", "file/below"}), {"file/below: cannot be made: Not a directory"}));
  EXPECT_TRUE(refused(compile({"-o", "file"}), {"file: cannot be made"}));
  write_image("in.bin", 0);
  EXPECT_TRUE(
      refused(intarsia({"run", digits_path(), "--input", "in.bin", "--output-dir", "file/below"}),
              {"file/below: cannot be made"}));
  EXPECT_EQ(read("file"), (std::vector<uint8_t>{'t', 'e', 'x', 't'}));
}

TEST_F(BadChoice, ActivationsBeyondTheMemory) {
  // 64 kB in and out, in place, on a board with 16 kB.
  write("large.graph",
        std::string("intarsia.graph large\nfunc @main(%0) -> (%1) {\n"
                    "  %0 x: i8[1,64,64,16] q(0.5:0)\n  %1 y: i8[1,64,64,16] q(0.5:0)\n"
                    "  add twice(%0, %0) -> (%1)\n}\nentry @main\n"));
  const ProcessOutcome outcome =
      intarsia({"compile", "large.graph", "--board", "microbit", "-o", "out"});
  const int64_t available = 16 * 1024 - 1024 - 2 * 1024;  // board.json: reserved, stack
  EXPECT_TRUE(refused(outcome, {"'ram'", fmt::format("{}", 65536 - available)}));
  EXPECT_FALSE(exists("out"));
}

TEST_F(BadChoice, WeightsBeyondTheFlash) {
  std::string weights;
  for (int i = 0; i < 512 * 600; ++i) weights += fmt::format("{:02x}", (i * 37) % 251);
  write("heavy.graph",
        fmt::format("intarsia.graph heavy\nconst @0 w = x\"{}\"\nfunc @main(%0) -> (%2) {{\n"
                    "  %0 x: i8[1,512] q(0.5:0)\n  %1 w: i8[600,512] q(0.25) = @0\n"
                    "  %2 y: i8[1,600] q(0.5:0)\n  fully_connected dense(%0, %1, _) -> (%2)\n}}\n"
                    "entry @main\n",
                    weights));
  const ProcessOutcome outcome =
      intarsia({"compile", "heavy.graph", "--board", "microbit", "-o", "out"});
  EXPECT_TRUE(refused(outcome, {"'flash'", "bytes"}));
  EXPECT_FALSE(exists("out"));
}

// In our words, not in those of the parser's types; a misspelt option is told before what it was to give.
TEST_F(BadChoice, UsageInWords) {
  EXPECT_TRUE(usage_error(compile({"--optimize", "speed"}),
                          "--optimize: 'compile' has no such option; did you mean '--optimise'?"));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path(), "--ouput", "out"}),
                          "--ouput: 'compile' has no such option; did you mean '--output'?"));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path(), "--optimize=size", "-o", "out"}),
                          "did you mean '--optimise'?"));
  EXPECT_TRUE(usage_error(compile({"more.tflite"}), "is a word more than 'compile' takes"));
  EXPECT_TRUE(usage_error(compile({"--target", "c", "--target", "cortex-m4"}),
                          "--target: is given 2 times; give it once"));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path(), "-o", "out", "--target"}),
                          "--target: needs a value behind it"));
  EXPECT_TRUE(usage_error(intarsia({"run", digits_path(), "--output-dir", "o", "--repeat", "abc"}),
                          "--repeat: 'abc' is no whole number from 1 to 1000000"));
  EXPECT_TRUE(usage_error(intarsia({"build", digits_path(), "-o", "o", "--timeout", "soon"}),
                          "--timeout: 'soon' is no number from 0 to 1000000"));
  EXPECT_TRUE(refused(intarsia({"build", digits_path(), "-o", "o", "--timeout", "0.0004"}),
                      {"the C compiler was stopped after 0.001 s", "--timeout SECONDS"}));
  EXPECT_TRUE(usage_error(compile({"--policy", "costs"}),
                          "'costs' is none of priority, cost; did you mean 'cost'?"));
  const ProcessOutcome stage = intarsia({"dump", digits_path(), "--stage", "foo"});
  EXPECT_TRUE(
      usage_error(stage, "'foo' is none of import, eliminate, partition, lower, plan, emit"));
  EXPECT_EQ(stage.err.find("slim"), std::string::npos) << stage.err;
  EXPECT_TRUE(done(intarsia({"dump", digits_path(), "--stage", "slim"})));
}

TEST_F(BadChoice, AnUnknownFormatListsAllOfTheHelp) {
  EXPECT_TRUE(refused(compile({"--format", "foo"}),
                      {"--format: there is no format 'foo'; formats: plain, cmake, ",
                       "rust, tflite, csv, ", "executor"}));
  EXPECT_TRUE(refused(compile({"--format", "tflit"}), {"did you mean 'tflite'?"}));
}

// What is asked of a file and cannot be in it is said.
TEST_F(BadChoice, APackageForFirmwareHasNeitherCodeNorSections) {
  const auto package = [&](const char* option, const char* value) {
    return intarsia({"compile", digits_path(), "--format", "executor", option, value, "-o", "p"});
  };
  EXPECT_TRUE(refused(package("--flash-budget", "1K"), {"--flash-budget: is of code"}));
  EXPECT_TRUE(refused(package("--section", "weights=.qspi"), {"--section: a package has no"}));
  EXPECT_TRUE(refused(package("--weights-file", "always"), {"--weights-file: a package holds"}));
  EXPECT_FALSE(exists("p"));
  for (const auto& [option, value] :
       {std::pair("--section", "weights=.qspi"), std::pair("--weights-file", "always")})
    EXPECT_TRUE(
        refused(intarsia({"firmware", digits_path(), option, value, "--sources", "firmware"}),
                {std::string(option) + ": a package "}));
  EXPECT_FALSE(exists("firmware"));
  EXPECT_TRUE(refused(
      compile({"--format", "tflite", "--target", "ethos-u55-128", "--weights-file", "always"}),
      {"--weights-file: cannot be kept by --format tflite"}));
}

TEST_F(BadChoice, AnEmptyNameIsNoModel) {
  for (const char* command : {"compile", "run", "build", "verify", "check", "explain", "dump"})
    EXPECT_TRUE(usage_error(intarsia({command, ""}), "MODEL: is empty")) << command;
  EXPECT_TRUE(usage_error(intarsia({"firmware", "", "-o", "fw"}), "MODEL: is empty"));
}

TEST_F(BadChoice, AReportIsAReport) {
  for (const std::string option : {"", "--baseline", "--trace"}) {
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "out"})));
    std::vector<std::string> command = {"report", option.empty() ? digits_path() : "out", "-o",
                                        "page.html"};
    if (!option.empty()) command.insert(command.end(), {option, digits_path()});
    EXPECT_TRUE(refused(intarsia(command),
                        {"digits.tflite: is not JSON; ",
                         option == "--trace" ? "name a file that 'intarsia run --trace FILE' wrote"
                                             : "name the report.json in the folder that 'compile' "
                                               "wrote"}));
  }
}

TEST_F(BadChoice, ARootWithoutBoardsIsNamed) {
  setenv("INTARSIA_ROOT", path("nowhere").c_str(), 1);
  const ProcessOutcome outcome = compile({});
  unsetenv("INTARSIA_ROOT");
  EXPECT_TRUE(refused(outcome, {"INTARSIA_ROOT: there is no folder '", "nowhere/boards'",
                                "holds boards/, device-runtime/ and targets/"}));
}

TEST_F(BadChoice, Usage) {
  EXPECT_TRUE(usage_error(intarsia({}), "the command is missing"));
  EXPECT_TRUE(
      usage_error(intarsia({"compiel"}), "there is no command 'compiel'; did you mean 'compile'?"));
  EXPECT_TRUE(usage_error(intarsia({"frobnicate"}),
                          "commands: compile, build, firmware, check, sweep, run, verify"));
  EXPECT_TRUE(usage_error(intarsia({"compile"}), "MODEL is required"));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path()}), "--output is required"));
  EXPECT_TRUE(usage_error(compile({"--policy", "luck"}), "--policy"));
  EXPECT_TRUE(usage_error(compile({"--target", ""}), "--target: is empty"));
  EXPECT_TRUE(usage_error(compile({"-o", ""}), "--output: is empty"));
  EXPECT_TRUE(usage_error(compile({"--sram-limit", "0"}), "--sram-limit"));
  EXPECT_TRUE(usage_error(compile({"--ram-budget", "much"}), "--ram-budget"));
  EXPECT_TRUE(usage_error(compile({"--frobnicate"}), "--frobnicate"));
  EXPECT_TRUE(usage_error(intarsia({"dump", digits_path(), "--stage", "guess"}), "--stage"));
  EXPECT_TRUE(
      usage_error(intarsia({"dump", digits_path(), "--stage", "import", "--json"}), "--json"));
  EXPECT_TRUE(usage_error(intarsia({"verify", digits_path(), "--samples", "0"}), "--samples"));
  EXPECT_TRUE(usage_error(intarsia({"run", digits_path(), "--output-dir", "o", "--repeat", "-1"}),
                          "--repeat"));
  EXPECT_TRUE(
      usage_error(intarsia({"plan", "p.csv", "--capacity", "much", "-o", "o.csv"}), "--capacity"));
}

}  // namespace
}  // namespace intarsia::test
