// A model for two CPUs: its parts in one program as threads, under the thread sanitizer, each as firmware of its
// own, and on a board with two cores.
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "multicore_testing.h"
#include "needs.h"
#include "support/c_identifier.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Multicore, ComputeWhatOneProgramComputes) {
  write_images();
  ASSERT_TRUE(
      done(with_split({"run", "--native", digits_path(), "--input", "images.bin", "--output-dir",
                       "out", "--repeat", std::to_string(kImages), "--keep-all"},
                      "c -mcpu=cortex-m0", "c -mcpu=cortex-m7")));
  EXPECT_EQ(read("out/out0.bin"), all_scores());
}

TEST_F(Multicore, AreAFolderThatRuns) {
  write_image("image.bin", 5);
  const ProcessOutcome compiled = with_split({"compile", digits_path(), "-o", "digits"}, "c", "c");
  ASSERT_TRUE(done(compiled));
  EXPECT_THAT(compiled.out, HasSubstr("digits in 2 parts"));
  EXPECT_THAT(*read_text_file(path("digits/report.txt")), HasSubstr("mailbox of"));
  ASSERT_TRUE(done(intarsia({"run", "digits", "--input", "image.bin", "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(5));
  EXPECT_EQ(read_folder("digits/low_power_cpu").at("digits_mailbox.h"),
            read_folder("digits/inference_cpu").at("digits_mailbox.h"));
}

// What the report, the summary, `check` and `sweep` say of RAM is what the parts' headers ask for: two stages of one part
// work in one block.
TEST_F(Multicore, TakeTheRamThatTheirHeadersName) {
  ASSERT_TRUE(done(with_split({"compile", digits_path(), "-o", "digits"}, "c", "c")));
  const auto report = nlohmann::json::parse(*read_text_file(path("digits/report.json")));
  ASSERT_EQ(report["stages"].size(), 3u);
  ASSERT_EQ(report["blocks"].size(), 2u);
  int64_t bytes = report["mailbox_bytes"];
  for (const auto& block : report["blocks"]) {
    const std::string cpu = block["member"], prefix = "DIGITS_" + upper_case(cpu);
    EXPECT_THAT(
        *read_text_file(path("digits/" + cpu + "/digits_" + cpu + ".h")),
        HasSubstr(fmt::format("#define {}_RAM_BYTES {}\n", prefix, block["bytes"].get<int64_t>())));
    bytes += block["bytes"].get<int64_t>();
  }
  const ProcessOutcome checked =
      with_split({"check", digits_path(), "--max-ram", std::to_string(bytes)}, "c", "c");
  EXPECT_TRUE(done(checked));
  const ProcessOutcome exceeded =
      with_split({"check", digits_path(), "--max-ram", std::to_string(bytes - 1)}, "c", "c");
  EXPECT_EQ(exceeded.exit_code, 1);
  EXPECT_THAT(exceeded.out, HasSubstr("1 too many"));
}

TEST_F(Multicore, VerifyAndStayOneProgramWhenOneCpuRunsAll) {
  ASSERT_TRUE(done(with_split({"verify", digits_path()}, "c", "c")));
  const ProcessOutcome whole =
      intarsia({"compile", digits_path(), "--target", "a: c; b: c", "-o", "whole"});
  ASSERT_TRUE(done(whole));
  EXPECT_FALSE(exists("whole/digits_mailbox.h"));
}

// A stage with state keeps it, in memory that no other stage is given.
constexpr const char* kLastThree = R"(intarsia.graph last_three
const @0 one = f32[1]
const @1 ones = f32[1, 1, 1]
const @2 none = f32[0]
func @main(%0) -> (%6) {
  %0 value: f32[1,1]
  %1 feature: f32[1,1] = @0
  %2 time: f32[1,3] = @1
  %3 bias: f32[1] = @2
  %4 memory: f32[1,3] variable
  %5 total: f32[1,1]
  %6 positive: f32[1,1]
  %7 doubled: f32[1,1]
  add twice(%0, %0) -> (%7)
  svdf layer(%7, %1, %2, %3, %4) -> (%5, %4)
  relu rectify(%5) -> (%6)
}
entry @main
)";

TEST_F(Multicore, KeepTheirState) {
  write("last_three.graph", std::string(kLastThree));
  std::vector<float> values = {1, 2, 3, 4, -100, 6};
  write("values.bin",
        std::vector<uint8_t>(reinterpret_cast<const uint8_t*>(values.data()),
                             reinterpret_cast<const uint8_t*>(values.data() + values.size())));
  ASSERT_TRUE(
      done(intarsia({"run", "--native", "last_three.graph", "--target", "a: c; b: c", "--pin",
                     "twice=a", "--pin", "layer=b", "--pin", "rectify=a", "--input", "values.bin",
                     "--output-dir", "out", "--repeat", "6", "--keep-all"})));
  const std::vector<uint8_t> bytes = read("out/out0.bin");
  std::vector<float> sums(bytes.size() / 4);
  std::memcpy(sums.data(), bytes.data(), bytes.size());
  EXPECT_EQ(sums, (std::vector<float>{2, 6, 12, 18, 0, 0}));
}

// One part reads what another one wrote in the inference before.
constexpr const char* kRunningSum = R"(intarsia.graph running_sum
const @0 start = f32[100]
func @main(%0) -> (%4) {
  %0 value: f32[1]
  %1 sum: f32[1] variable initial @0
  %2 before: f32[1]
  %3 after: f32[1]
  %4 positive: f32[1]
  read_variable recall(%1) -> (%2)
  add accumulate(%0, %2) -> (%3)
  assign_variable remember(%3) -> (%1)
  relu rectify(%3) -> (%4)
}
entry @main
)";

TEST_F(Multicore, PassStateOnToTheNextInference) {
  write("sum.graph", std::string(kRunningSum));
  const std::vector<float> values = {1, 2, -200, 4};
  write("values.bin",
        std::vector<uint8_t>(reinterpret_cast<const uint8_t*>(values.data()),
                             reinterpret_cast<const uint8_t*>(values.data() + values.size())));
  for (const std::string split : {"abab", "aaba", "baab"}) {
    std::vector<std::string> command = {"run",        "--native", "sum.graph",  "--target",
                                        "a: c; b: c", "--input",  "values.bin", "--output-dir",
                                        "out",        "--repeat", "4",          "--keep-all"};
    const char* operators[] = {"recall", "accumulate", "remember", "rectify"};
    for (size_t i = 0; i < split.size(); ++i)
      command.insert(command.end(), {"--pin", fmt::format("{}={}", operators[i], split[i])});
    ASSERT_TRUE(done(intarsia(command))) << split;
    const std::vector<uint8_t> bytes = read("out/out0.bin");
    std::vector<float> sums(bytes.size() / 4);
    std::memcpy(sums.data(), bytes.data(), bytes.size());
    EXPECT_EQ(sums, (std::vector<float>{101, 103, 0, 0})) << split;
  }
}

constexpr const char* kBranch = R"(intarsia.graph branch
func @main(%0, %1) -> (%4, %3, %4, %1) {
  %0 flag: bool[1]
  %1 x: f32[3]
  %2 y: f32[3]
  %3 z: f32[3]
  %4 w: f32[3]
  if choose(%0, %1) -> (%2, %3) {then_branch=twice, else_branch=same}
  relu after(%2) -> (%4)
}
func @twice(%0) -> (%1, %0) {
  %0 x: f32[3]
  %1 y: f32[3]
  add double(%0, %0) -> (%1)
}
func @same(%0) -> (%0, %1) {
  %0 x: f32[3]
  %1 y: f32[3]
  neg minus(%0) -> (%1)
}
entry @main
)";

// A branch goes to its part with what it runs; an output may come twice, or be an input.
TEST_F(Multicore, TakeBranchesAndAnyOutputs) {
  write("branch.graph", std::string(kBranch));
  for (const std::vector<std::string>& choice : std::vector<std::vector<std::string>>{
           {"--target", "c"},
           {"--target", "a: c; b: c", "--pin", "choose=b", "--pin", "after=a"}}) {
    std::vector<std::string> command = {"verify", "branch.graph"};
    command.insert(command.end(), choice.begin(), choice.end());
    EXPECT_TRUE(done(intarsia(command))) << choice[1];
  }
}

TEST_F(Multicore, HaveNamesOfTheirOwn) {
  const auto compiled = [&](const std::string& first, const std::string& second) {
    return intarsia({"compile", digits_path(), "--target", first + ": c; " + second + ": c",
                     "--pin", "stem=" + first, "-o", "digits"});
  };
  EXPECT_TRUE(refused(compiled("a", "mailbox"),
                      {"--target: device 'mailbox': the parts share something called 'mailbox'",
                       "give it another name"}));
  EXPECT_TRUE(refused(compiled("stage1", "b"), {"--target: device 'stage1'"}));
  EXPECT_TRUE(
      refused(compiled("a-b", "a.b"), {"--target: device 'a.b': is 'a_b' in C, as 'a-b' is"}));
  EXPECT_FALSE(exists("digits"));
}

// One for each stage, of which the last is the first CPU's again.
TEST_F(Multicore, HaveTheirPlansInOneDocument) {
  const ProcessOutcome dumped =
      with_split({"dump", digits_path(), "--stage", "plan", "--json"}, "c", "c");
  ASSERT_TRUE(done(dumped));
  const auto plans = nlohmann::json::parse(dumped.out, nullptr, false);
  ASSERT_TRUE(plans.is_array()) << dumped.out;
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0]["cpu"], "low_power_cpu");
  EXPECT_EQ(plans[1]["cpu"], "inference_cpu");
  EXPECT_EQ(plans[2]["cpu"], "low_power_cpu");
  EXPECT_GT(plans[1]["pools"][0]["peak"], 0);
}

