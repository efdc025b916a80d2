// What every command prints when all is well, and its JSON.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

class Commands : public Cli {
 protected:
  Json json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    const ProcessOutcome outcome = intarsia(arguments);
    EXPECT_TRUE(done(outcome));
    Json parsed = Json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << outcome.out;
    return parsed;
  }
  std::string text(const std::vector<std::string>& arguments) const {
    const ProcessOutcome outcome = intarsia(arguments);
    EXPECT_TRUE(done(outcome));
    return outcome.out;
  }
  static bool can_emulate() {
    return have_program("arm-none-eabi-gcc") && have_program("qemu-system-arm");
  }
};

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

TEST_F(Commands, HelpAndVersion) {
  const std::string help = text({"--help"});
  for (const char* command : {"compile", "run", "verify", "explain", "dump", "disasm", "plan",
                              "targets", "boards", "explain-error"})
    EXPECT_TRUE(contains(help, command)) << command;
  EXPECT_TRUE(text({"--version"}).starts_with("intarsia "));
  EXPECT_TRUE(contains(text({"compile", "--help"}), "--board"));
}

TEST_F(Commands, Compile) {
  const std::string summary = text({"compile", digits_path(), "-o", "out"});
  EXPECT_TRUE(contains(summary, "130.8k multiply-accumulates")) << summary;
  EXPECT_TRUE(contains(summary, "12 operators")) << summary;
  EXPECT_TRUE(contains(*read_text_file(path("out/report.txt")), "130816 multiply-accumulates"));
  const Json parsed = json({"compile", digits_path(), "-o", "out"});
  EXPECT_EQ(parsed["model"], "digits");
  EXPECT_EQ(parsed, Json::parse(read("out/report.json"), nullptr, false));
}

TEST_F(Commands, CompileForABoard) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  const std::string report = text({"compile", digits_path(), "--board", "microbit", "-o", "out"});
  EXPECT_TRUE(contains(report, "c -mcpu=cortex-m0 on board microbit")) << report;
  EXPECT_TRUE(contains(report, "bytes at most, below the run function")) << report;
  write_image("in.bin", 7);
  const Json run =
      json({"run", "out", "--input", "in.bin", "--output-dir", "scores", "--count-instructions"});
  EXPECT_EQ(read("scores/out0.bin"), recorded_scores(7));
  EXPECT_EQ(run["outputs"][0]["file"], "scores/out0.bin");
  EXPECT_EQ(run["outputs"][0]["shape"], Json({1, 10}));
  EXPECT_GT(run["stack_run_bytes"], 0);
  EXPECT_GT(run["instructions"][0], 100000);
}

// The same code as --count-instructions counts, and all of it belongs to the operators or lies between them.
TEST_F(Commands, RunEstimatesCyclesOfOperators) {
  if (!can_emulate()) GTEST_SKIP() << needs("cross-toolchain") << "for the boards";
  write_image("in.bin", 7);
  for (const char* board : {"mps2-an386", "mps3-an547", "mps2-an385"}) {
    const std::vector<std::string> common = {"run",     digits_path(), "--board",      board,
                                             "--input", "in.bin",      "--output-dir", "scores"};
    const auto with = [&](const char* option) {
      std::vector<std::string> arguments = common;
      arguments.push_back(option);
      return json(arguments);
    };
    const Json counted = with("--count-instructions");
    const Json run = with("--count-cycles");
    EXPECT_EQ(run["instructions"], counted["instructions"]) << board;
    ASSERT_EQ(run["cycles"].size(), 1u);
    const Json& cycles = run["cycles"][0];
    EXPECT_EQ(cycles["instructions"], run["instructions"][0]);
    EXPECT_LE(cycles["optimistic"], cycles["nominal"]);
    EXPECT_LE(cycles["nominal"], cycles["pessimistic"]);
    uint64_t instructions = 0;
    double nominal = 0;
    std::vector<std::string> names;
    for (const Json& op : cycles["operators"]) {
      instructions += op["instructions"].get<uint64_t>();
      nominal += op["nominal"].get<double>();
      names.push_back(op["name"]);
    }
    EXPECT_EQ(instructions, cycles["instructions"]) << board;
    EXPECT_EQ(nominal, cycles["nominal"].get<double>()) << board;
    EXPECT_THAT(names, testing::UnorderedElementsAre(
                           "", "stem", "block1_depthwise", "block1_pointwise", "block1_add",
                           "max_pool", "widen", "block2_depthwise", "block2_pointwise",
                           "block2_add", "average_pool", "classifier", "scores"));
  }
}

