// `run` on this machine: inside the process, without a C compiler, and as a program built from the generated C.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

class RunHere : public Cli {
 protected:
  // Images 0 .. count-1, one after another.
  void write_images(const std::string& name, int count) const {
    std::vector<uint8_t> all;
    for (int i = 0; i < count; ++i) {
      write_image("one.bin", i);
      const std::vector<uint8_t> image = read("one.bin");
      all.insert(all.end(), image.begin(), image.end());
    }
    write(name, all);
  }
  static std::vector<uint8_t> scores(int count) {
    std::vector<uint8_t> all;
    for (int i = 0; i < count; ++i) {
      const std::vector<uint8_t> one = recorded_scores(i);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
};

TEST_F(RunHere, NeedsNoCompiler) {
  write_image("image.bin", 3);
  for (const char* target : {"c", "cortex-m4", "ethos-u55-128", "ethos-u65-256"}) {
    const ProcessOutcome ran =
        program({"env", "PATH=/nowhere", INTARSIA_PROGRAM, "run", digits_path(), "--target", target,
                 "--input", "image.bin", "--output-dir", target});
    EXPECT_TRUE(done(ran));
    EXPECT_EQ(read(std::string(target) + "/out0.bin"), recorded_scores(3)) << target;
  }
}

TEST_F(RunHere, PrintsWhatTheBuiltProgramPrints) {
  write_image("image.bin", 5);
  for (const char* target : {"c", "ethos-u55-128"}) {
    const auto run = [&](const std::vector<std::string>& more) {
      std::vector<std::string> command = {"run",     digits_path(), "--target",     target,
                                          "--input", "image.bin",   "--output-dir", "out"};
      command.insert(command.end(), more.begin(), more.end());
      const ProcessOutcome outcome = intarsia(command);
      EXPECT_TRUE(done(outcome));
      return outcome.out;
    };
    EXPECT_EQ(run({}), run({"--native"}));
    EXPECT_EQ(run({"--json", "--outputs", "all"}), run({"--json", "--outputs", "all", "--native"}));
  }
}

TEST_F(RunHere, RepeatedRunsKeepTheirOutputs) {
  write_images("images.bin", 4);
  ASSERT_TRUE(done(intarsia({"run", digits_path(), "--input", "images.bin", "--repeat", "4",
                             "--keep-all", "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"), scores(4));
}

TEST_F(RunHere, ABatchHoldsAnyNumberOfSamples) {
  write_images("images.bin", 23);
  for (const char* jobs : {"0", "1", "5"})
    for (const char* target : {"c", "ethos-u55-128"}) {
      const ProcessOutcome ran =
          intarsia({"run", digits_path(), "--target", target, "--input", "images.bin", "--batch",
                    "--jobs", jobs, "--output-dir", "out", "--json"});
      ASSERT_TRUE(done(ran));
      EXPECT_EQ(nlohmann::json::parse(ran.out)["samples"], 23);
      EXPECT_EQ(read("out/out0.bin"), scores(23));
    }
}

TEST_F(RunHere, ABatchIsOfModelsInThisProcess) {
  write_images("images.bin", 2);
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--input", "images.bin", "--batch",
                                "--native", "--output-dir", "out"}),
                      {"--batch", "--repeat"}));
  EXPECT_TRUE(usage_error(intarsia({"run", digits_path(), "--input", "images.bin", "--jobs", "2",
                                    "--output-dir", "out"}),
                          "--batch"));
  EXPECT_TRUE(
      refused(intarsia({"run", digits_path(), "--target", "ethos-u55-128", "--input", "images.bin",
                        "--batch", "--trace", "t.json", "--output-dir", "out"}),
              {"--trace: is of one inference after another", "--repeat"}));
  write("odd.bin", std::vector<uint8_t>(65));
  EXPECT_TRUE(refused(
      intarsia({"run", digits_path(), "--input", "odd.bin", "--batch", "--output-dir", "out"}),
      {"odd.bin", "65"}));
  EXPECT_FALSE(exists("out"));
}