// As many devices as a target may have.
TEST_F(Multicore, MayBeMany) {
  std::string target = "m0: c";
  for (int i = 1; i < 64; ++i) target += fmt::format("; m{}: c", i);
  const ProcessOutcome explained =
      intarsia({"explain", digits_path(), "--target", target, "--pin", "stem=m40", "--pin",
                "scores=m63", "--policy", "cost", "--json"});
  ASSERT_TRUE(done(explained));
  const auto json = nlohmann::json::parse(explained.out);
  EXPECT_EQ(json["operators"][0]["member"], "m40");
  EXPECT_EQ(json["operators"].back()["member"], "m63");
}

TEST_F(Multicore, NeedNoInputs) {
  write("constant.graph", std::string("intarsia.graph constant\nconst @0 one = f32[1, -2]\nfunc "
                                      "@main() -> (%2) {\n  %0 a: f32[2] = @0\n"
                                      "  %1 b: f32[2]\n  %2 c: f32[2]\n  relu first(%0) -> (%1)\n  "
                                      "neg second(%1) -> (%2)\n}\nentry @main\n"));
  EXPECT_TRUE(done(intarsia({"verify", "constant.graph", "--keep-dead-channels", "--target",
                             "a: c; b: c", "--pin", "first=b", "--pin", "second=a"})));
}

