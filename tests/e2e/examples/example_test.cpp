// Each application's one command: its firmware is built and runs in QEMU on the recorded data, and prints what the
// script beside it has computed with TensorFlow Lite Micro's reference kernels and the same fixed-point arithmetic in numpy.
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "needs.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

bool have(const std::string& program) {
  const Result<ProcessOutcome> outcome = run_process({program, "--version"});
  return outcome.ok() && outcome->succeeded();
}

class Example : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"arm-none-eabi-gcc", "qemu-system-arm"}) {
      if (!have(program)) GTEST_SKIP() << needs("cross-toolchain") << "no " << program;
    }
    if (!have("make")) GTEST_SKIP() << needs("make") << "it is not installed";
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(folder).value());
  }

  // As somebody has it who starts from an application: a copy of its folder, of common/ and of what it is made of.
  void copy(const std::vector<std::string>& folders) const {
    for (const std::string& folder : folders)
      fs::copy(fs::path(INTARSIA_EXAMPLES) / folder, fs::path(folder_->path()) / folder,
               fs::copy_options::recursive);
  }

  ProcessOutcome run(const std::string& name, const std::string& flags = "") const {
    ProcessOptions options;
    options.timeout = 10min;
    options.environment = {"INTARSIA_PROGRAM=" INTARSIA_PROGRAM,
                           "BUILD=" + folder_->path() + "/build/" + name, "EXTRA_CFLAGS=" + flags,
                           "BOARDS=" INTARSIA_BOARDS};
    Result<ProcessOutcome> outcome = run_process({folder_->path() + "/" + name + "/run"}, options);
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }

  // The recorded lines, and behind them what depends on the C compiler: a line that matches `rest`.
  void expect_recorded_results(const std::string& name, const std::string& rest = "") const {
    const ProcessOutcome outcome = run(name);
    EXPECT_TRUE(outcome.succeeded()) << outcome.ending() << '\n' << outcome.err;
    const auto recorded =
        read_text_file(std::string(INTARSIA_EXAMPLES) + "/" + name + "/expected.txt");
    ASSERT_TRUE(recorded.ok());
    ASSERT_FALSE(recorded->empty());
    EXPECT_EQ(outcome.out.substr(0, recorded->size()), *recorded);
    if (outcome.out.size() > recorded->size())
      EXPECT_THAT(outcome.out.substr(recorded->size()), testing::MatchesRegex(rest));
    else
      EXPECT_EQ(rest, "");
  }

  std::optional<TemporaryFolder> folder_;
};

TEST_F(Example, KeywordStreamHearsTheRecordedKeywords) {
  copy({"common", "keyword-stream"});
  expect_recorded_results("keyword-stream");
}

TEST_F(Example, CameraWakeWordSeesTheRecordedScores) {
  copy({"common", "camera-wake-word"});
  expect_recorded_results("camera-wake-word");
}

TEST_F(Example, StreamingDenoiserTakesTheRecordedNoiseInTime) {
  copy({"common", "streaming-denoiser"});
  expect_recorded_results("streaming-denoiser",
                          "longest frame [0-9]+ instructions; at [0-9.]+ cycles for each, [0-9]+ "
                          "of 200000 cycles\n");
  // The emulator's clock counts instructions, not time, so the longest frame is the same however busy the machine is.
  const std::string first = run("streaming-denoiser").out;
  EXPECT_EQ(run("streaming-denoiser").out, first);
  // On a core that takes ten cycles for an instruction, no frame is in time.
  const std::string slow = run("streaming-denoiser", "-DDENOISER_CYCLES_PER_4_INSTRUCTIONS=40").out;
  EXPECT_TRUE(slow.starts_with("500 frames of 8 ms, 500 deadlines missed\n")) << slow;
}

TEST_F(Example, VibrationAnomalyRaisesTheRecordedAlarms) {
  copy({"common", "vibration-anomaly"});
  expect_recorded_results("vibration-anomaly");
}

// In one memory both networks print what each of them prints alone.
TEST_F(Example, TwoModelsInOneMemoryAnswerAsTheyDoAlone) {
  copy({"common", "keyword-stream", "camera-wake-word", "two-models"});
  expect_recorded_results("two-models",
                          "[0-9]+ bytes of memory for both networks, [0-9]+ if each had its own\n");
  if (!have("python3")) return;
  const auto written =
      run_process({"python3", folder_->path() + "/two-models/expected.py", "--check"});
  EXPECT_TRUE(written.ok() && written->succeeded())
      << "expected.txt is not what expected.py writes";
}

// The NPU computes what the reference kernels computed for streaming-denoiser.
TEST_F(Example, NpuAndCpuTakeTheRecordedNoise) {
  copy({"common", "streaming-denoiser", "npu-and-cpu"});
  expect_recorded_results("npu-and-cpu",
                          "the NPU worked for at most [1-9][0-9]* of its cycles in a frame\n");
  const std::string alone = *read_text_file(INTARSIA_EXAMPLES "/streaming-denoiser/expected.txt");
  EXPECT_EQ(*read_text_file(INTARSIA_EXAMPLES "/npu-and-cpu/expected.txt"),
            "500 frames\n" + alone.substr(alone.find('\n') + 1));
}

TEST_F(Example, RtosTaskLetsOthersWorkWhileTheNpuDoes) {
  copy({"common", "streaming-denoiser", "rtos-task"});
  expect_recorded_results("rtos-task",
                          "[1-9][0-9]* interrupts of the NPU, [0-9]+ waits in vain; another task "
                          "worked during [1-9][0-9]* of them\n");
  EXPECT_EQ(*read_text_file(INTARSIA_EXAMPLES "/rtos-task/expected.txt"),
            *read_text_file(INTARSIA_EXAMPLES "/npu-and-cpu/expected.txt"));
}

}  // namespace
}  // namespace intarsia::test
