// What the kernels on int16 activations and of recurrent layers save: instructions of one inference in QEMU,
// beside those of the portable loops for the same module; the same results, those of the reference evaluator.
#include <cstdio>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "intarsia/build.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "support/files.h"
#include "support/needs.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

// Windows that reach over all edges of an image are worked out once for all blocks of channels.
double least_ratio(const std::string& family, const board::Core& core) {
  return family == "depthwise_edges" && core.name == "cortex-m55" ? 3.5 : 1.5;
}

struct Measured {
  uint64_t instructions = 0;
  std::vector<uint8_t> output;
};

Result<Measured> run_on(const board::Board& board, const graph::Module& module,
                        const std::string& kernels, const std::vector<graph::TensorValue>& inputs) {
  const std::string root = INTARSIA_SOURCE_DIR;
  const board::Core& core = board.cores.front();
  TargetRegistry registry;
  add_builtin_targets(registry);
  INTARSIA_TRY(const TargetSpec target,
               parse_target(registry.catalogue(),
                            fmt::format("c -mcpu={} -kernels={}", core.name, kernels)));
  CompileOptions options;
  options.memory = board::memory_map(board);
  INTARSIA_TRY(const CompiledModel model, compile_module(module, registry, target, options));
  INTARSIA_TRY(const PackageContents package,
               make_package(model, registry, target, {board.name, core.name, root}));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path() + "/package", package.files));
  const BuildSetting setting{work.path() + "/package", package.manifest, board, core, root, "-Os"};
  ExecuteRequest execution;
  INTARSIA_TRY(execution.program, build_program(setting, work.path()));
  execution.inputs = inputs;
  execution.count_instructions = true;
  INTARSIA_TRY(ExecuteResult result, execute(setting, execution, work.path()));
  return Measured{result.instructions.at(0), std::move(result.outputs.at(0))};
}

graph::Module module_of(const std::string& family) {
  using graph::OpKind;
  Random random(21);
  WideCase c{OpKind::Conv2d, 8, 8, 16, 16, 3, 3, 1, 1, {1, 1, 1, 1}};
  if (family == "conv2d") return wide_module(random, c);
  if (family == "pointwise") return wide_module(random, {OpKind::Conv2d, 8, 8, 32, 32});
  if (family == "fully_connected")
    return wide_module(random, {OpKind::FullyConnected, 1, 1, 128, 32});
  if (family == "svdf_s8") return svdf_module(random, DataType::Int8, 40, 32, 10);
  if (family == "svdf_s16") return svdf_module(random, DataType::Int16, 40, 32, 10);
  if (family == "lstm_s8") return lstm_module(random, DataType::Int8, 32, 32);
  if (family == "lstm_s16") return lstm_module(random, DataType::Int16, 32, 32);
  c.kind = OpKind::DepthwiseConv2d, c.channels = c.out_channels = 32;
  if (family == "depthwise_edges") {
    c.height = c.width = 3, c.kernel_h = c.kernel_w = 5, c.padding = {2, 2, 2, 2};
    c.channels = c.out_channels = 128;
  }
  return wide_module(random, c);
}

class Counts : public ::testing::TestWithParam<const char*> {};

TEST_P(Counts, AreFewerThanThoseOfTheLoops) {
  if (std::system("command -v arm-none-eabi-gcc >/dev/null 2>&1") != 0 ||
      std::system("command -v qemu-system-arm >/dev/null 2>&1") != 0)
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc or qemu-system-arm";
  const graph::Module module = module_of(GetParam());
  Random random(22);
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  graph::Evaluator evaluator(module);
  const auto expected = evaluator.run(inputs);
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  for (const char* name : {"mps2-an386", "mps3-an547"}) {
    const auto board = board::find_board(std::string(INTARSIA_SOURCE_DIR) + "/boards", name);
    ASSERT_TRUE(board.ok()) << board.error().to_string();
    const auto loops = run_on(*board, module, "portable", inputs),
               tuned = run_on(*board, module, "tuned", inputs);
    ASSERT_TRUE(loops.ok()) << loops.error().to_string();
    ASSERT_TRUE(tuned.ok()) << tuned.error().to_string();
    EXPECT_EQ(tuned->output, (*expected)[0]) << name;
    EXPECT_EQ(loops->output, (*expected)[0]) << name;
    const double ratio =
        static_cast<double>(loops->instructions) / static_cast<double>(tuned->instructions);
    std::printf("| %s | %s | %llu | %llu | %.2f |\n", GetParam(), name,
                static_cast<unsigned long long>(loops->instructions),
                static_cast<unsigned long long>(tuned->instructions), ratio);
    EXPECT_GE(ratio, least_ratio(GetParam(), board->cores.front())) << name;
  }
}

#ifdef INTARSIA_EVERY_FAMILY
INSTANTIATE_TEST_SUITE_P(Families, Counts,
                         ::testing::Values("conv2d", "pointwise", "depthwise_conv2d",
                                           "depthwise_edges", "fully_connected", "svdf_s8",
                                           "svdf_s16", "lstm_s8", "lstm_s16"),
                         [](const auto& info) { return std::string(info.param); });
#else
INSTANTIATE_TEST_SUITE_P(Families, Counts,
                         ::testing::Values("conv2d", "depthwise_edges", "lstm_s8"),
                         [](const auto& info) { return std::string(info.param); });
#endif

}  // namespace
}  // namespace intarsia::test::cortex_m
