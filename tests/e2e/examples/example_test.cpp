// Each application's one command: its firmware is built and runs in QEMU on the recorded data, and prints what the
// script beside it has computed with TensorFlow Lite Micro's reference kernels and the same fixed-point arithmetic in numpy.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "needs.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::test {
namespace {

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

  ProcessOutcome run(const std::string& name, const std::string& flags = "") const {
    ProcessOptions options;
    options.timeout = 10min;
    options.environment = {"INTARSIA_PROGRAM=" INTARSIA_PROGRAM,
                           "BUILD=" + folder_->path() + "/" + name, "EXTRA_CFLAGS=" + flags};
    Result<ProcessOutcome> outcome =
        run_process({std::string(INTARSIA_EXAMPLES) + "/" + name + "/run"}, options);
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }

  /// The first lines are the recorded ones. Behind them may stand what depends on the C compiler.
  void expect_recorded_results(const std::string& name) const {
    const ProcessOutcome outcome = run(name);
    EXPECT_TRUE(outcome.succeeded()) << outcome.ending() << '\n' << outcome.err;
    const auto recorded =
        read_text_file(std::string(INTARSIA_EXAMPLES) + "/" + name + "/expected.txt");
    ASSERT_TRUE(recorded.ok());
    ASSERT_FALSE(recorded->empty());
    EXPECT_EQ(outcome.out.substr(0, recorded->size()), *recorded);
  }

 private:
  std::optional<TemporaryFolder> folder_;
};

TEST_F(Example, KeywordStreamHearsTheRecordedKeywords) {
  expect_recorded_results("keyword-stream");
}

TEST_F(Example, CameraWakeWordSeesTheRecordedScores) {
  expect_recorded_results("camera-wake-word");
}

TEST_F(Example, StreamingDenoiserTakesTheRecordedNoiseInTime) {
  expect_recorded_results("streaming-denoiser");
  // The emulator's clock counts instructions, not time, so the longest frame is the same however busy the machine is.
  const std::string first = run("streaming-denoiser").out;
  EXPECT_NE(first.find("longest frame "), std::string::npos) << first;
  EXPECT_EQ(run("streaming-denoiser").out, first);
  // On a core that takes ten cycles for an instruction, no frame is in time.
  const std::string slow = run("streaming-denoiser", "-DDENOISER_CYCLES_PER_4_INSTRUCTIONS=40").out;
  EXPECT_TRUE(slow.starts_with("500 frames of 8 ms, 500 deadlines missed\n")) << slow;
}

}  // namespace
}  // namespace intarsia::test
