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

TEST_F(CudaComposite, StandsBesideAHostByLlvm) {
  if (ran({"--target", "llvm"}).err.find("was built without LLVM") != std::string::npos)
    GTEST_SKIP() << needs("llvm") << "built without LLVM and its clang";
  expect_exact({"--target", "llvm + cuda"});
  expect_exact({"--target", "llvm + cuda", "--policy", "cost"});
  expect_exact({"--target", R"({"target_host":"llvm","devices":["cuda"]})", "--pin",
                "block1_add=llvm", "--pin", "max_pool=llvm"});
  const ProcessOutcome explained =
      intarsia({"explain", digits_path(), "--target", "llvm + cuda", "--pin", "block1_add=llvm"});
  ASSERT_TRUE(done(explained));
  EXPECT_THAT(explained.out, HasSubstr("2 on llvm (block1_add, scores)"));
  EXPECT_THAT(explained.out, HasSubstr("transfers between devices"));
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

// Each product and sum is rounded as the host's C rounds it.
TEST_F(CudaComposite, FloatsAreTheHostsBitForBit) {
  write("floats.graph", std::string(R"(intarsia.graph floats
const @0 weights = x"cdcccc3d9a99993ecdcc4c3e0000003fcdcc4cbecdcccc3d9a99193f0000803f"
func @main(%0) -> (%3) {
  %0 a: f32[3,4]
  %1 weights: f32[2,4] = @0
  %2 sums: f32[3,2]
  %3 squares: f32[3,2]
  fully_connected dense(%0, %1) -> (%2)
  mul square(%2, %2) -> (%3)
}
entry @main
)"));
  std::vector<uint8_t> input;
  for (int i = 0; i < 12; ++i)
    for (const int byte : {0x35 + 17 * i, 0x4B ^ (29 * i), 0x20 + 7 * i, 0x3F})
      input.push_back(static_cast<uint8_t>(byte));
  write("in.bin", input);
  ASSERT_TRUE(done(intarsia(
      {"run", "floats.graph", "--target", "c", "--input", "in.bin", "--output-dir", "host"})));
  const ProcessOutcome outcome =
      with(INTARSIA_CUDA_STAND_IN, {"run", "--native", "floats.graph", "--target", "c + cuda",
                                    "--input", "in.bin", "--output-dir", "gpu"});
  ASSERT_TRUE(outcome.succeeded()) << outcome.err;
  EXPECT_EQ(outcome.err.find("runs nothing"), std::string::npos) << outcome.err;
  EXPECT_EQ(read("gpu/out0.bin"), read("host/out0.bin"));
}

TEST_F(CudaComposite, APinThatCannotHoldSaysWhy) {
  EXPECT_TRUE(
      refused(intarsia({"explain", digits_path(), "--target", "c + cuda", "--pin", "scores=cuda"}),
              {"operator 'scores' (softmax): is pinned to 'cuda', which cannot take it",
               "a helper of the C runtime on whole rows"}));
}

}  // namespace
}  // namespace intarsia::test