TEST_F(Multicore, PinsThatCannotHoldSayWhy) {
  write("branch.graph", std::string(kBranch));
  const auto explained = [&](const std::vector<std::string>& pins) {
    std::vector<std::string> command = {"explain", "branch.graph", "--target", "a: c; b: c"};
    command.insert(command.end(), pins.begin(), pins.end());
    return intarsia(command);
  };
  EXPECT_TRUE(
      refused(explained({"--pin", "minus=a"}),
              {"branch: operator 'minus' (neg): is pinned to 'a', but runs inside 'choose' (if)",
               "pin 'choose' instead"}));
  EXPECT_TRUE(refused(explained({"--pin", "after=a", "--pin", "after=b"}),
                      {"--pin: 'after' is pinned to 'a' already", "keep one of the two"}));
  write("pins.txt", std::string("after=a\n# twice\nafter=b\n"));
  EXPECT_TRUE(
      refused(explained({"--pins", "pins.txt"}), {"pins.txt:3: 'after' is pinned to 'a' already"}));
  write("pins.txt", std::string("after=a\n"));
  const ProcessOutcome overridden = explained({"--pins", "pins.txt", "--pin", "after=b"});
  EXPECT_TRUE(done(overridden));
  EXPECT_THAT(overridden.out, HasSubstr("the operator is pinned to b"));
}

TEST_F(Multicore, AsThreadsDoNotRace) {
  write_images();
  ASSERT_TRUE(done(with_split({"compile", digits_path(), "-o", "digits"}, "c -mcpu=cortex-m0",
                              "c -mcpu=cortex-m7")));
  bool ran = false;
  run_under_thread_sanitizer("digits", ran);
  if (!ran && !HasFatalFailure())
    GTEST_SKIP() << needs("thread-sanitizer") << "it does not run here";
  EXPECT_EQ(read("scores.bin"), all_scores());
}