// The report has what `run` counts of the same program, beside the estimate; `verify` counts the firmware it compares.
TEST_F(Commands, CompileAndVerifyCountCycles) {
  if (!can_emulate()) GTEST_SKIP() << needs("cross-toolchain") << "for the boards";
  const Json report =
      json({"compile", digits_path(), "--board", "mps2-an386", "-o", "counted", "--count-cycles"});
  const Json& counted = report["counted_cycles"];
  double nominal = 0;
  for (const Json& op : counted["operators"]) nominal += op["nominal"].get<double>();
  EXPECT_EQ(nominal, counted["nominal"].get<double>());
  EXPECT_GT(counted["instructions"].get<uint64_t>(), 0u);
  EXPECT_THAT(*read_text_file(path("counted/report.txt")),
              testing::AllOf(testing::HasSubstr("Cycles, counted in the emulator of the board"),
                             testing::ContainsRegex("MACs +cycles +counted +weights")));
  EXPECT_THAT(text({"report", "counted", "-o", "page.html"}), testing::HasSubstr("page.html"));
  EXPECT_THAT(*read_text_file(path("page.html")),
              testing::HasSubstr("Counted: a run in the emulator"));

  const std::vector<std::string> verify = {
      "verify", digits_path(), "--board", "mps2-an386", "--samples", "4", "--count-cycles"};
  const Json verdict = json(verify);
  ASSERT_EQ(verdict["cycles"]["mps2-an386"].size(), 4u);
  // The last of its samples is the one that `compile` counts.
  EXPECT_EQ(verdict["cycles"]["mps2-an386"][3], counted);
  EXPECT_FALSE(verdict["cycles"].contains("host"));
  const std::string of_package =
      text({"verify", "counted", "--reference", digits_path(), "--count-cycles"});
  EXPECT_THAT(of_package, testing::HasSubstr(fmt::format(
                              "mps2-an386: cycles of the last run: about {:.0f}", nominal)));
}

TEST_F(Commands, CyclesAreCountedInAnEmulator) {
  const char* why = "cycles are counted in an emulator";
  EXPECT_TRUE(refused(intarsia({"compile", digits_path(), "-o", "none", "--count-cycles"}),
                      {"--count-cycles", why}));
  EXPECT_FALSE(std::filesystem::exists(path("none")));
  EXPECT_TRUE(refused(intarsia({"verify", digits_path(), "--count-cycles"}),
                      {"--count-cycles", why, "--board"}));
}

// In cycles of the clock that the device's estimate assumes.
TEST_F(Commands, ExplainHasCyclesOfOperators) {
  const Json explained = json({"explain", digits_path(), "--target", "cortex-m4"});
  double mhz = 0;
  for (const Json& clock : explained["assumed_clocks"]) mhz = clock["mhz"].get<double>();
  for (const Json& op : explained["operators"]) {
    const double microseconds = op["offers"][0]["microseconds"].get<double>();
    if (microseconds == 0) {
      EXPECT_FALSE(op.contains("cycles"));
      continue;
    }
    EXPECT_EQ(op["cycles"].get<int64_t>(), std::llround(microseconds * mhz));
  }
  EXPECT_THAT(text({"explain", digits_path(), "--target", "cortex-m4"}),
              testing::StartsWith("operator          kind              runs on"));
}

TEST_F(Commands, RunRefusesCyclesOfWhatHasNoTimings) {
  write_image("in.bin", 7);
  EXPECT_TRUE(
      refused(intarsia({"run", digits_path(), "--input", "in.bin", "--output-dir", "out",
                        "--count-cycles"}),
              {"--count-cycles", "cycles are counted in an emulator, and board host has none"}));
  Json board =
      Json::parse(read_text_file(INTARSIA_SOURCE_DIR "/boards/mps2-an505/board.json").value());
  board["name"] = "without_timings";
  board["cores"] = {{{"name", "cortex-m23"}, {"flags", {"-mcpu=cortex-m23", "-mthumb"}}}};
  write("without_timings/board.json", board.dump());
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--board", "./without_timings", "--input",
                                "in.bin", "--output-dir", "out", "--count-cycles"}),
                      {"--count-cycles", "no timings are known of cortex-m23", "cortex-m55"}));
}

TEST_F(Commands, Run) {
  write_image("in.bin", 3);
  const std::string table =
      text({"run", digits_path(), "--input", "in.bin", "--output-dir", "deep/out"});
  EXPECT_EQ(table, "deep/out/out0.bin: 'scores' i8[1,10] real = 0.00390625 * (q - -128)\n");
  EXPECT_EQ(read("deep/out/out0.bin"), recorded_scores(3));
}

