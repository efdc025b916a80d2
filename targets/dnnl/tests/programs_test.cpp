// Float networks through the command line: in its process, as a program of the generated C, as one for a board with Linux,
// and linked by a build of somebody else's, beside the outputs that TensorFlow Lite recorded.
#include <gmock/gmock.h>

#include <filesystem>

#include <fmt/format.h>

#include "kinds.h"
#include "linux_programs.h"
#include "needs.h"
#include "support/shared_data.h"

namespace intarsia::test::dnnl {
namespace {

using ::testing::HasSubstr;

constexpr float kTolerance = 1e-5f;

bool is_built_with_dnnl() {
  return OpenDevice().answers;
}

class Networks : public Cli, public testing::WithParamInterface<const char*> {
 protected:
  std::filesystem::path folder() const { return shared_folder() / "models" / GetParam(); }
  std::string model() const { return (folder() / "model.tflite").string(); }

  // Recorded sample `index`, run with these options as well.
  void expect_recorded(int index, const std::vector<std::string>& options,
                       const std::string& target = "c + dnnl") {
    std::vector<std::string> command = {
        "run",          model(),   "--target",
        target,         "--input", (folder() / fmt::format("in{}_0.bin", index)).string(),
        "--output-dir", "out"};
    command.insert(command.end(), options.begin(), options.end());
    ASSERT_TRUE(done(intarsia(command)));
    EXPECT_EQ(float_difference(read_bytes(folder() / fmt::format("out{}_0.bin", index)),
                               read("out/out0.bin"), kTolerance),
              "");
  }
};

TEST_P(Networks, AreWithinTheToleranceInTheProcessAndAsPrograms) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!is_built_with_dnnl()) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  for (int index = 0; index < 3; ++index) {
    expect_recorded(index, {});
    expect_recorded(index, {"--native"});
  }
}

TEST_P(Networks, AreWithinTheToleranceOnABoardWithLinux) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!is_built_with_dnnl()) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
#ifdef __x86_64__
  if (!have_program("x86_64-linux-gnu-gcc"))
    GTEST_SKIP() << needs("linux-toolchain") << "there is no x86_64-linux-gnu-gcc";
  expect_recorded(0, {"--board", "x86_64-linux"}, "x86-64-v2 + dnnl");
#else
  GTEST_SKIP() << "oneDNN is of another machine than the board";
#endif
}

// There, oneDNN computes without fused addends but in its plain loops.
TEST_P(Networks, AreWithinTheToleranceOn64BitArm) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!have_program("aarch64-linux-gnu-gcc") || !have_program("qemu-aarch64"))
    GTEST_SKIP() << needs("linux-toolchain") << "there is no aarch64-linux-gnu-gcc or qemu-aarch64";
  if (!std::filesystem::exists("/usr/lib/aarch64-linux-gnu/libdnnl.so"))
    GTEST_SKIP() << needs("dnnl") << "there is no oneDNN of arm64";
  expect_recorded(0, {"--board", "aarch64-linux"}, "cortex-a55 + dnnl");
}

TEST_P(Networks, AgreeOperatorByOperator) {
  INTARSIA_NEEDS_SHARED(std::string("models/") + GetParam());
  if (!is_built_with_dnnl()) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  const ProcessOutcome outcome =
      intarsia({"verify", model(), "--target", "c + dnnl", "--samples", "5", "--layers"});
  EXPECT_TRUE(done(outcome));
  EXPECT_THAT(outcome.out, HasSubstr("agree on 5 samples"));
}

INSTANTIATE_TEST_SUITE_P(Recorded, Networks,
                         testing::Values("hello_world_float", "pretrainedResnet"),
                         [](const auto& info) { return std::string(info.param); });

// Built by CMake beside the package: the library that it names is linked.
constexpr const char* kLists = R"(cmake_minimum_required(VERSION 3.20)
project(user C CXX)
add_subdirectory(package)
add_executable(user main.c)
target_link_libraries(user PRIVATE sum)
)";
constexpr const char* kMain = R"(#include <stdio.h>
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
  for (i = 0; i < 4; ++i) ((float *)sum_input(&model, 0))[i] = (float)i;
  for (i = 0; i < 4; ++i) ((float *)sum_input(&model, 1))[i] = 10.0f;
  if (sum_run(&model) != INTARSIA_OK) return 3;
  for (i = 0; i < 4; ++i) printf("%g ", (double)((const float *)sum_output(&model, 0))[i]);
  intarsia_dnnl_close(&dnnl);
  return 0;
}
)";
constexpr const char* kGraph = R"(intarsia.graph sum
func @main(%0, %1) -> (%2) {
  %0 a: f32[1,4]
  %1 b: f32[1,4]
  %2 c: f32[1,4]
  add s(%0, %1) -> (%2)
}
entry @main
)";

