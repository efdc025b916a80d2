// Boards that a debug probe holds, which QEMU's stub stands in for: programs are loaded, run, served and watched over
// the GDB remote serial protocol, without semihosting.
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "emulated_probe.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

class Probe : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    unsetenv("INTARSIA_BOARDS");
    if (!have_program("arm-none-eabi-gcc") || !have_program("qemu-system-arm"))
      GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  }

  // One of our boards, at a probe.
  void make_board(const std::string& like, int port, const std::string& stack_size = "") const {
    Json board = Json::parse(*read_text_file(INTARSIA_SOURCE_DIR "/boards/" + like + "/board.json"),
                             nullptr, false);
    board["name"] = "held";
    board["run"] = {{"gdb", fmt::format("127.0.0.1:{}", port)}, {"reset", {"system_reset"}}};
    if (!stack_size.empty()) board["stack_size"] = stack_size;
    write("held/board.json", board.dump());
  }
  ProcessOutcome run(const std::string& model, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"run",     model,    "--board",      "./held",
                                          "--input", "in.bin", "--output-dir", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return intarsia(arguments);
  }
  // The digits as C, with a statement of ours before the second operator.
  void compile_with(const std::string& statement) const {
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "--board", "./held", "-o", "digits"})));
    std::string source = *read_text_file(path("digits/digits.c"));
    const size_t first = source.find("DIGITS_TRACE(0, ");
    ASSERT_NE(first, std::string::npos);
    const size_t end = source.find('\n', first);
    source.insert(end + 1, statement + "\n");
    write("digits/digits.c", source);
  }
};

struct HeldBoard {
  const char* like;
  const char* note;  // why cycles are not counted
};

class HeldBoards : public Probe, public testing::WithParamInterface<HeldBoard> {};

TEST_P(HeldBoards, RunAndVerify) {
  const EmulatedProbe probe(GetParam().like);
  ASSERT_TRUE(probe.listens());
  make_board(GetParam().like, probe.port());
  // Twice on the same board, which is left in the middle of its last program.
  for (const int image : {3, 5}) {
    write_image("in.bin", image);
    const ProcessOutcome ran = run(digits_path());
    EXPECT_TRUE(done(ran));
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(image));
    EXPECT_TRUE(contains(ran.out, "stack used by a run: ")) << ran.out;
    EXPECT_TRUE(contains(ran.out, std::string("cycles: not counted: ") + GetParam().note))
        << ran.out;
  }
  EXPECT_TRUE(done(run(digits_path(), {"--repeat", "3", "--keep-all"})));
  std::vector<uint8_t> thrice;
  for (int i = 0; i < 3; ++i)
    for (const uint8_t byte : recorded_scores(5)) thrice.push_back(byte);
  EXPECT_EQ(read("out/out0.bin"), thrice);
  const ProcessOutcome verified =
      intarsia({"verify", digits_path(), "--board", "./held", "--samples", "2"});
  EXPECT_TRUE(done(verified));
  EXPECT_TRUE(contains(verified.out, "held")) << verified.out;
}

