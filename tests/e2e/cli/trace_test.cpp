// `run --trace`: a row for operations and one for transfers, each command of the stream once, at the cycles that the
// simulator counts.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "needs.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

constexpr double kMegahertz = 500;  // of the Ethos-U55 in its system
constexpr double kDigits = 0.002;   // microseconds: times are written with three digits

struct Traced {
  std::vector<Json> events;         // with a duration
  std::map<int, std::string> rows;  // by number
  int64_t cycles = 0;               // that `run` prints

  std::vector<Json> of_row(const std::string& name) const {
    std::vector<Json> found;
    for (const Json& event : events)
      if (rows.at(event["tid"]) == name) found.push_back(event);
    return found;
  }
};

class TraceOfRun : public Cli {
 protected:
  // Of separable_s8 or a stream of it, whose outputs have to be the recorded ones.
  Traced traced(const std::string& file) const {
    const auto folder = golden_folder() / "models/separable_s8";
    const ProcessOutcome outcome =
        intarsia({"run", file, "--target", "ethos-u55-128", "--input", folder / "in1_0.bin",
                  "--output-dir", "out", "--trace", "trace.json"});
    EXPECT_TRUE(done(outcome));
    EXPECT_EQ(read("out/out0.bin"), read_bytes(folder / "out1_0.bin"));
    Traced result;
    const std::vector<uint8_t> text = read("trace.json");
    const Json trace = Json::parse(text.begin(), text.end(), nullptr, false);
    if (!trace.contains("traceEvents")) return result;
    for (const Json& event : trace["traceEvents"])
      if (event["ph"] == "X")
        result.events.push_back(event);
      else if (event["name"] == "thread_name")
        result.rows[event["tid"]] = event["args"]["name"];
    const size_t at = outcome.out.find(" at 500 MHz: ");
    if (at != std::string::npos) result.cycles = std::atoll(&outcome.out[at + 13]);
    return result;
  }
  // Offsets of the commands that do something, as the disassembler has them.
  std::vector<std::string> operations_of(const std::string& file) const {
    std::vector<std::string> offsets;
    std::istringstream lines(intarsia({"disasm", file}).out);
    for (std::string line; std::getline(lines, line);) {
      const size_t name = line.find(" OP_");
      if (name == std::string::npos || line.find("_WAIT ") != std::string::npos ||
          line.find("OP_STOP") != std::string::npos)
        continue;
      offsets.push_back(fmt::format("{:#x}", std::stoul(line.substr(0, 6), nullptr, 16)));
    }
    return offsets;
  }
};

// One after the other, as long as their cycles say, to the cycle that `run` prints.
void expect_in_order(const Traced& traced) {
  double last = 0;
  for (const char* row : {"operations", "DMA"}) {
    double end = 0;
    for (const Json& event : traced.of_row(row)) {
      const double begin = event["ts"], length = event["dur"], cycles = event["args"]["cycles"];
      EXPECT_GE(begin, end - kDigits) << event;
      EXPECT_GT(cycles, 0) << event;
      EXPECT_NEAR(length, cycles / kMegahertz, kDigits) << event;
      end = begin + length;
    }
    EXPECT_GT(end, 0) << row;
    last = std::max(last, end);
  }
  EXPECT_NEAR(last * kMegahertz, static_cast<double>(traced.cycles), 1 + kDigits * kMegahertz);
}

TEST_F(TraceOfRun, HasEveryCommandOfAStreamOnce) {
  const std::string file =
      vela_stream(golden_folder(), "separable_s8/ethos-u55-128-Shared_Sram-Performance").string();
  const Traced run = traced(file);
  expect_in_order(run);
  std::vector<std::string> offsets;
  for (const char* row : {"operations", "DMA"})
    for (const Json& event : run.of_row(row)) offsets.push_back(event["args"]["offset"]);
  EXPECT_EQ(offsets.size(), 64u);
  EXPECT_THAT(offsets, testing::UnorderedElementsAreArray(operations_of(file)));
  EXPECT_EQ(run.of_row("DMA").size(), 16u);
  for (const Json& event : run.of_row("DMA")) EXPECT_EQ(event["args"]["command"], "OP_DMA_START");
}

TEST_F(TraceOfRun, NamesTheOperatorsOfTheModel) {
  const Traced run = traced((golden_folder() / "models/separable_s8/model.tflite").string());
  expect_in_order(run);
  std::set<std::string> names;
  for (const Json& event : run.of_row("operations")) names.insert(event["name"]);
  EXPECT_THAT(names, testing::UnorderedElementsAre("stem", "block0_depthwise", "block0_pointwise",
                                                   "block1_depthwise", "block1_pointwise",
                                                   "block2_depthwise", "block2_pointwise",
                                                   "block3_depthwise", "block3_pointwise",
                                                   "average", "classifier", "scores"));
}