// An NPU belongs to the CPU before it: its streams, driver and memory are in that CPU's part.
TEST_F(Multicore, HaveTheDevicesOfTheirCpu) {
  write_images();
  ASSERT_TRUE(
      done(with_split({"run", "--native", digits_path(), "--input", "images.bin", "--output-dir",
                       "out", "--repeat", std::to_string(kImages), "--keep-all"},
                      "c -mcpu=cortex-m0", kNpuInPart)));
  EXPECT_EQ(read("out/out0.bin"), all_scores());
  ASSERT_TRUE(
      done(with_split({"verify", digits_path()}, "c -mcpu=cortex-m0 + ethos-u55-32", kNpuInPart)));
  ASSERT_TRUE(done(
      with_split({"compile", digits_path(), "-o", "digits"}, "c -mcpu=cortex-m0", kNpuInPart)));
  EXPECT_TRUE(exists("digits/inference_cpu/intarsia/targets/ethos_u/driver.cpp"));
  EXPECT_FALSE(exists("digits/low_power_cpu/intarsia/targets/ethos_u"));
  for (const auto& [name, text] : read_folder("digits/inference_cpu"))
    EXPECT_THAT(name, Not(HasSubstr("simulator/")));
  const ProcessOutcome explained =
      with_split({"explain", digits_path()}, "c -mcpu=cortex-m0", kNpuInPart);
  EXPECT_THAT(explained.out, HasSubstr("not inference_cpu: ethos-u comes first in the target"));
}

// A trace has a process for each device of every part.
TEST_F(Multicore, TraceTheDevicesOfAllCpus) {
  write_image("image.bin", 0);
  ASSERT_TRUE(done(with_split({"run", digits_path(), "--input", "image.bin", "--output-dir", "out",
                               "--pin", "widen=ethos-u.2", "--trace", "trace.json"},
                              "c -mcpu=cortex-m0 + ethos-u55-32", kNpuInPart)));
  const std::vector<uint8_t> text = read("trace.json");
  const auto trace = nlohmann::json::parse(text.begin(), text.end());
  std::map<std::string, std::set<int>> processes;
  for (const auto& event : trace["traceEvents"])
    if (event["name"] == "process_name")
      processes[event["args"]["name"].get<std::string>()].insert(event["pid"].get<int>());
  ASSERT_EQ(processes.count("ethos-u55-32"), 1U);
  ASSERT_EQ(processes.count("ethos-u55-128"), 1U);
  for (const int process : processes["ethos-u55-128"])
    EXPECT_FALSE(processes["ethos-u55-32"].contains(process));
}

constexpr const char* kStrangerMain = R"(#include "digits_low_power_cpu.h"

static _Alignas(16) uint8_t ram[DIGITS_LOW_POWER_CPU_RAM_BYTES];
static struct digits_mailbox mailbox;
static struct digits_low_power_cpu part;

int main(void) {
  const struct digits_low_power_cpu_resources resources = {.ram = ram};
  const void *const inputs[] = {ram};
  if (digits_low_power_cpu_init(&part, &resources, &mailbox) != INTARSIA_ERROR_PART_MISMATCH) return 1;
  digits_mailbox_init(&mailbox);
  if (digits_low_power_cpu_init(&part, &resources, &mailbox) != INTARSIA_OK) return 2;
  if (digits_low_power_cpu_step(&part) != INTARSIA_PENDING) return 3; /* nothing was submitted */
  if (digits_submit(&mailbox, inputs) != INTARSIA_OK) return 4;
  if (digits_submit(&mailbox, inputs) != INTARSIA_OK) return 5;
  if (digits_submit(&mailbox, inputs) != INTARSIA_PENDING) return 6; /* two messages are what a channel holds */
  if (digits_low_power_cpu_step(&part) != INTARSIA_OK) return 7;
  if (digits_submit(&mailbox, inputs) != INTARSIA_OK) return 8;
  if (digits_low_power_cpu_step(&part) != INTARSIA_OK) return 9;
  if (digits_low_power_cpu_step(&part) != INTARSIA_PENDING) return 10; /* nobody takes its results */
  mailbox.signature ^= 1u;
  return digits_low_power_cpu_init(&part, &resources, &mailbox) == INTARSIA_ERROR_PART_MISMATCH ? 0 : 11;
}
)";

TEST_F(Multicore, WaitForEachOtherAndRefuseStrangers) {
  ASSERT_TRUE(done(with_split({"compile", digits_path(), "-o", "digits"}, "c", "c")));
  write("main.c", std::string(kStrangerMain));
  std::vector<std::string> command = {"cc",           "-std=c11", "-Wall",       "-Wextra",
                                      "-Wconversion", "-Werror",  path("main.c")};
  const std::vector<std::string> sources = sources_of("digits/low_power_cpu");
  command.insert(command.end(), sources.begin(), sources.end());
  command.insert(command.end(), {"-lm", "-o", path("alone")});
  const ProcessOutcome built = program(command);
  ASSERT_TRUE(built.succeeded()) << built.err;
  EXPECT_TRUE(done(program({path("alone")})));
}

