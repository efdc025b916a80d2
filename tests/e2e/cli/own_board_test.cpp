// A board of one's own, in a folder anywhere: made from nothing, compiled, built and run for.
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

class OwnBoard : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    unsetenv("INTARSIA_BOARDS");
  }
  void TearDown() override {
    unsetenv("INTARSIA_BOARDS");
    Cli::TearDown();
  }

  // A Cortex-M4, which the emulated MPS2 stands in for.
  static Json description(const std::string& name, const std::string& ram = "64K") {
    return Json::parse(R"({"compiler": "arm-none-eabi-gcc", "port": "semihosting",
      "cores": [{"name": "cortex-m4",
                 "flags": ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]}],
      "memories": [
        {"name": "flash", "kind": "flash", "base": "0x00000000", "size": "256K", "reserved": "8K"},
        {"name": "fast", "kind": "ram", "base": "0x20000000", "size": ")" +
                       ram +
                       R"(", "reserved": "1K"}],
      "roles": {"code": "flash", "constants": "flash", "data": "fast", "stack": "fast",
                "activations": ["fast"]},
      "stack_size": "4K",
      "run": {"emulator": "qemu-system-arm", "machine": "mps2-an386"},
      "summary": "Board of one's own", "name": ")" +
                       name + "\"}");
  }
  void make_board(const std::string& folder, const std::string& name,
                  const std::string& ram = "64K") const {
    write(folder + "/board.json", description(name, ram).dump());
  }
};

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

TEST_F(OwnBoard, IsShownByItsPath) {
  make_board("hardware/mine", "mine");
  for (const char* path : {"hardware/mine", "./hardware/mine", "hardware/mine/",
                           "hardware/mine/board.json", "hardware/../hardware/mine"}) {
    const ProcessOutcome outcome = intarsia({"boards", path});
    EXPECT_TRUE(done(outcome)) << path;
    EXPECT_TRUE(contains(outcome.out, "mine: Board of one's own")) << outcome.out;
  }
  const ProcessOutcome inside = program({INTARSIA_PROGRAM, "boards", "."}, "hardware/mine");
  EXPECT_TRUE(done(inside));
}

TEST_F(OwnBoard, IsCompiledBuiltAndRunFor) {
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  make_board("hardware/mine", "mine");
  write_image("in.bin", 5);
  const std::string board = path("hardware/mine");
  const ProcessOutcome compiled =
      intarsia({"compile", digits_path(), "--board", board, "-o", "digits"});
  EXPECT_TRUE(done(compiled));
  EXPECT_TRUE(contains(compiled.out, "on board mine")) << compiled.out;
  EXPECT_TRUE(contains(compiled.out, "of 59.0K")) << compiled.out;  // 64K - 1K - 4K
  EXPECT_TRUE(contains(*read_text_file(path("digits/report.txt")), "of 60416 bytes"));

  EXPECT_TRUE(done(intarsia({"run", digits_path(), "--board", "hardware/mine", "--input", "in.bin",
                             "--output-dir", "of_model"})));
  EXPECT_EQ(read("of_model/out0.bin"), recorded_scores(5));
  EXPECT_TRUE(done(intarsia({"build", digits_path(), "--board", board, "-o", "digits.elf"})));
  EXPECT_TRUE(exists("digits.elf"));
  EXPECT_TRUE(done(intarsia({"verify", digits_path(), "--board", board, "--samples", "1"})));
  EXPECT_TRUE(done(intarsia({"check", digits_path(), "--board", board, "--max-flash", "60K"})));
  EXPECT_TRUE(done(intarsia({"explain", digits_path(), "--board", board})));

  // The compiled folder names the board; where that lies has to be said.
  EXPECT_TRUE(refused(intarsia({"run", "digits", "--input", "in.bin", "--output-dir", "out"}),
                      {"digits: was compiled for board mine, which is none of the known boards",
                       "--board PATH", "INTARSIA_BOARDS"}));
  EXPECT_TRUE(done(intarsia(
      {"run", "digits", "--board", board, "--input", "in.bin", "--output-dir", "of_folder"})));
  EXPECT_EQ(read("of_folder/out0.bin"), recorded_scores(5));
  setenv("INTARSIA_BOARDS", path("hardware").c_str(), 1);
  EXPECT_TRUE(
      done(intarsia({"run", "digits", "--input", "in.bin", "--output-dir", "by_variable"})));
  EXPECT_EQ(read("by_variable/out0.bin"), recorded_scores(5));
  EXPECT_TRUE(done(intarsia({"build", "digits", "-o", "again.elf"})));
}

