// A target whose functions ask for more than 16 bytes of alignment: what the plan promises, what the emitted
// C says and checks, and where its buffers are when it runs.
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/compile.h"
#include "intarsia/plugin/standard_lowering.h"
#include "support/c_program.h"

namespace intarsia {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

TargetKind wide_cpu(int32_t alignment) {
  TargetKind kind;
  kind.spec.name = "wide";
  kind.spec.summary = "for tests";
  kind.spec.role = Role::Cpu;
  kind.graph_to_tir = [alignment](const Target&, const graph::Module& module,
                                  const graph::Function& function,
                                  const LoweringOptions& options) -> Result<tir::LoweredFunction> {
    INTARSIA_TRY(tir::LoweredFunction lowered, standard_graph_to_tir(module, function, options));
    for (tir::Func& func : lowered.module.funcs)
      for (size_t i = 0; i < func.parameters.size(); ++i) func.buffers[i].alignment = alignment;
    return lowered;
  };
  return kind;
}

// Buffers of 24 bytes, three of them alive at once.
constexpr const char* kModel = R"(intarsia.graph wide_sum
func @main(%0, %1) -> (%4) {
  %0 left: i8[1,24] q(0.5:0)
  %1 right: i8[1,24] q(0.5:0)
  %2 sum: i8[1,24] q(0.5:0)
  %3 more: i8[1,24] q(0.5:0)
  %4 out: i8[1,24] q(0.5:0)
  add first(%0, %1) -> (%2) {}
  add second(%2, %1) -> (%3) {}
  add third(%3, %2) -> (%4) {}
}
entry @main
)";

class Alignment : public ::testing::TestWithParam<int32_t> {
 protected:
  void SetUp() override { registry_.add(wide_cpu(GetParam())); }
  Result<CompiledModel> compiled(int64_t size = 0, int32_t promised = 16) const {
    CompileOptions options;
    options.memory.pools = {{"ram", size}};
    options.memory.pools[0].alignment = promised;
    return compile_module(*graph::parse(kModel), registry_,
                          *parse_target(registry_.catalogue(), "wide"), options);
  }
  TargetRegistry registry_;
};

TEST_P(Alignment, IsKeptByThePlan) {
  const Result<CompiledModel> model = compiled();
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->program().plan.alignment, GetParam());
  ASSERT_GE(model->program().plan.placements.size(), 4u);
  for (const Placement& place : model->program().plan.placements)
    EXPECT_EQ(place.offset % GetParam(), 0) << place.offset;
  Plan wrong = model->program().plan;
  wrong.alignment = 16;
  const Result<void> checked = check_plan(model->program().lowered, wrong);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().to_string(), HasSubstr("and its memory's block to 16"));
}

// A memory that promises 16 bytes loses those up to the block's beginning.
TEST_P(Alignment, CostsWhatTheMemoryDoesNotPromise) {
  const Result<CompiledModel> model = compiled();
  ASSERT_TRUE(model.ok());
  const int64_t peak = model->program().plan.use[0].peak, lost = GetParam() - 16;
  EXPECT_TRUE(compiled(peak + lost).ok());
  const Result<CompiledModel> refused = compiled(peak + lost - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("may be lost to a buffer's alignment"));
  EXPECT_TRUE(compiled(peak, GetParam()).ok());
  EXPECT_FALSE(compiled(peak - 1, GetParam()).ok());

  Plan tight = model->program().plan;
  tight.memory.pools[0].size = peak + lost - 1;
  EXPECT_FALSE(check_plan(model->program().lowered, tight).ok());
  tight.memory.pools[0].size = peak + lost;
  EXPECT_TRUE(check_plan(model->program().lowered, tight).ok());
}

TEST_P(Alignment, IsSaidAndCheckedByTheEmittedC) {
  const Result<CompiledModel> model = compiled();
  ASSERT_TRUE(model.ok());
  const fs::path folder =
      fs::temp_directory_path() /
      ("intarsia_alignment_" + std::to_string(::getpid()) + "_" + std::to_string(GetParam()));
  fs::create_directories(folder);
  for (const SourceFile& file : model->program().emitted.sources) {
    fs::create_directories((folder / file.path).parent_path());
    std::ofstream(folder / file.path) << file.whole_text();
    if (file.path == "wide_sum.h") {
      EXPECT_THAT(file.text, HasSubstr("#define WIDE_SUM_ALIGNMENT " + std::to_string(GetParam())));
    }
  }
  const std::string runtime = std::string(INTARSIA_SOURCE_DIR) + "/device-runtime";
  const testing::CProgram program("gcc", R"(#include "wide_sum.c"
_Alignas(WIDE_SUM_ALIGNMENT) uint8_t block[2 * WIDE_SUM_ALIGNMENT + WIDE_SUM_RAM_BYTES];
static struct wide_sum model;
int start(int offset);
int start(int offset) {
  const struct wide_sum_resources resources = {.ram = block + offset};
  return wide_sum_init(&model, &resources);
}
void *input(int index);
void *input(int index) { return wide_sum_input(&model, index); }
const int8_t *run(void);
const int8_t *run(void) { return wide_sum_run(&model) == 0 ? wide_sum_output(&model, 0) : NULL; }
)",
                                  "-I" + folder.string() + " -I" + runtime + "/kernels/include -I" +
                                      runtime + "/contract/include " + runtime +
                                      "/kernels/src/*.c " + runtime + "/contract/src/*.c");
  fs::remove_all(folder);
  ASSERT_TRUE(program.ok()) << program.errors();
  auto* start = program.find<int(int)>("start");
  const auto* block = static_cast<const uint8_t*>(program.address("block"));
  auto* input = program.find<void*(int)>("input");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % static_cast<uintptr_t>(GetParam()), 0u);
  EXPECT_NE(start(GetParam() / 2), 0);  // 16 bytes, or 32, are not enough
  EXPECT_EQ(start(GetParam()), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(input(i)) % static_cast<uintptr_t>(GetParam()), 0u);
    std::fill_n(static_cast<int8_t*>(input(i)), 24, static_cast<int8_t>(3 + i));
  }
  const int8_t* output = program.find<const int8_t*()>("run")();
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(output) % static_cast<uintptr_t>(GetParam()), 0u);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(output[i], 7 + 4 + 7);
}

INSTANTIATE_TEST_SUITE_P(Wide, Alignment, ::testing::Values(32, 64, 128));

}  // namespace
}  // namespace intarsia
