// Firmware for a Cortex-M55 in QEMU with a simulated NPU beside it: the emitted C, the driver and the
// streams as they would be flashed.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "end_to_end.h"
#include "intarsia/build.h"
#include "intarsia/package.h"
#include "recorded_data.h"
#include "support/files.h"

namespace intarsia::test::ethos_u {
namespace {

const std::string kRoot = INTARSIA_SOURCE_DIR;

bool can_emulate() {
  return std::system("command -v arm-none-eabi-g++ >/dev/null 2>&1") == 0 &&
         std::system("command -v qemu-system-arm >/dev/null 2>&1") == 0;
}

Result<std::vector<graph::TensorValue>> run_on_board(
    const graph::Module& module, const std::vector<graph::TensorValue>& inputs) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const board::Board board, board::find_board(kRoot + "/boards", "mps3-an547"));
  INTARSIA_TRY(const TargetSpec target,
               parse_target_argument(registry.catalogue(), "cortex-m55+ethos-u55-128"));
  INTARSIA_TRY(const board::Core core, board::core_for(board, target.host().get_string("mcpu")));
  CompileOptions options;
  options.memory = board::memory_map(board);
  INTARSIA_TRY(const CompiledModel model, compile_module(module, registry, target, options));
  INTARSIA_TRY(const PackageContents package, make_package(model, registry, target,
                                                           {board.name, core.name, kRoot, false,
                                                            board.takes_simulated_devices()}));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path() + "/package", package.files));
  const BuildSetting setting{work.path() + "/package", package.manifest, board, core, kRoot};
  ExecuteRequest request;
  INTARSIA_TRY(request.program, build_program(setting, work.path()));
  request.inputs = inputs;
  INTARSIA_TRY(const ExecuteResult result, execute(setting, request, work.path()));
  return result.outputs;
}

TEST(Emulated, DigitsOnCoreAndNpu) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++ or qemu-system-arm";
  const std::vector<uint8_t> bytes = read_bytes(kRoot + "/examples/digits/digits.tflite");
  const Result<graph::Module> module = import_stream(bytes, "digits.tflite");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  std::vector<graph::TensorValue> inputs;
  std::mt19937 random(5);
  for (const graph::TensorId id : module->entry_function().inputs) {
    graph::TensorValue& value = inputs.emplace_back(module->entry_function().tensor(id).bytes());
    for (uint8_t& byte : value) byte = static_cast<uint8_t>(random());
  }
  graph::Evaluator evaluator(*module);
  const auto expected = evaluator.run(inputs);
  ASSERT_TRUE(expected.ok());
  const auto outputs = run_on_board(*module, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  EXPECT_EQ(*outputs, *expected);
}

class EmulatedStream : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(EmulatedStream, GivesTheGoldens) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++ or qemu-system-arm";
  const Result<graph::Module> module = import_stream(read_bytes(GetParam()), "vela.tflite");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const auto samples =
      recorded_samples(recorded_folder(GetParam().parent_path().filename().string()));
  ASSERT_GT(samples.size(), 1u);
  const auto outputs = run_on_board(*module, samples[1].inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  EXPECT_EQ(*outputs, samples[1].outputs);
}

// Of those for the NPU of the board.
std::vector<std::filesystem::path> streams() {
  constexpr char kName[] = "ethos-u55-128-Shared_Sram-Performance";
  std::vector<std::filesystem::path> files;
  for (const char* model : {"separable_s8", "separable_s16", "lstm_s8"})
    files.push_back(vela_stream(golden_folder(), std::string(model) + "/" + kName));
  const auto kws = vela_stream(shared_folder(), std::string("kws_ref_model/") + kName);
  if (std::filesystem::exists(kws)) files.push_back(kws);
  return files;
}

INSTANTIATE_TEST_SUITE_P(Recorded, EmulatedStream, testing::ValuesIn(streams()),
                         [](const auto& info) { return stream_test_name(info.param); });

}  // namespace
}  // namespace intarsia::test::ethos_u
