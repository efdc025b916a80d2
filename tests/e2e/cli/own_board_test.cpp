// A board of one's own, in a folder anywhere: made from nothing, compiled, built and run for.
#include <cstdlib>
#include <filesystem>

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
                      {"boards: there is no board 'mine'", "write './mine'"}));
  EXPECT_TRUE(refused(intarsia({"boards", "./absent"}),
                      {"boards: there is no folder './absent'", "'intarsia boards' lists"}));
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

// Linker script and startup code that a board brings are what its programs are made with.
TEST_F(OwnBoard, BringsItsOwnFiles) {
  Json board = description("mine");
  board["linker_script"] = "link.ld";
  write("mine/board.json", board.dump());
  EXPECT_TRUE(
      refused(intarsia({"boards", "./mine"}),
              {"./mine/board.json: linker_script: there is no file 'link.ld' in the board's "
               "folder; write it, or leave the key out"}));
  board.erase("linker_script");
  board["startup"] = {"a.c", "b.c"};
  write("mine/board.json", board.dump());
  EXPECT_TRUE(refused(intarsia({"boards", "./mine"}),
                      {"startup: there is no file 'a.c'", "startup: there is no file 'b.c'"}));
}

TEST_F(OwnBoard, IsBegunLikeAnother) {
  const ProcessOutcome made = intarsia({"boards", "new", "hardware/mine", "--like", "mps2-an386"});
  EXPECT_TRUE(done(made));
  EXPECT_TRUE(contains(made.out, "hardware/mine: a board like mps2-an386")) << made.out;
  const std::map<std::string, std::string> files = read_folder("hardware/mine");
  ASSERT_EQ(files.size(), 2u);
  const Json description = Json::parse(files.at("board.json"));
  EXPECT_EQ(description["name"], "mine");
  EXPECT_EQ(description["memories"][0]["size"], "4M") << "as it is written there";
  EXPECT_FALSE(description.contains("zephyr"));
  EXPECT_TRUE(
      contains(files.at("board.json"),
               "\n    {\"name\": \"flash\", \"kind\": \"flash\", \"base\": \"0x00000000\", "))
      << files.at("board.json");
  EXPECT_TRUE(contains(files.at("README.md"), "# mine\n\nMade like `mps2-an386`"));
  EXPECT_TRUE(done(intarsia({"boards", "hardware/mine"})));

  // Of a board of one's own, with a name in the current folder.
  setenv("INTARSIA_BOARDS", path("hardware").c_str(), 1);
  EXPECT_TRUE(done(intarsia({"boards", "new", "second/", "--like", "mine"})));
  EXPECT_TRUE(contains(intarsia({"boards", "./second"}).out, "second: second, made like mine"));
  // What there is for several cores comes along.
  EXPECT_TRUE(done(intarsia({"boards", "new", "dual", "--like", "mps2-an521"})));
  EXPECT_TRUE(exists("dual/second_core.c"));
}

// Where nothing stands in for it, the program is what there is to have.
TEST_F(OwnBoard, HasNoEmulator) {
  if (!have_program("arm-none-eabi-gcc")) GTEST_SKIP() << needs("cross-toolchain");
  Json board = description("mine");
  board.erase("run");
  write("mine/board.json", board.dump());
  write_image("in.bin", 5);
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--board", "./mine", "--input", "in.bin",
                                "--output-dir", "out"}),
                      {"--board mine: neither an emulator nor a debug probe is known",
                       " --board ./mine -o FILE' writes the program"}));
  EXPECT_TRUE(done(intarsia({"build", digits_path(), "--board", "./mine", "-o", "fw.elf"})));
  EXPECT_EQ(read("fw.elf")[0], 0x7F);
}