TEST_F(Commands, Verify) {
  EXPECT_TRUE(contains(text({"verify", digits_path()}), "agree on 4 samples"));
  const Json parsed = json({"verify", digits_path(), "--samples", "2"});
  EXPECT_EQ(parsed["samples"], 2);
  EXPECT_EQ(parsed["agree"], true);
}

TEST_F(Commands, Explain) {
  const std::string table = text({"explain", digits_path()});
  EXPECT_TRUE(contains(table, "block1_depthwise")) << table;
  EXPECT_TRUE(contains(table, "\n13 operators on c\n")) << table;
  const Json parsed = json({"explain", digits_path(), "--policy", "cost"});
  ASSERT_GE(parsed["operators"].size(), 12u);
  for (const Json& row : parsed["operators"]) EXPECT_EQ(row["member"], "c");
}

// The last line says which device has what; --refused lists only what a device cannot take.
TEST_F(Commands, ExplainRefused) {
  write("m.graph", std::string(R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 x: i8[1,2,2,4] q(1)
  %1 t: i8[1,2,2,4] q(1)
  %2 y: i8[1,2,2,4] q(0.00390625:-128)
  add a(%0, %0) -> (%1)
  softmax s(%1) -> (%2)
}
entry @main
)"));
  const std::vector<std::string> words{"explain", "m.graph", "--target", "ethos-n78-1tops-4ple"};
  const auto with_refused = [&] {
    std::vector<std::string> more = words;
    more.push_back("--refused");
    return more;
  }();
  EXPECT_TRUE(contains(text(words), "\na "));
  EXPECT_TRUE(contains(text(words), "\n1 operator on ethosn, 1 on c (s)\n")) << text(words);
  const std::string refused = text(with_refused);
  EXPECT_FALSE(contains(refused, "\na ")) << refused;
  EXPECT_TRUE(contains(refused, "\ns ")) << refused;
  EXPECT_TRUE(contains(refused, "not ethosn: ")) << refused;
  EXPECT_EQ(json(words)["operators"].size(), 2u);
  ASSERT_EQ(json(with_refused)["operators"].size(), 1u);
  EXPECT_EQ(json(with_refused)["operators"][0]["name"], "s");
}