// Streams of the device, and the CPU's operators between them: nothing at the same time, whichever program runs it.
TEST_F(TraceOfRun, HasOperatorsOfTheCpuBetweenStreams) {
  write_image("in.bin", 3);
  const std::vector<std::string> choice = {
      "--target", "cortex-m55+ethos-u55-128", "--pin", "max_pool=c", "--pin", "widen=c"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_TRUE(done(intarsia(with({"compile", digits_path(), "-o", "folder"}, choice))));
  const std::vector<std::string> common = {"--input",  "in.bin", "--output-dir", "out",
                                           "--repeat", "2",      "--trace",      "trace.json"};
  std::string first;
  for (const std::vector<std::string>& words :
       {with(with({"run", digits_path()}, choice), common), with({"run", "folder"}, common)}) {
    ASSERT_TRUE(done(intarsia(words)));
    const std::vector<uint8_t> bytes = read("trace.json");
    const std::string text(bytes.begin(), bytes.end());
    if (first.empty()) first = text;
    EXPECT_EQ(text, first);
    const Json trace = Json::parse(text, nullptr, false);
    ASSERT_TRUE(trace.contains("traceEvents"));
    std::vector<std::string> order;
    std::map<int, std::string> processes;
    double end = 0;
    std::vector<std::pair<double, Json>> sorted;
    for (const Json& event : trace["traceEvents"])
      if (event["name"] == "process_name")
        processes[event["pid"]] = event["args"]["name"];
      else if (event["ph"] == "X" && event["name"] != "wait" && event["tid"] == 1)
        sorted.emplace_back(event["ts"], event);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [begin, event] : sorted) {
      EXPECT_GE(begin, end - kDigits) << event;
      end = begin + event["dur"].get<double>();
      const std::string name = event["name"];
      if (order.empty() || order.back() != name) order.push_back(name);
      const bool on_cpu = name == "max_pool" || name == "widen";
      EXPECT_EQ(processes.at(event["pid"]), on_cpu ? "c, estimated at 400 MHz" : "ethos-u55-128");
      if (on_cpu) {
        EXPECT_NEAR(event["dur"], event["args"]["cycles"].get<double>() / 400, kDigits);
      }
    }
    const std::vector<std::string> once = {"stem",
                                           "block1_depthwise",
                                           "block1_pointwise",
                                           "block1_add",
                                           "max_pool",
                                           "widen",
                                           "block2_depthwise",
                                           "block2_pointwise",
                                           "block2_add",
                                           "average_pool",
                                           "classifier",
                                           "scores"};
    std::vector<std::string> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_EQ(order, twice);
  }
}

// As for the file itself: also of a folder, on a board with the simulated device beside its emulator.
TEST_F(TraceOfRun, NamesTheOperatorsOfAFolderOnABoard) {
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--board", "mps3-an547", "--target",
                             "cortex-m55+ethos-u55-128", "--pin", "max_pool=c", "-o", "folder"})));
  write_image("in.bin", 3);
  const auto table = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", "--input", "in.bin", "--output-dir", "out"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessOutcome outcome = intarsia(words);
    EXPECT_TRUE(done(outcome));
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
    std::istringstream lines(outcome.out);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);)
      if (line.find('%') != std::string::npos && line.starts_with("  "))
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    return names;
  };
  const std::vector<std::string> on_board = table({"folder"});
  // With the clock and the memory of the board.
  EXPECT_EQ(on_board,
            table({digits_path(), "--target", "cortex-m55+ethos-u55-128 -system=32:8/32/16/16",
                   "--pin", "max_pool=c"}));
  EXPECT_THAT(on_board, testing::Contains("block1_depthwise"));
  EXPECT_EQ(std::set<std::string>(on_board.begin(), on_board.end()).size(), on_board.size())
      << "each operator once";
}

TEST_F(TraceOfRun, OfABoardThatCannotNamesThoseThatCan) {
  write_image("in.bin", 3);
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--board", "mps2-an386", "--input", "in.bin",
                                "--output-dir", "out", "--trace", "t.json"}),
                      {"--trace: ", "mps2-an386",
                       "these boards can trace: aarch64-linux, host, mps3-an547, x86_64-linux"}));
}

}  // namespace
}  // namespace intarsia::test