TEST_F(OwnBoard, EveryBoardIsABeginning) {
  const Json boards = Json::parse(intarsia({"boards", "--json"}).out, nullptr, false);
  for (const Json& board : boards) {
    const std::string name = board["name"];
    if (name == "host") continue;
    const bool is_process = name.ends_with("-linux");
    for (const bool own_files : {false, true}) {
      if (own_files && is_process) continue;
      std::vector<std::string> command = {"boards", "new", own_files ? "own" : "made", "--like",
                                          name};
      if (own_files) command.push_back("--own-files");
      EXPECT_TRUE(done(intarsia(command))) << name;
      const std::string folder = own_files ? "./own" : "./made";
      const Json shown = Json::parse(intarsia({"boards", folder, "--json"}).out, nullptr, false);
      ASSERT_EQ(shown.size(), 1u) << name;
      EXPECT_EQ(shown[0]["memories"], board["memories"]) << name;
      EXPECT_EQ(shown[0]["cores"], board["cores"]) << name;
      std::filesystem::remove_all(path(folder));
    }
  }
}

// Unchanged it does what the board does that it is like; its own files decide when they are changed.
TEST_F(OwnBoard, RunsFromItsOwnFiles) {
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  write_image("in.bin", 5);
  const auto run = [&] {
    return intarsia({"run", digits_path(), "--board", "./mine", "--input", "in.bin", "--output-dir",
                     "out", "--timeout", "60"});
  };
  EXPECT_TRUE(
      done(intarsia({"boards", "new", "mine", "--like", "stm32vldiscovery", "--own-files"})));
  const std::map<std::string, std::string> files = read_folder("mine");
  ASSERT_TRUE(files.contains("link.ld") && files.contains("startup.c"));
  EXPECT_TRUE(contains(files.at("link.ld"), "/* Of board mine."));
  EXPECT_TRUE(done(run()));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(5));

  std::string text = files.at("startup.c");
  const std::string main = "intarsia_port_exit(intarsia_inference_main());";
  ASSERT_TRUE(contains(text, main));
  text.replace(text.find(main), main.size(), "intarsia_port_exit(77);");
  write("mine/startup.c", text);
  EXPECT_TRUE(refused(run(), {"the program ended with exit status 77"}));
  write("mine/startup.c", files.at("startup.c"));

  text = files.at("link.ld");
  const std::string base = "ORIGIN = 0x20000000";
  text.replace(text.find(base), base.size(), "ORIGIN = 0x30000000");
  write("mine/link.ld", text);
  EXPECT_TRUE(refused(run(), {"mine/link.ld: section '.stack' is at 0x30000000",
                              "where board.json has no memory", "give both the same memories"}));
  write("mine/link.ld", std::string("SECTIONS {"));
  const ProcessOutcome damaged = run();
  EXPECT_EQ(damaged.exit_code, kUserError);
  EXPECT_TRUE(contains(damaged.err, "linking the program for board mine failed")) << damaged.err;
}

TEST_F(OwnBoard, IsNotBegun) {
  EXPECT_TRUE(refused(intarsia({"boards", "new"}), {"boards new: the new board has no name"}));
  EXPECT_TRUE(refused(intarsia({"boards", "new", "mine"}),
                      {"boards new: it is not said which board", "--like"}));
  EXPECT_TRUE(refused(intarsia({"boards", "new", "mine", "--like", "mps2-an368"}),
                      {"there is no board 'mps2-an368'", "did you mean"}));
  EXPECT_TRUE(refused(intarsia({"boards", "new", "mine", "--like", "host"}),
                      {"--like: board 'host' is this machine"}));
  EXPECT_TRUE(
      refused(intarsia({"boards", "new", "mine", "--like", "aarch64-linux", "--own-files"}),
              {"--own-files: a program for 'aarch64-linux' is a process", "leave the option out"}));
  for (const char* name : {"-mine", "a board", "mine/..", "mine?"})
    EXPECT_TRUE(
        refused(intarsia({"boards", "--like", "microbit", "new", "--", name}), {"boards new: "}))
        << name;
  EXPECT_TRUE(refused(intarsia({"boards", "microbit", "mine"}),
                      {"boards: ", "'mine' is one word too many"}));
  EXPECT_TRUE(refused(intarsia({"boards", "microbit", "--like", "microbit"}),
                      {"--like: is of a board that is written"}));
  EXPECT_TRUE(refused(intarsia({"boards", "--own-files"}), {"--own-files: is of a board"}));
  EXPECT_FALSE(exists("mine"));
  write("mine/notes", std::string("mine"));
  EXPECT_TRUE(refused(intarsia({"boards", "new", "mine", "--like", "microbit"}),
                      {"mine: is there already"}));
  EXPECT_EQ(read_folder("mine").size(), 1u);
}

