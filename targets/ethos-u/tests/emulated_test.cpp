// Firmware for a Cortex-M55 in QEMU with a simulated NPU beside it: the emitted C, the driver and the
// streams as they would be flashed.
#include <algorithm>
#include <cstdlib>
#include <functional>
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

// What a test does to the package's sources before they are compiled.
using Edit = std::function<void(PackageContents&)>;

Result<ExecuteResult> execute_on_board(const graph::Module& module,
                                       const std::vector<graph::TensorValue>& inputs,
                                       const Edit& edit = {}, int32_t repeat = 1) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const board::Board board, board::find_board(kRoot + "/boards", "mps3-an547"));
  INTARSIA_TRY(const TargetSpec target,
               parse_target_argument(registry.catalogue(), "cortex-m55+ethos-u55-128"));
  INTARSIA_TRY(const board::Core core, board::core_for(board, target.host().get_string("mcpu")));
  CompileOptions options;
  options.memory = board::memory_map(board);
  INTARSIA_TRY(const CompiledModel model, compile_module(module, registry, target, options));
  INTARSIA_TRY(PackageContents package, make_package(model, registry, target,
                                                     {board.name, core.name, kRoot, false,
                                                      board.takes_simulated_devices()}));
  if (edit) edit(package);
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path() + "/package", package.files));
  const BuildSetting setting{work.path() + "/package", package.manifest, board, core, kRoot};
  ExecuteRequest request;
  INTARSIA_TRY(request.program, build_program(setting, work.path()));
  request.inputs = inputs;
  request.repeat = repeat;
  return execute(setting, request, work.path());
}

Result<std::vector<graph::TensorValue>> run_on_board(const graph::Module& module,
                                                     const std::vector<graph::TensorValue>& inputs,
                                                     const Edit& edit = {}) {
  INTARSIA_TRY(const ExecuteResult result, execute_on_board(module, inputs, edit));
  return result.outputs;
}

std::string& glue_of(PackageContents& package) {
  const auto glue = std::ranges::find_if(
      package.files, [](const SourceFile& file) { return file.path.ends_with("_devices.c"); });
  EXPECT_NE(glue, package.files.end());
  return glue->text;
}

// Without the way over functions: what is left are loads and stores of the driver at the board's addresses.
void without_functions(PackageContents& package) {
  std::string& text = glue_of(package);
  const std::string from = "bus = intarsia_remote_bus(0);", to = "return NULL;";
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, from.size(), to);
}

struct Digits {
  graph::Module module;
  std::vector<graph::TensorValue> inputs, outputs;
};

Digits digits() {
  Result<graph::Module> module =
      import_stream(read_bytes(kRoot + "/examples/digits/digits.tflite"), "digits.tflite");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  Digits result{std::move(module).value(), {}, {}};
  std::mt19937 random(5);
  for (const graph::TensorId id : result.module.entry_function().inputs) {
    graph::TensorValue& value =
        result.inputs.emplace_back(result.module.entry_function().tensor(id).bytes());
    for (uint8_t& byte : value) byte = static_cast<uint8_t>(random());
  }
  graph::Evaluator evaluator(result.module);
  const auto expected = evaluator.run(result.inputs);
  EXPECT_TRUE(expected.ok());
  result.outputs = *expected;
  return result;
}

TEST(Emulated, DigitsOnCoreAndNpu) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++ or qemu-system-arm";
  const Digits model = digits();
  const auto outputs = run_on_board(model.module, model.inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  EXPECT_EQ(*outputs, model.outputs);
}

TEST(Emulated, TheDriverLoadsAndStoresAtTheBoardsRegisters) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++ or qemu-system-arm";
  const Digits model = digits();
  const auto outputs = run_on_board(model.module, model.inputs, without_functions);
  ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
  EXPECT_EQ(*outputs, model.outputs);
}

// An address at which there is nothing is reported as any fault of the processor.
TEST(Emulated, AnAddressBesideTheRegistersIsAFault) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++ or qemu-system-arm";
  const Digits model = digits();
  const auto outputs = run_on_board(model.module, model.inputs, [](PackageContents& package) {
    std::string& text = glue_of(package);
    const std::string from = "_shared(&driver, registers)";
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), "_shared(&driver, (char *)registers + 2)");
  });
  ASSERT_FALSE(outputs.ok());
  EXPECT_NE(outputs.error().to_string().find("fault"), std::string::npos)
      << outputs.error().to_string();
}

struct FaultRow {
  const char* faults;
  const char* expected;
};

class EmulatedFault : public testing::TestWithParam<FaultRow> {};

// What the simulated NPU meets comes back as the status of the model's run, in the second of three.
TEST_P(EmulatedFault, IsTheStatusOfTheRun) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++ or qemu-system-arm";
  const Digits model = digits();
  ASSERT_EQ(setenv("INTARSIA_DEVICE_FAULTS", GetParam().faults, 1), 0);
  const auto result = execute_on_board(model.module, model.inputs, without_functions, 3);
  ASSERT_EQ(unsetenv("INTARSIA_DEVICE_FAULTS"), 0);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().to_string().find(std::string("the model's run returned status ") +
                                            GetParam().expected),
            std::string::npos)
      << result.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(Injected, EmulatedFault,
                         testing::Values(FaultRow{"bus@1", "39"}, FaultRow{"command@1", "40"},
                                         FaultRow{"weights@1", "41"}, FaultRow{"power@1", "45"},
                                         FaultRow{"stuck@1", "44"}),
                         [](const auto& info) {
                           const std::string text = info.param.faults;
                           return text.substr(0, text.find('@'));
                         });

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