// A relu that the convolution does as well; a user's pin keeps it.
TEST_F(Commands, DeadChannelElimination) {
  write("m.graph", std::string(R"(intarsia.graph m
const @0 w = i8[2, 0, 3, 1]
func @main(%0) -> (%3) {
  %0 x: i8[1,2,2,2] q(0.5:1)
  %1 w: i8[2,1,1,2] q(1) = @0
  %2 t: i8[1,2,2,2] q(1:-3)
  %3 y: i8[1,2,2,2] q(1:-3)
  conv2d c(%0, %1) -> (%2)
  relu r(%2) -> (%3)
}
entry @main
)"));
  const std::string table = text({"explain", "m.graph"});
  EXPECT_TRUE(contains(table, "1 of 2 operators")) << table;
  EXPECT_TRUE(contains(table, "r: became the activation of 'c': both clamp")) << table;
  const Json elimination = json({"explain", "m.graph"})["slimming"];
  EXPECT_EQ(elimination["before"]["operators"], 2);
  EXPECT_EQ(elimination["after"]["operators"], 1);
  EXPECT_EQ(elimination["steps"][0]["operator"], "r");
  EXPECT_TRUE(json({"explain", "m.graph", "--keep-dead-channels"})["slimming"]["steps"].empty());
  EXPECT_EQ(json({"explain", "m.graph", "--pin", "r=c"})["operators"].size(), 2u);
  EXPECT_TRUE(
      contains(text({"compile", "m.graph", "-o", "out"}), "1 step without changing a result"));
  EXPECT_TRUE(contains(*read_text_file(path("out/report.txt")),
                       "reduced without changing a result (1 step"));
  EXPECT_TRUE(contains(text({"verify", "m.graph"}), "agree on 4 samples"));
}

// As many files as tensors: 40 inputs and outputs are as good as one.
TEST_F(Commands, ManyInputsAndOutputs) {
  constexpr int kPairs = 40;
  std::string inputs, outputs, of_inputs, of_outputs, nodes;
  for (int i = 0; i < kPairs; ++i) {
    const std::string separator = i == 0 ? "" : ", ", x = "%" + std::to_string(i),
                      y = "%" + std::to_string(kPairs + i);
    inputs += separator + x, outputs += separator + y;
    of_inputs += "  " + x + " x" + std::to_string(i) + ": i8[5] q(0.5:1)\n";
    of_outputs += "  " + y + " y" + std::to_string(i) + ": i8[5] q(0.5:1)\n";
    nodes += "  relu r" + std::to_string(i) + "(" + x + ") -> (" + y + ")\n";
  }
  write("many.graph", "intarsia.graph many\nfunc @main(" + inputs + ") -> (" + outputs + ") {\n" +
                          of_inputs + of_outputs + nodes + "}\nentry @main\n");
  EXPECT_TRUE(contains(text({"verify", "many.graph", "--samples", "1"}), "agree on 1 sample"));
}

TEST_F(Commands, DumpOfEveryStage) {
  EXPECT_TRUE(
      text({"dump", digits_path(), "--stage", "import"}).starts_with("intarsia.graph digits\n"));
  EXPECT_TRUE(
      text({"dump", digits_path(), "--stage", "slim"}).starts_with("intarsia.graph digits\n"));
  const std::string partitioned = text({"dump", digits_path(), "--stage", "partition"});
  EXPECT_TRUE(contains(partitioned, "call ")) << "the entry calls regions";
  EXPECT_TRUE(text({"dump", digits_path(), "--stage", "lower"}).starts_with("module digits "));
  EXPECT_TRUE(contains(text({"dump", digits_path(), "--stage", "plan"}),
                       "pool ram peak=3072 lower_bound=3072 proven=true"));
  EXPECT_TRUE(contains(text({"dump", digits_path(), "--stage", "emit"}), "==== digits.c\n"));
  const Json plan = json({"dump", digits_path(), "--stage", "plan"});
  EXPECT_EQ(plan["pools"][0]["peak"], 3072);
  EXPECT_GE(plan["buffers"].size(), 12u);
}

// What a stage printed is a model like any other.
TEST_F(Commands, TheImportedGraphCompilesToTheSame) {
  write("digits.graph", text({"dump", digits_path(), "--stage", "import"}));
  // But for the file that it was compiled from.
  const auto without_hash = [](std::string emitted) {
    const size_t hash = emitted.find("_MODEL_SHA256 \"");
    EXPECT_NE(hash, std::string::npos);
    return emitted.erase(hash, emitted.find('\n', hash) - hash);
  };
  const std::string from_text = text({"dump", "digits.graph", "--stage", "emit"});
  EXPECT_EQ(without_hash(from_text),
            without_hash(text({"dump", digits_path(), "--stage", "emit"})));
}

TEST_F(Commands, Plan) {
  write("p.csv", std::string("id,lower,upper,size\na,0,2,100\nb,1,3,50\nc,2,4,100\n"));
  EXPECT_TRUE(
      contains(text({"plan", "p.csv", "--capacity", "150", "-o", "o.csv"}), "proven optimal"));
  const std::vector<uint8_t> solution = read("o.csv");
  EXPECT_TRUE(
      std::string(solution.begin(), solution.end()).starts_with("id,lower,upper,size,offset\n"));
  EXPECT_EQ(json({"plan", "p.csv", "-o", "o.csv"})["peak"], 150);

  EXPECT_TRUE(refused(intarsia({"plan", "p.csv", "--capacity", "149", "-o", "none.csv"}),
                      {"p.csv: does not fit in 149 bytes", "--capacity 150"}));
  EXPECT_TRUE(
      refused(intarsia({"plan", "absent.csv", "-o", "none.csv"}), {"absent.csv: cannot be read"}));
  write("bad.csv", std::string("id,lower\na,0\n"));
  EXPECT_TRUE(refused(intarsia({"plan", "bad.csv", "-o", "none.csv"}),
                      {"bad.csv:1: column 'upper' is missing", "column 'size'"}));
  EXPECT_TRUE(refused(intarsia({"plan", "p.csv", "-o", "p.csv/none.csv"}), {"cannot be written"}));
  EXPECT_FALSE(exists("none.csv"));
}

// A disk that is full: what was printed is not all there, which scripts have to see.
TEST_F(Commands, OutputThatCannotBePrintedIsAFailure) {
  if (!std::filesystem::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const std::string& arguments : std::vector<std::string>{
           "targets", "explain " + digits_path(), "explain --json " + digits_path(),
           "dump --stage import --constants all " + digits_path()})
    EXPECT_TRUE(refused(
        program({"sh", "-c", std::string(INTARSIA_PROGRAM) + " " + arguments + " > /dev/full"}),
        {"standard output: cannot be written: No space left on device", "make room"}))
        << arguments;
}

#if !defined(__SANITIZE_ADDRESS__)  // which wants terabytes of addresses
TEST_F(Commands, AShortageOfMemoryIsSaid) {
  write("large.tflite", std::string());
  std::filesystem::resize_file(path("large.tflite"), 300 << 20);
  const std::string command = std::string(INTARSIA_PROGRAM) + " compile large.tflite -o none";
  EXPECT_TRUE(refused(program({"sh", "-c", "ulimit -v 200000 && exec " + command}),
                      {"this machine has not enough memory"}));
  EXPECT_FALSE(exists("none"));
}

// Stacks of 16 GB do not fit into 8 GB of addresses, so that the system starts no thread.
TEST_F(Commands, WorksWithoutASecondThread) {
  write("images.bin", std::string(3 * 64, 0));
  const std::string limited =
      "ulimit -s 16000000 && ulimit -v 8000000 && exec " + std::string(INTARSIA_PROGRAM) + " ";
  for (const std::string& arguments :
       {"compile " + digits_path() + " -o alone",
        "run " + digits_path() + " --input images.bin --batch --output-dir out",
        "sweep " + digits_path() + " --board host --board mps2-an386 --target c"})
    EXPECT_TRUE(done(program({"sh", "-c", limited + arguments}))) << arguments;
}
#endif

TEST_F(Commands, Targets) {
  EXPECT_TRUE(contains(text({"targets"}), "cortex-m55"));
  EXPECT_TRUE(contains(text({"targets", "c"}), "-mcpu"));
  EXPECT_TRUE(contains(text({"targets", "cortex-m4"}), "c -mcpu=cortex-m4"));
  EXPECT_GE(json({"targets"})["tags"].size(), 6u);
  EXPECT_EQ(json({"targets", "c"})["name"], "c");
  EXPECT_EQ(json({"targets", "cortex-m4"})["tag"], "cortex-m4");
  EXPECT_TRUE(refused(intarsia({"targets", "cortex-m44"}), {"did you mean 'cortex-m4'?"}));
  EXPECT_TRUE(refused(intarsia({"targets", "--tags", "absent.json"}), {"absent.json"}));
}

TEST_F(Commands, Boards) {
  const std::string table = text({"boards"});
  for (const char* board :
       {"host", "microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"})
    EXPECT_TRUE(contains(table, board)) << board;
  EXPECT_TRUE(contains(text({"boards", "microbit"}), "flash"));
  EXPECT_GE(json({"boards"}).size(), 7u);
  EXPECT_EQ(json({"boards", "microbit"})[0]["name"], "microbit");
  EXPECT_TRUE(refused(intarsia({"boards", "microbitt"}),
                      {"boards: there is no board 'microbitt'", "did you mean 'microbit'?"}));
}

TEST_F(Commands, ExplainError) {
  EXPECT_TRUE(contains(text({"explain-error", "18"}), "INTARSIA_ERROR_PACKAGE_VERSION (18): "));
  EXPECT_EQ(text({"explain-error", "INTARSIA_ERROR_PACKAGE_VERSION"}),
            text({"explain-error", "18"}));
  EXPECT_EQ(json({"explain-error", "18"})["code"], 18);
  EXPECT_TRUE(refused(intarsia({"explain-error", "12345"}), {"no status code '12345'"}));
  EXPECT_TRUE(refused(intarsia({"explain-error", "INTARSIA_ERROR_PACKAGE_VERSIO"}),
                      {"did you mean 'INTARSIA_ERROR_PACKAGE_VERSION'?"}));
}

TEST_F(Commands, DisasmOfSomethingElse) {
  EXPECT_TRUE(refused(intarsia({"disasm", "absent"}), {"absent: cannot be read"}));
  write("noise", std::vector<uint8_t>(100, 7));
  EXPECT_TRUE(refused(intarsia({"disasm", "noise"}),
                      {"noise: no target of this build knows this kind of stream"}));
  EXPECT_TRUE(refused(intarsia({"disasm", digits_path()}),
                      {"digits.tflite: is a model without command streams", "intarsia dump"}));
  write("empty/notes.txt", std::string("none"));
  EXPECT_TRUE(refused(intarsia({"disasm", "empty"}),
                      {"empty: is a folder without command streams", "a target with an NPU"}));
}

}  // namespace
}  // namespace intarsia::test
