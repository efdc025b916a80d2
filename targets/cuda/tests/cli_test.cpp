// The command line with a GPU in the target: programs on the stand-in, composites with other devices, a machine without a GPU.
#include <gmock/gmock.h>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using ::testing::HasSubstr;

class CudaComposite : public Cli {
 protected:
  // With the libraries of CUDA at a path.
  ProcessOutcome with(const std::string& driver, std::vector<std::string> command) const {
    command.insert(command.begin(), {"env", "INTARSIA_CUDA_DRIVER=" + driver,
                                     "INTARSIA_NVRTC=" + driver, INTARSIA_PROGRAM});
    return program(command);
  }
  // Runs image 3 of the digits on the stand-in.
  ProcessOutcome ran(const std::vector<std::string>& choice) const {
    write_image("image.bin", 3);
    std::vector<std::string> command = {"run",       "--native",     digits_path(), "--input",
                                        "image.bin", "--output-dir", "out"};
    command.insert(command.end(), choice.begin(), choice.end());
    return with(INTARSIA_CUDA_STAND_IN, command);
  }
  void expect_exact(const std::vector<std::string>& choice) const {
    const ProcessOutcome outcome = ran(choice);
    ASSERT_TRUE(outcome.succeeded()) << outcome.err;
    EXPECT_EQ(outcome.err.find("stand-in:"), std::string::npos) << outcome.err;
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
  }
};

TEST_F(CudaComposite, IsExactByPriorityAndByCost) {
  expect_exact({"--target", "c + cuda"});
  expect_exact({"--target", "c + cuda", "--policy", "cost"});
  expect_exact({"--target", "cuda-device"});
  expect_exact({"--target", "c + cuda -threads-per-block=32"});
}

// Buffers change hands in both directions, several times.
TEST_F(CudaComposite, IsExactWithWhatIsPinnedToTheHost) {
  expect_exact({"--target", "c + cuda", "--pin", "block1_add=c", "--pin", "max_pool=c"});
}

TEST_F(CudaComposite, StandsBesideAnNpu) {
  expect_exact({"--target", "cortex-m55+ethos-u55-128+cuda", "--pin", "block1_add=cuda"});
  const ProcessOutcome explained =
      intarsia({"explain", digits_path(), "--target", "cortex-m55+ethos-u55-128+cuda", "--pin",
                "block1_add=cuda"});
  ASSERT_TRUE(done(explained));
  EXPECT_THAT(explained.out, HasSubstr("1 on cuda (block1_add)"));
  EXPECT_THAT(explained.out, HasSubstr("transfers between devices"));
}

TEST_F(CudaComposite, StandsBesideOpenCl) {
  const std::vector<std::string> choice = {"--target", "c + cuda + opencl", "--pin",
                                           "block1_add=opencl"};
  if (ran(choice).err.find("no platform has a device") != std::string::npos)
    GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  expect_exact(choice);
}

TEST_F(CudaComposite, IsVerifiedOperatorByOperator) {
  const ProcessOutcome outcome =
      with(INTARSIA_CUDA_STAND_IN, {"verify", digits_path(), "--target", "c + cuda"});
  EXPECT_TRUE(outcome.succeeded()) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("agree on"));
}

TEST_F(CudaComposite, AnAbsentDriverIsSaidAndThePlanStillCompiles) {
  write_image("image.bin", 3);
  const std::string nowhere = path("nowhere.so");
  const ProcessOutcome outcome = with(nowhere, {"run", digits_path(), "--target", "c + cuda",
                                                "--input", "image.bin", "--output-dir", "out"});
  EXPECT_EQ(outcome.exit_code, kUserError);
  EXPECT_THAT(outcome.err, HasSubstr("the CUDA driver is not there (libcuda.so.1)"));
  EXPECT_FALSE(exists("out")) << "a failed run leaves nothing";
  EXPECT_TRUE(
      done(with(nowhere, {"compile", digits_path(), "--target", "c + cuda", "-o", "sources"})));
  const ProcessOutcome text = intarsia({"disasm", path("sources/digits.intarsia")});
  EXPECT_THAT(text.out, HasSubstr("extern \"C\" __global__ void"));
}

TEST_F(CudaComposite, APinThatCannotHoldSaysWhy) {
  EXPECT_TRUE(
      refused(intarsia({"explain", digits_path(), "--target", "c + cuda", "--pin", "scores=cuda"}),
              {"operator 'scores' (softmax): is pinned to 'cuda', which cannot take it",
               "a helper of the C runtime on whole rows"}));
}

}  // namespace
}  // namespace intarsia::test