// A board whose compiler is not there is no choice that nobody asked for.
TEST_F(OwnBoard, IsSweptWhenItCanBeMeasured) {
  if (!have_program("arm-none-eabi-gcc")) GTEST_SKIP() << needs("cross-toolchain");
  make_board("boards/mine", "mine");
  Json board = description("other");
  board["compiler"] = "no-such-gcc";
  write("boards/other/board.json", board.dump());
  setenv("INTARSIA_BOARDS", path("boards").c_str(), 1);
  const auto boards = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"sweep", digits_path(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::string names;
    for (const Json& row : Json::parse(intarsia(arguments).out, nullptr, false))
      names += row["board"].get<std::string>() + " ";
    return names;
  };
  const std::string measured = boards({});
  EXPECT_TRUE(contains(measured, "mine ") && !contains(measured, "other ")) << measured;
  EXPECT_TRUE(contains(boards({"--no-measure"}), "mine other "));
  EXPECT_EQ(boards({"--board", "other"}), "other ");
}

// What a board has is a budget that need not be looked up.
TEST_F(OwnBoard, FitsByRowTiles) {
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  make_board("mine", "mine", "7K");  // 2K for a model
  write_image("in.bin", 5);
  EXPECT_TRUE(refused(intarsia({"build", digits_path(), "--board", "./mine", "-o", "digits.elf"}),
                      {"--ram-budget 2048 computes by row tiles and fits"}));
  const ProcessOutcome compiled = intarsia(
      {"compile", digits_path(), "--board", "./mine", "--ram-budget", "auto", "-o", "digits"});
  EXPECT_TRUE(done(compiled));
  EXPECT_TRUE(done(intarsia(
      {"run", "digits", "--board", "./mine", "--input", "in.bin", "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(5));
  const Json report = Json::parse(*read_text_file(path("digits/report.json")));
  EXPECT_EQ(report["ram_budget"]["budget"], 2048);
  EXPECT_LE(report["ram_budget"]["after"], 2048);
  EXPECT_FALSE(report["ram_budget"]["striped"].empty());

  const ProcessOutcome explained =
      intarsia({"explain", digits_path(), "--board", "./mine", "--ram-budget", "auto"});
  EXPECT_TRUE(done(explained));
  EXPECT_TRUE(contains(explained.out, "for the budget of 2048; these run by row tiles"))
      << explained.out;
  const ProcessOutcome roomy =
      intarsia({"explain", digits_path(), "--board", "microbit", "--ram-budget", "auto"});
  EXPECT_TRUE(done(roomy));
  EXPECT_TRUE(contains(roomy.out, "within the budget of 13312: nothing runs by row tiles"))
      << roomy.out;
  EXPECT_TRUE(done(intarsia(
      {"verify", digits_path(), "--board", "./mine", "--ram-budget", "auto", "--samples", "1"})));
  write("budgets.json",
        std::string(R"({"models": [{"model": ")" + digits_path() +
                    R"(", "board": "./mine", "ram_budget": "auto", "max_ram": "2K"}]})"));
  EXPECT_TRUE(done(intarsia({"check", "--file", "budgets.json"})));

  make_board("tiny", "tiny", "6K");  // 1K
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "--board", "./tiny", "--ram-budget",
                                "auto", "-o", "tiny_digits"}),
                      {"computed by row tiles (--ram-budget) the least found is "}));
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "--ram-budget", "auto", "-o", "x"}),
                      {"--ram-budget auto: board host has no limit", "--board"}));
  EXPECT_TRUE(usage_error(intarsia({"compile", digits_path(), "--ram-budget", "some", "-o", "x"}),
                          "or auto"));
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
