#include "support/process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace intarsia {
namespace {

TEST(Process, CapturesBothOutputsAndTheExitStatus) {
  const Result<ProcessOutcome> outcome =
      run_process({"sh", "-c", "echo to out; echo to err >&2; exit 3"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_EQ(outcome->signal, 0);
  EXPECT_EQ(outcome->out, "to out\n");
  EXPECT_EQ(outcome->err, "to err\n");
  EXPECT_FALSE(outcome->succeeded());
  EXPECT_EQ(outcome->ending(), "exit status 3");
}

TEST(Process, ArgumentsReachTheProgramUntouched) {
  const Result<ProcessOutcome> outcome =
      run_process({"printf", "%s|", "a b", "$HOME", "", "it's", "*"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->succeeded());
  EXPECT_EQ(outcome->out, "a b|$HOME||it's|*|");
}

TEST(Process, TheEnvironmentMayBeExtended) {
  ProcessOptions options;
  options.environment = {"INTARSIA_TEST_VARIABLE=a b=c", "HOME=/nowhere"};
  const Result<ProcessOutcome> outcome =
      run_process({"sh", "-c", "echo \"$INTARSIA_TEST_VARIABLE|$HOME|${PATH:+path}\""}, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->out, "a b=c|/nowhere|path\n");
}

TEST(Process, TakesMoreOutputThanAPipeHolds) {
  const Result<ProcessOutcome> outcome =
      run_process({"sh", "-c", "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->out.size(), 300000u);
  EXPECT_EQ(outcome->err.size(), 200000u);
}

TEST(Process, InputIsEmpty) {
  const Result<ProcessOutcome> outcome = run_process({"cat"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->succeeded());
  EXPECT_EQ(outcome->out, "");
}

TEST(Process, RunsInTheGivenFolder) {
  ProcessOptions options;
  options.directory = "/";
  const Result<ProcessOutcome> outcome = run_process({"pwd"}, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->out, "/\n");
}

TEST(Process, TimeLimitEndsIt) {
  ProcessOptions options;
  options.timeout = std::chrono::milliseconds(150);
  int calls = 0;
  options.on_wait = [&calls] { ++calls; };
  const auto start = std::chrono::steady_clock::now();
  const Result<ProcessOutcome> outcome = run_process({"sleep", "30"}, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->timed_out);
  EXPECT_FALSE(outcome->succeeded());
  EXPECT_EQ(outcome->ending(), "stopped after its time limit");
  EXPECT_GE(calls, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// Also what the program has started, whatever holds the pipes open.
TEST(Process, TimeLimitEndsGrandchildren) {
  ProcessOptions options;
  options.timeout = std::chrono::milliseconds(300);
  const Result<ProcessOutcome> outcome =
      run_process({"sh", "-c", "sleep 600 & echo $!; wait"}, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->timed_out);
  const pid_t grandchild = std::stoi(outcome->out);
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    const auto state = run_process({"ps", "-o", "stat=", "-p", std::to_string(grandchild)});
    gone = kill(grandchild, 0) != 0 || (state.ok() && state->out.starts_with("Z"));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(gone);
}

TEST(Process, ASignalIsNamed) {
  const Result<ProcessOutcome> outcome = run_process({"sh", "-c", "kill -ABRT $$"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->signal, SIGABRT);
  EXPECT_EQ(outcome->ending(), "signal 6 (Aborted)");
  EXPECT_FALSE(outcome->succeeded());
}

TEST(Process, AMissingProgramIsADiagnostic) {
  const Result<ProcessOutcome> outcome = run_process({"no-such-program-at-all"});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().to_string(),
            "no-such-program-at-all: cannot be started: No such file or directory; install it or "
            "put it in PATH\n");
}

TEST(Process, CommandLineIsQuotedWhereNeeded) {
  EXPECT_EQ(command_line_text({"gcc", "-I/a b", "it's", "", "-DX=1"}),
            "gcc '-I/a b' 'it'\\''s' '' -DX=1");
}

}  // namespace
}  // namespace intarsia