class Packages : public LinuxPrograms {};

TEST_F(Packages, NameTheLibraryForCMakeAndMake) {
  write("sum.graph", std::string(kGraph));
  ASSERT_TRUE(done(intarsia({"compile", "sum.graph", "--target", "c + dnnl", "-o", "package"})));
  const auto files = read_folder("package");
  EXPECT_THAT(files.at("CMakeLists.txt"), HasSubstr("target_link_libraries(sum PUBLIC dnnl)"));
  EXPECT_THAT(files.at("sum.mk"), HasSubstr("-ldnnl"));
  if (!is_built_with_dnnl()) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
  write("CMakeLists.txt", std::string(kLists));
  write("main.c", std::string(kMain));
  const ProcessOutcome configured = program({"cmake", "-S", ".", "-B", "build"});
  ASSERT_TRUE(configured.succeeded()) << configured.out << configured.err;
  const ProcessOutcome built = program({"cmake", "--build", "build"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  EXPECT_EQ(program({path("build/user")}).out, "10 11 12 13 ");
}

constexpr const char* kDoubled = R"(intarsia.graph doubled
func @main(%0) -> (%1) {
  %0 a: f32[1,4]
  %1 b: f32[1,4]
  add s(%0, %0) -> (%1)
}
entry @main
)";

// The core has a name and is no microcontroller's.
TEST_F(Packages, AreBuiltForLinuxByCMakeAndMake) {
  write("doubled.graph", std::string(kDoubled));
  ASSERT_TRUE(done(intarsia({"compile", "doubled.graph", "--board", "x86_64-linux", "--target",
                             "x86-64-v2 + dnnl", "-o", "doubled"})));
  for (const auto& [name, text] : read_folder("doubled"))
    EXPECT_EQ(text.find("-ffreestanding"), std::string::npos) << name;
  if (!is_built_with_dnnl()) GTEST_SKIP() << needs("dnnl") << "this was built without oneDNN";
#ifdef __x86_64__
  if (!can_build_for(x86_linux()))
    GTEST_SKIP() << needs("linux-toolchain") << "there is no x86_64-linux-gnu-g++";
  const std::vector<float> values = {0, 1, -2, 3.5f}, twice = {0, 2, -4, 7};
  std::vector<uint8_t> in(sizeof(float) * 4), out(in.size());
  std::memcpy(in.data(), values.data(), in.size());
  std::memcpy(out.data(), twice.data(), out.size());
  write("doubled.in", in);
  for (const Build build : {Build::CMake, Build::Make}) {
    if (build == Build::Make && !have_program("make")) continue;
    ASSERT_TRUE(build_and_run(x86_linux(), build, {{"doubled", 1}}));
    EXPECT_EQ(read("doubled.out"), out) << name_of(build);
  }
#else
  GTEST_SKIP() << "oneDNN is of another machine than the board";
#endif
}

TEST_F(Packages, AreShownAsLayers) {
  write("sum.graph", std::string(kGraph));
  ASSERT_TRUE(done(intarsia({"compile", "sum.graph", "--target", "c + dnnl", "-o", "package"})));
  const ProcessOutcome shown = intarsia({"disasm", "package/sum.intarsia"});
  ASSERT_TRUE(done(shown));
  EXPECT_THAT(shown.out, HasSubstr("add 1x1x1x4 -> 1x1x1x4, with 1x1x1x4"));
}

TEST_F(Packages, AreRefusedOnABoardWithoutAnOperatingSystem) {
  write("sum.graph", std::string(kGraph));
  write("zeros.bin", std::vector<uint8_t>(16));
  EXPECT_TRUE(
      refused(intarsia({"run", "sum.graph", "--target", "cortex-m4 + dnnl", "--board", "mps2-an386",
                        "--input", "zeros.bin", "--input", "zeros.bin", "--output-dir", "out"}),
              {"mps2-an386", "the board has no device for dnnl"}));
}

}  // namespace
}  // namespace intarsia::test::dnnl