INSTANTIATE_TEST_SUITE_P(
    Cores, HeldBoards,
    testing::Values(HeldBoard{"microbit", "this core has no counter of cycles"},
                    HeldBoard{"mps2-an386", "the core's counter of cycles stands still"},
                    HeldBoard{"mps3-an547", "the core's counter of cycles stands still"}),
    [](const auto& info) {
      std::string name = info.param.like;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST_F(Probe, CyclesThatTheCoreCounts) {
  const EmulatedProbe probe("mps2-an386");
  ASSERT_TRUE(probe.listens());
  const CountingProxy counting(probe.port(), 1234);
  make_board("mps2-an386", counting.port());
  write_image("in.bin", 3);
  const ProcessOutcome ran = run(digits_path(), {"--repeat", "2"});
  EXPECT_TRUE(done(ran));
  EXPECT_TRUE(contains(ran.out, "cycles of the last run: 2468\n")) << ran.out;
  const Json json = Json::parse(run(digits_path(), {"--json"}).out, nullptr, false);
  EXPECT_EQ(json["counted_cycles"], Json::array({3702}));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
}

TEST_F(Probe, AFaultSaysWhereAndWhy) {
  const EmulatedProbe probe("mps2-an386");
  ASSERT_TRUE(probe.listens());
  make_board("mps2-an386", probe.port());
  write_image("in.bin", 3);
  compile_with("*(volatile int *)0x90000000 = 1;");
  for (int times = 0; times < 2; ++times) {
    const ProcessOutcome outcome = run("digits");
    EXPECT_TRUE(refused(
        outcome, {"digits on board held: the processor took a fault",
                  "no memory answers: address 0x90000000", "in operator 1 '", " at digits_run",
                  "r0 to r3: ", "r12, sp, lr, pc: ", "cfsr, hfsr, exception: "}));
  }
  EXPECT_FALSE(exists("out"));
  compile_with("");
  EXPECT_TRUE(done(run("digits"))) << "the board is reset";
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
}

TEST_F(Probe, AStackThatIsTooSmall) {
  const EmulatedProbe probe("mps2-an386");
  ASSERT_TRUE(probe.listens());
  make_board("mps2-an386", probe.port());
  write_image("in.bin", 3);
  compile_with("{ volatile char deep[20000]; deep[0] = 1; deep[19999] = deep[0]; }");
  EXPECT_TRUE(
      refused(run("digits"), {"digits on board held: the processor took a fault", "stack"}));
}

TEST_F(Probe, AProgramThatDoesNotEnd) {
  const EmulatedProbe probe("mps2-an386");
  ASSERT_TRUE(probe.listens());
  make_board("mps2-an386", probe.port());
  write_image("in.bin", 3);
  compile_with("for (;;) __asm__ volatile(\"\");");
  EXPECT_TRUE(refused(run("digits", {"--timeout", "8"}),
                      {"digits on board held: the program was stopped after 8 s", "in operator 1 '",
                       " at digits_run", "--timeout SECONDS"}));
}

TEST_F(Probe, TheConnectionIsLost) {
  EmulatedProbe probe("mps2-an386");
  ASSERT_TRUE(probe.listens());
  make_board("mps2-an386", probe.port());
  write_image("in.bin", 3);
  EXPECT_TRUE(done(run(digits_path())));
  std::thread power_cut([&] {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    probe.end();
  });
  const ProcessOutcome outcome = run(digits_path(), {"--repeat", "1000000"});
  power_cut.join();
  EXPECT_TRUE(refused(outcome, {fmt::format("the debug probe at 127.0.0.1:{}", probe.port())}));
  EXPECT_TRUE(contains(outcome.err, "the connection is lost") ||
              contains(outcome.err, "nobody answers there"))
      << outcome.err;
}

TEST_F(Probe, NobodyIsThere) {
  const int port = free_port();
  make_board("mps2-an386", port);
  write_image("in.bin", 3);
  EXPECT_TRUE(refused(run(digits_path()),
                      {fmt::format("the debug probe at 127.0.0.1:{}: nobody answers there", port),
                       "start the probe's GDB server"}));
  EXPECT_TRUE(refused(intarsia({"verify", digits_path(), "--board", "./held", "--samples", "1"}),
                      {"nobody answers there"}));
  EXPECT_TRUE(refused(run(digits_path(), {"--count-instructions"}),
                      {"--count-instructions: instructions are counted in an emulator"}));
  EXPECT_TRUE(contains(intarsia({"boards", "./held"}).out,
                       fmt::format("the board itself, by the debug probe at 127.0.0.1:{}", port)));
  EXPECT_TRUE(done(intarsia({"build", digits_path(), "--board", "./held", "-o", "fw.elf"})));
}

}  // namespace
}  // namespace intarsia::test