TEST_F(OwnBoard, FoldersOfTheVariableComeFirst) {
  make_board("first/mine", "mine", "32K");
  make_board("second/mine", "mine");
  make_board("second/microbit", "microbit");
  setenv("INTARSIA_BOARDS", "first::second", 1);
  const Json boards = Json::parse(intarsia({"boards", "--json"}).out, nullptr, false);
  ASSERT_GE(boards.size(), 9u);
  EXPECT_EQ(boards[0]["name"], "mine");
  EXPECT_EQ(boards[0]["memories"][1]["size"], 32768);
  EXPECT_EQ(boards[1]["name"], "microbit");
  int named = 0;
  for (const Json& board : boards) named += board["name"] == "microbit" || board["name"] == "mine";
  EXPECT_EQ(named, 2) << "each once";
  EXPECT_TRUE(contains(intarsia({"boards", "microbit"}).out, "Board of one's own"));
  EXPECT_TRUE(done(intarsia({"boards", "mps2-an386"})));
}

TEST_F(OwnBoard, IsNotThere) {
  make_board("mine", "mine");
  EXPECT_TRUE(refused(intarsia({"boards", "mine"}),
                      {"--board: there is no board 'mine'", "write './mine'"}));
  EXPECT_TRUE(refused(intarsia({"boards", "./absent"}),
                      {"--board: there is no folder './absent'", "'intarsia boards' lists"}));
  write("empty/readme", std::string("nothing"));
  EXPECT_TRUE(refused(intarsia({"explain", digits_path(), "--board", "./empty"}),
                      {"--board: there is no board.json in the folder './empty'"}));
  make_board("other", "mine");
  EXPECT_TRUE(refused(intarsia({"boards", "./other"}),
                      {"the board is called 'mine' but its folder is 'other'"}));
  setenv("INTARSIA_BOARDS", "boards:mine", 1);
  EXPECT_TRUE(refused(intarsia({"boards"}), {"INTARSIA_BOARDS: there is no folder 'boards'"}));
}

// What only the tools can know is told in the words of the file.
TEST_F(OwnBoard, IsDescribedWrongly) {
  write_image("in.bin", 5);
  const auto run_with = [&](const char* pointer, const Json& value) {
    Json board = description("mine");
    board[Json::json_pointer(pointer)] = value;
    write("mine/board.json", board.dump());
    return intarsia({"run", digits_path(), "--board", "./mine", "--input", "in.bin", "--output-dir",
                     "out", "--timeout", "60"});
  };
  EXPECT_TRUE(refused(run_with("/cores/0/name", "cortex-m4f"),
                      {"mine/board.json: cores[0]: ", "did you mean 'cortex-m4'?"}));
  EXPECT_TRUE(refused(intarsia({"boards", "./mine"}), {"mine/board.json: cores[0]: "}));
  EXPECT_TRUE(refused(intarsia({"explain", digits_path(), "--board", "./mine"}),
                      {"mine/board.json: cores[0]: "}));
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  EXPECT_TRUE(
      refused(run_with("/run/machine", "mps2-an3866"),
              {"mine/board.json: run: machine: qemu-system-arm has no machine 'mps2-an3866'",
               "did you mean 'mps2-an386'?"}));
  EXPECT_TRUE(refused(run_with("/run/emulator", "qemu-system-armm"),
                      {"mine/board.json: run: emulator: 'qemu-system-armm' cannot be started"}));
  for (const char* base : {"0x08000000", "0x10000000"}) {
    const ProcessOutcome outcome = run_with("/memories/0/base", base);
    EXPECT_TRUE(refused(outcome, {"mine/board.json: memories: machine 'mps2-an386'", "'flash' at",
                                  base, "give every 'base' as the machine has it"}));
    EXPECT_FALSE(contains(outcome.err, "R00=")) << "no registers of the emulator";
  }
  EXPECT_TRUE(refused(run_with("/memories/1/base", "0x50000000"),
                      {"mine/board.json: memories: ", "'fast' at 0x50000000"}));
  EXPECT_TRUE(refused(run_with("/cores/0/flags", Json::array({"-mcpu=cortex-m4f", "-mthumb"})),
                      {"mine/board.json: cores: flags of cortex-m4: ", "cortex-m4f"}));
  EXPECT_FALSE(exists("out"));
}

// A key that is there twice is no board.
TEST_F(OwnBoard, RepeatedKeys) {
  std::string text = description("mine").dump();
  text.insert(1, "\"name\": \"mine\", ");
  write("mine/board.json", text);
  EXPECT_TRUE(refused(intarsia({"boards", "./mine"}),
                      {"./mine/board.json: the key 'name' is there twice"}));
}

}  // namespace
}  // namespace intarsia::test
