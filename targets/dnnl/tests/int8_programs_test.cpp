// Networks of int8 through the command line, in its process and as programs; and programs on processors without an instruction for
// products of int8.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "cli.h"
#include "kinds.h"
#include "needs.h"
#include "support/shared_data.h"

namespace intarsia::test::dnnl {
namespace {

using ::testing::HasSubstr;

// Networks of int8: each operator is within a step, and what that has become at the end within as many as docs/dnnl.md says.
class Int8Networks : public Cli, public testing::WithParamInterface<const char*> {
 protected:
  static constexpr int kSteps = 4;

  std::filesystem::path folder() const { return shared_folder() / "models" / GetParam(); }
  std::string model() const { return (folder() / "model.tflite").string(); }

  void expect_near_recorded(int index, const std::vector<std::string>& options) {
    std::vector<std::string> command = {
        "run",          model(),   "--target",
        "c + dnnl",     "--input", (folder() / fmt::format("in{}_0.bin", index)).string(),
        "--output-dir", "out"};
    command.insert(command.end(), options.begin(), options.end());
    ASSERT_TRUE(done(intarsia(command)));
    const auto recorded = signed_bytes(read_bytes(folder() / fmt::format("out{}_0.bin", index)));
    const auto results = signed_bytes(read("out/out0.bin"));
    ASSERT_EQ(results.size(), recorded.size());
    int largest = 0;
    for (size_t i = 0; i < results.size(); ++i)
      largest = std::max(largest, std::abs(results[i] - recorded[i]));
    EXPECT_LE(largest, kSteps) << "sample " << index;
    EXPECT_EQ(std::ranges::max_element(results) - results.begin(),
              std::ranges::max_element(recorded) - recorded.begin())
        << "sample " << index;
    RecordProperty(fmt::format("sample_{}_steps", index), largest);
  }

 private:
  static std::vector<int8_t> signed_bytes(const std::vector<uint8_t>& bytes) {
    return {bytes.begin(), bytes.end()};
  }
};

bool is_built_with_int8() {
  return multiplies_int8(OpenDevice());
}
constexpr const char* kNoInt8Programs =
    "this was built without oneDNN, or the processor has no products of int8";

TEST_P(Int8Networks, AreNearWhatWasRecordedInTheProcessAndAsPrograms) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!is_built_with_int8()) GTEST_SKIP() << needs("dnnl") << kNoInt8Programs;
  for (int index = 0; index < 3; ++index) expect_near_recorded(index, {});
  expect_near_recorded(2, {"--native"});
}

TEST_P(Int8Networks, AreWithinAStepOperatorByOperator) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!is_built_with_int8()) GTEST_SKIP() << needs("dnnl") << kNoInt8Programs;
  const ProcessOutcome outcome =
      intarsia({"verify", model(), "--target", "c + dnnl", "--samples", "5", "--layers"});
  EXPECT_TRUE(done(outcome));
  EXPECT_THAT(outcome.out, HasSubstr("within 1 of the reference (1 at most is allowed)"));
}

TEST_P(Int8Networks, StayExactWhereTheyAreLeftToTheHost) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  ASSERT_TRUE(intarsia({"run", model(), "--target", "c + dnnl -int8=false", "--input",
                        (folder() / "in2_0.bin").string(), "--output-dir", "out"})
                  .succeeded());
  EXPECT_EQ(read("out/out0.bin"), read_bytes(folder() / "out2_0.bin"));
}

INSTANTIATE_TEST_SUITE_P(Recorded, Int8Networks,
                         testing::Values("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8",
                                         "ad01_int8"),
                         [](const auto& info) { return std::string(info.param); });

constexpr const char* kUserLists = R"(cmake_minimum_required(VERSION 3.20)
project(user C CXX)
add_subdirectory(package)
add_executable(user main.c)
target_link_libraries(user PRIVATE sum)
)";
// Sums of products that do not fit into 16 bits, two by two.
constexpr const char* kProduct = R"(intarsia.graph sum
const @0 w = x"WEIGHTS"
func @main(%0) -> (%2) {
  %0 a: i8[1,64] q(0.1:0)
  %1 w: i8[4,64] q(0.1:0) = @0
  %2 c: i8[1,4] q(200:0)
  fully_connected f(%0, %1) -> (%2)
}
entry @main
)";
constexpr const char* kProductMain = R"(#include <stdio.h>
#include "intarsia/targets/dnnl/driver.h"
#include "sum.h"
SUM_DEFINE_RESOURCES(memory);
int main(void) {
  static struct intarsia_dnnl dnnl;
  static struct sum model;
  int i;
  if (intarsia_dnnl_open(&dnnl, NULL) != INTARSIA_OK) return 1;
  memory.device0 = &dnnl.device;
  if (sum_init(&model, &memory) != INTARSIA_OK) return 2;
  for (i = 0; i < 64; ++i) ((signed char *)sum_input(&model, 0))[i] = 127;
  if (sum_run(&model) != INTARSIA_OK) return 3;
  for (i = 0; i < 4; ++i) printf("%d ", ((const signed char *)sum_output(&model, 0))[i]);
  intarsia_dnnl_close(&dnnl);
  return 0;
}
)";

class Int8Packages : public Cli {};

TEST_F(Int8Packages, MultiplyOnProcessorsWithoutAnInstructionForIt) {
  if (!is_built_with_int8()) GTEST_SKIP() << needs("dnnl") << kNoInt8Programs;
#ifndef __x86_64__
  GTEST_SKIP() << "other processors have it";
#endif
  std::string graph = kProduct, weights;
  for (int i = 0; i < 256; ++i) weights += "7f";
  graph.replace(graph.find("WEIGHTS"), 7, weights);
  write("sum.graph", graph);
  ASSERT_TRUE(done(intarsia({"compile", "sum.graph", "--target", "c + dnnl", "-o", "package"})));
  write("CMakeLists.txt", std::string(kUserLists));
  write("main.c", std::string(kProductMain));
  ASSERT_TRUE(program({"cmake", "-S", ".", "-B", "build"}).succeeded());
  ASSERT_TRUE(program({"cmake", "--build", "build"}).succeeded());
  const std::string expected = "52 52 52 52 ";  // 64 * 127 * 127 * 0.01 / 200, rounded
  EXPECT_EQ(program({path("build/user")}).out, expected);
  const std::string older = "ONEDNN_MAX_CPU_ISA=AVX2";
  EXPECT_EQ(program({"env", older, path("build/user")}).out, expected);
  const ProcessOutcome explained =
      program({"env", older, INTARSIA_PROGRAM, "explain", "sum.graph", "--target", "c + dnnl"});
  EXPECT_THAT(explained.out, HasSubstr("this processor sums products of int8 with saturation"));
}

}  // namespace
}  // namespace intarsia::test::dnnl
