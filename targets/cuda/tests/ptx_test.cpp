// The kernels of random operators through compilers of CUDA C to PTX, and the PTX through NVIDIA's assembler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/cuda_kind.h"
#include "compiler/ptx.h"
#include "intarsia/compile.h"
#include "intarsia/targets/cuda/libraries.h"
#include "kinds.h"
#include "needs.h"
#include "support/files.h"
#include "support/operators_on_devices.h"
#include "support/process.h"

namespace intarsia::test::cuda {
namespace {

using ::testing::HasSubstr;

// One after another, the sources of the operators' programs.
void for_each_source(DataType type, int at_least,
                     const std::function<void(graph::OpKind, const std::string&)>& act) {
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "c + cuda");
  intarsia::testing::Random random(3);
  int count = 0;
  for (const graph::OpKind kind : operators_of_loops()) {
    const graph::Module module = intarsia::testing::random_operator(random, kind, type);
    const Result<CompiledModel> model =
        compile_module(module, registry, target, options_with_ram());
    if (!model.ok() || !all_on(*model, "cuda")) continue;
    const auto& commands = model->program().emitted.streams.at(0).commands;
    uint32_t at = 0;
    for (size_t i = 0; i < 4; ++i)
      at |= static_cast<uint32_t>(commands[4 * targets::cuda::kProgramWord + i]) << 8 * i;
    act(kind, std::string(commands.begin() + at, commands.end() - 1));
    ++count;
  }
  EXPECT_GE(count, at_least);
}

bool is_there(const std::string& program) {
  const auto outcome = run_process({program, "--version"});
  return outcome.ok() && outcome->succeeded();
}

class Ptx : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(folder).value());
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  void expect_success(const std::vector<std::string>& command, graph::OpKind kind) const {
    const auto outcome = run_process(command);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_TRUE(outcome->succeeded())
        << graph::to_string(kind) << ": " << outcome->err << outcome->out;
  }

  std::optional<TemporaryFolder> folder_;
};

TEST_F(Ptx, OfClangAssembles) {
  if (!is_there("clang")) GTEST_SKIP() << needs("clang") << "it is not installed";
  const bool assembles = is_there("ptxas");
  for_each_source(DataType::Int8, 26, [&](graph::OpKind kind, const std::string& source) {
    const Result<std::string> ptx = targets::cuda::ptx_of(source, "sm_75");
    ASSERT_TRUE(ptx.ok()) << graph::to_string(kind) << ": " << ptx.error().to_string();
    EXPECT_THAT(*ptx, HasSubstr(".visible .entry k0("));
    EXPECT_THAT(*ptx, HasSubstr(".target sm_75"));
    ASSERT_TRUE(write_file(path("kernels.ptx"), *ptx).ok());
    if (assembles)
      expect_success({"ptxas", "-arch=sm_75", "-o", path("kernels.cubin"), path("kernels.ptx")},
                     kind);
  });
  if (!assembles) GTEST_SKIP() << needs("cuda-tools") << "ptxas is not in PATH";
}

// The compiler that the driver uses where a program runs, with the driver's own options.
TEST_F(Ptx, OfNvrtcAssembles) {
  targets::cuda::CompilerFunctions compiler;
  ::testing::internal::CaptureStderr();
  const bool compiles = targets::cuda::open_compiler(compiler);
  ::testing::internal::GetCapturedStderr();
  if (!compiles) GTEST_SKIP() << needs("cuda-tools") << "INTARSIA_NVRTC names no NVRTC";
  if (!is_there("ptxas")) GTEST_SKIP() << needs("cuda-tools") << "ptxas is not in PATH";
  for_each_source(DataType::Int8, 26, [&](graph::OpKind kind, const std::string& source) {
    char* ptx = targets::cuda::compile_to_ptx(source.c_str(), 75);
    ASSERT_NE(ptx, nullptr) << graph::to_string(kind);
    EXPECT_TRUE(write_file(path("kernels.ptx"), std::string(ptx)).ok());
    std::free(ptx);
    expect_success({"ptxas", "-arch=sm_75", "-o", path("kernels.cubin"), path("kernels.ptx")},
                   kind);
  });
}

// A product and a sum in one, results near zero made zero, or a quotient that is nearly right would not be the host's
// floats; nor may the driver's compiler join what it is not told to round.
void expect_the_hosts_rounding(const std::string& ptx, const std::string& what) {
  EXPECT_THAT(ptx, ::testing::HasSubstr(".f32")) << what;
  for (const char* word : {"fma.", ".ftz", ".approx", "add.f32", "sub.f32", "mul.f32", "div.full"})
    EXPECT_EQ(ptx.find(word), std::string::npos) << what << ": " << word;
}

TEST_F(Ptx, OnFloatsRoundsEachResultAsTheHostDoes) {
  if (!is_there("clang")) GTEST_SKIP() << needs("clang") << "it is not installed";
  targets::cuda::CompilerFunctions compiler;
  const bool has_nvrtc = targets::cuda::open_compiler(compiler);
  std::string all;
  for_each_source(DataType::Float32, 10, [&](graph::OpKind kind, const std::string& source) {
    const Result<std::string> ptx = targets::cuda::ptx_of(source, "sm_75");
    ASSERT_TRUE(ptx.ok()) << ptx.error().to_string();
    all += *ptx;
    if (!has_nvrtc) return;
    char* other = targets::cuda::compile_to_ptx(source.c_str(), 75);
    ASSERT_NE(other, nullptr) << graph::to_string(kind);
    all += other;
    std::free(other);
  });
  expect_the_hosts_rounding(all, has_nvrtc ? "clang and NVRTC" : "clang");
  EXPECT_THAT(all, HasSubstr("mul.rn.f32"));
}

TEST(PtxAtCompileTime, IsInThePackageOrSaidToBeImpossible) {
  const TargetRegistry registry = make_registry();
  const auto compiled = [&](const std::string& target) {
    return compile_module(parsed_graph(kTwoKernelsAndABranch), registry,
                          parsed_target(registry, target), options_with_ram());
  };
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const auto without = compiled("c + cuda -code=ptx");
  setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(without.error().to_string(), HasSubstr("-code=ptx: clang cannot be started"));
  if (!is_there("clang")) GTEST_SKIP() << needs("clang") << "it is not installed";
  const auto with = compiled("c + cuda -code=ptx -arch=sm_70");
  ASSERT_TRUE(with.ok()) << with.error().to_string();
  const auto text =
      registry.kind("cuda").disassemble(with->program().emitted.streams.at(0).commands);
  ASSERT_TRUE(text.has_value() && text->ok());
  EXPECT_THAT(**text, HasSubstr("PTX for sm_70"));
  EXPECT_THAT(**text, HasSubstr(".visible .entry k0("));
  const auto unknown = compiled("c + cuda -code=ptx -arch=sm_120");
  if (!unknown.ok()) {
    EXPECT_THAT(unknown.error().to_string(), HasSubstr("sm_120")) << "clang names what it lacks";
  }
}

}  // namespace
}  // namespace intarsia::test::cuda