// Each part for its own core, with nothing of the other's.
TEST_F(Multicore, AreFirmwareEachForItsCore) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  ASSERT_TRUE(done(with_split({"compile", digits_path(), "-o", "digits"}, "c -mcpu=cortex-m0",
                              "c -mcpu=cortex-m7")));
  const std::map<std::string, std::vector<std::string>> parts = {
      {"low_power_cpu", {"-mcpu=cortex-m0"}},
      {"inference_cpu", {"-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"}}};
  for (const auto& [part, flags] : parts) {
    std::vector<std::string> command = {"arm-none-eabi-gcc",
                                        "-mthumb",
                                        "-Os",
                                        "-std=c11",
                                        "-Wall",
                                        "-Wextra",
                                        "-Wconversion",
                                        "-Werror",
                                        "-ffunction-sections",
                                        "-nostdlib",
                                        "-r",
                                        "-Wl,--gc-sections",
                                        "-Wl,-e,digits_" + part + "_step",
                                        "-Wl,-u,digits_" + part + "_init"};
    command.insert(command.end(), flags.begin(), flags.end());
    const std::vector<std::string> sources = sources_of("digits/" + part);
    command.insert(command.end(), sources.begin(), sources.end());
    command.insert(command.end(), {"-lgcc", "-o", path(part + ".elf")});
    const ProcessOutcome built = program(command);
    ASSERT_TRUE(built.succeeded()) << built.err;
    const ProcessOutcome undefined = program({"arm-none-eabi-nm", "-u", path(part + ".elf")});
    for (const char* name : {"digits_", "intarsia_"})
      EXPECT_EQ(undefined.out.find(name), std::string::npos) << undefined.out;
  }
}

TEST_F(Multicore, RunOnABoardWithTwoCores) {
  if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  write_images();
  ASSERT_TRUE(
      done(with_split({"run", digits_path(), "--board", "mps2-an521", "--input", "images.bin",
                       "--output-dir", "out", "--repeat", std::to_string(kImages), "--keep-all"},
                      "c -mcpu=cortex-m33 -mattr=-dsp", "c -mcpu=cortex-m33 -mattr=-dsp")));
  EXPECT_EQ(read("out/out0.bin"), all_scores());
}

// Each stage fits into the small memory, and not what both parts are given together: said when the model is compiled, not by
// the linker.
TEST_F(Multicore, ShareTheMemoriesOfABoard) {
  ASSERT_TRUE(done(intarsia({"boards", "new", "small", "--like", "mps2-an521"})));
  auto board = nlohmann::json::parse(*read_text_file(path("small/board.json")));
  for (auto& memory : board["memories"])
    if (memory["name"] == "psram") memory["size"] = 5120;
  board["roles"]["activations"] = {"psram"};
  write("small/board.json", board.dump());
  const auto compiled = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"compile", digits_path(), "--board",
                                        "./small", "-o",          "out"};
    command.insert(command.end(), more.begin(), more.end());
    return with_split(command, "c -mcpu=cortex-m33 -mattr=-dsp,-fp", "c -mcpu=cortex-m33");
  };
  EXPECT_TRUE(refused(compiled({}), {"digits: memory pool 'psram': the blocks of the parts need",
                                     "of 'low_power_cpu'", "the pool has 5120", "--ram-budget"}));
  EXPECT_FALSE(exists("out"));
  EXPECT_TRUE(done(compiled({"--ram-budget", "2400"})));
}

// A budget holds for each of the blocks: what is too little for several of them is said of each.
TEST_F(Multicore, ABudgetThatSeveralBlocksExceedIsRefusedForEach) {
  const auto compiled = [&](const char* budget) {
    return with_split({"compile", digits_path(), "--ram-budget", budget, "-o", "out"},
                      "c -mcpu=cortex-m33", "c -mcpu=cortex-m33");
  };
  EXPECT_TRUE(refused(compiled("300"), {"digits_stage0: RAM budget of 300 bytes: cannot be met",
                                        "digits_stage1: RAM budget of 300 bytes: cannot be met"}));
  EXPECT_FALSE(exists("out"));
}

TEST_F(Multicore, NeedACoreEach) {
  write_images();
  const ProcessOutcome outcome =
      with_split({"run", digits_path(), "--board", "mps2-an386", "--input", "images.bin",
                  "--output-dir", "out", "--repeat", std::to_string(kImages)},
                 "c -mcpu=cortex-m4", "c -mcpu=cortex-m4");
  EXPECT_TRUE(refused(outcome, {"--board mps2-an386: the board has one core",
                                "low_power_cpu, inference_cpu", "--board host"}));
}

}  // namespace
}  // namespace intarsia::test