TEST_F(RunHere, ASampleOfABatchRunsOnce) {
  write_images("images.bin", 2);
  EXPECT_TRUE(refused(intarsia({"run", digits_path(), "--input", "images.bin", "--batch",
                                "--repeat", "3", "--output-dir", "out"}),
                      {"--repeat: is of one state"}));
  EXPECT_TRUE(done(intarsia({"run", digits_path(), "--input", "images.bin", "--batch", "--repeat",
                             "1", "--keep-all", "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"), scores(2));
}

// What would have been another program was run as it lay there, and not a word was said.
TEST_F(RunHere, AFolderIsCompiledAlready) {
  write_image("image.bin", 3);
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "folder"})));
  const std::vector<std::vector<std::string>> choices = {
      {"--pin", "stem=c"},      {"--pins", "pins.txt"},       {"--ram-budget", "20K"},
      {"--ram-budget", "auto"}, {"--sram-limit", "9K"},       {"--section", "weights=.qspi"},
      {"--policy", "cost"},     {"--driver", "arm"},          {"--weights-file", "always"},
      {"--no-in-place"},        {"--shape", "image=1x8x8x1"}, {"--input-value", "a=1"},
      {"--signature", "serve"}, {"--keep-dead-channels"},     {"--widen-weights"},
      {"--io", "int8"},         {"--flash-budget", "1M"}};
  for (const std::vector<std::string>& choice : choices)
    for (std::vector<std::string> words :
         {std::vector<std::string>{"run", "folder", "--input", "image.bin", "--output-dir", "out"},
          std::vector<std::string>{"build", "folder", "-o", "program"}}) {
      words.insert(words.end(), choice.begin(), choice.end());
      EXPECT_TRUE(refused(intarsia(words), {"folder: is compiled: " + choice[0] + " says how"}));
    }
  EXPECT_FALSE(exists("out") || exists("program"));
  EXPECT_TRUE(refused(intarsia({"verify", "folder", "--reference", digits_path(), "--pin", "stem=c",
                                "--ram-budget", "1K"}),
                      {"--pin says how", "--ram-budget says how"}));
  EXPECT_TRUE(done(intarsia({"verify", "folder", "--reference", digits_path(), "--samples", "1",
                             "--keep-dead-channels"})));
  EXPECT_TRUE(done(intarsia({"run", "folder", "--input", "image.bin", "--output-dir", "out",
                             "--board", "host", "--optimise", "speed", "--timeout", "300"})));
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
}

TEST_F(RunHere, WhatOnlyABuiltProgramCanDoIsSaid) {
  write_image("image.bin", 3);
  const ProcessOutcome ran = intarsia({"run", digits_path(), "--target", "c + opencl", "--input",
                                       "image.bin", "--output-dir", "out"});
  EXPECT_THAT(ran.err, HasSubstr("opencl is not simulated in this process: running a program built "
                                 "from the generated C"));
}

// A stream that writes outside of its memory.
TEST_F(RunHere, FaultsOfDevicesAreTold) {
  std::vector<uint8_t> stream = read_bytes(
      vela_stream(golden_folder(), "separable_s8/ethos-u55-128-Shared_Sram-Performance"));
  constexpr std::array<uint8_t, 2> kOfmHeight = {0x12, 0x01};
  size_t at = 0;
  while (at + 4 <= stream.size() && !std::equal(kOfmHeight.begin(), kOfmHeight.end(), &stream[at]))
    at += 4;
  ASSERT_LE(at + 4, stream.size());
  stream[at + 2] = 0xFF, stream[at + 3] = 0x7F;
  write("faulty.tflite", stream);
  write("in.bin", read_bytes(golden_folder() / "models/separable_s8/in0_0.bin"));
  const ProcessOutcome ran = intarsia({"run", "faulty.tflite", "--target", "ethos-u55-128",
                                       "--input", "in.bin", "--output-dir", "out"});
  EXPECT_EQ(ran.exit_code, kUserError) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("faulty on ethos-u: the run ended with status 39"));
  EXPECT_THAT(ran.err, HasSubstr("outside-region: the IFM uses bytes"));
  EXPECT_FALSE(exists("out"));
}

}  // namespace
}  // namespace intarsia::test
