// Object files by LLVM, linked with a program in C and run on this machine and on emulated cores: every result is the
// recorded one, and where it is a float that of the C that we emit.
#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/engine.h"
#include "intarsia/targets/llvm/load_component.h"
#include "needs_llvm.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;

EndToEndRequest request_for(const fs::path& folder, const std::string& board,
                            const std::string& target, const RecordedSample& sample) {
  EndToEndRequest request;
  request.name = "model";
  request.bytes = read_bytes(folder / "model.tflite");
  request.board = board;
  request.target = target;
  request.inputs = sample.inputs;
  return request;
}

// How many invocations the sample's files hold: an input of a case may be several slices.
int32_t invocations(const CompiledModel& model, const RecordedSample& sample) {
  const std::vector<TensorInfo>& inputs = model.program().emitted.inputs;
  if (inputs.empty() || sample.inputs.empty()) return 1;
  return static_cast<int32_t>(static_cast<int64_t>(sample.inputs[0].size()) / inputs[0].bytes);
}

class OnThisMachine : public testing::TestWithParam<fs::path> {};

TEST_P(OnThisMachine, ObjectsComputeWhatCComputes) {
  INTARSIA_NEEDS_LLVM();
  const std::vector<RecordedSample> samples = recorded_samples(GetParam());
  ASSERT_FALSE(samples.empty());
  const RecordedSample& sample = samples.front();
  EndToEndRequest request = request_for(GetParam(), "host", "c", sample);
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> c = parse_target(registry.catalogue(), "c");
  const Result<CompiledModel> model = compile(request.bytes, "model.tflite", registry, *c, {});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  request.samples = invocations(*model, sample);
  const Result<EndToEnd> of_c = run_end_to_end(request);
  ASSERT_TRUE(of_c.ok()) << of_c.error().to_string();
  request.target = "llvm";
  const Result<EndToEnd> of_llvm = run_end_to_end(request);
  ASSERT_TRUE(of_llvm.ok()) << of_llvm.error().to_string();
  EXPECT_EQ(of_llvm->run.outputs, of_c->run.outputs);
}

// Every kernel is code here: none is left to be executed from its loops.
void expect_native(const CompiledProgram& program) {
  EngineRegistry engines;
  add_builtin_engine(engines);
  const LoadNativeCode* load = engines.native_code("llvm");
  ASSERT_NE(load, nullptr);
  const Result<std::unique_ptr<NativeCode>> code = (*load)(program);
  ASSERT_TRUE(code.ok()) << code.error().to_string();
  ASSERT_NE(code->get(), nullptr);
  for (const tir::Func& func : program.lowered.funcs)
    EXPECT_EQ((*code)->function(func.name) != nullptr, func.name != program.lowered.entry)
        << func.name;
  EXPECT_EQ((*code)->function("no_such_function"), nullptr);
}

TEST_P(OnThisMachine, CodeInThisProcessComputesWhatCComputes) {
  INTARSIA_NEEDS_LLVM();
  const RecordedSample sample = recorded_samples(GetParam()).front();
  TargetRegistry registry;
  EngineRegistry engines;
  add_builtin_targets(registry);
  add_builtin_engine(engines);
  const std::vector<uint8_t> bytes = read_bytes(GetParam() / "model.tflite");
  std::vector<std::vector<Engine::Bytes>> results;
  for (const char* name : {"c", "llvm"}) {
    const Result<TargetSpec> target = parse_target(registry.catalogue(), name);
    ASSERT_TRUE(target.ok());
    const Result<CompiledModel> model = compile(bytes, "model.tflite", registry, *target, {});
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    if (name == std::string("llvm")) expect_native(model->program());
    Result<Engine> engine = Engine::make(*model, engines);
    ASSERT_TRUE(engine.ok()) << engine.error().to_string();
    for (int32_t run = 0; run < invocations(*model, sample); ++run) {
      std::vector<std::span<const uint8_t>> inputs;
      for (size_t i = 0; i < sample.inputs.size(); ++i) {
        const auto size = static_cast<size_t>(engine.value().inputs()[i].bytes);
        inputs.push_back(
            std::span(sample.inputs[i]).subspan(static_cast<size_t>(run) * size, size));
      }
      Result<std::vector<Engine::Bytes>> made = engine.value().run(inputs);
      ASSERT_TRUE(made.ok()) << made.error().to_string();
      results.push_back(*std::move(made));
    }
  }
  for (size_t i = 0; i < results.size() / 2; ++i)
    EXPECT_EQ(results[i + results.size() / 2], results[i]) << "invocation " << i;
}

std::vector<fs::path> own(std::vector<fs::path> folders) {
  std::erase_if(folders, [](const fs::path& folder) { return !is_own(folder); });
  return folders;
}

INSTANTIATE_TEST_SUITE_P(Models, OnThisMachine, testing::ValuesIn(own(recorded_models())),
                         [](const auto& info) { return test_name(info.param); });
INSTANTIATE_TEST_SUITE_P(Operators, OnThisMachine, testing::ValuesIn(own(recorded_cases())),
                         [](const auto& info) { return test_name(info.param); });

struct Core {
  const char *board, *target;
  std::vector<const char*> models = {"separable_s8", "residual_s16", "lstm_s8"};
};

class OnBoards : public testing::TestWithParam<Core> {};

TEST_P(OnBoards, ObjectsAreLinkedIntoFirmware) {
  INTARSIA_NEEDS_LLVM();
  const Core core = GetParam();
  if (!can_run(core.board)) GTEST_SKIP() << board_needs(core.board);
  for (const char* name : core.models) {
    const fs::path folder = recorded_folder(name);
    const std::vector<RecordedSample> samples = recorded_samples(folder);
    ASSERT_FALSE(samples.empty()) << name;
    EndToEndRequest request = request_for(folder, core.board, core.target, samples.front());
    request.measure = !is_process(request.board);
    const Result<EndToEnd> ran = run_end_to_end(request);
    ASSERT_TRUE(ran.ok()) << name << ": " << ran.error().to_string();
    EXPECT_EQ(ran->run.outputs, samples.front().outputs) << name;
    if (!ran->measured) continue;
    EXPECT_GT(ran->run.stack_run, 0) << name;
    EXPECT_LE(ran->run.stack_run, ran->measured->stack_bytes) << name;
    EXPECT_GT(ran->measured->code_bytes, 0) << name;
    EXPECT_GT(ran->measured->constant_bytes, 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryTriple, OnBoards,
    testing::Values(Core{"mps2-an385", "cortex-m3-llvm"}, Core{"mps2-an386", "cortex-m4-llvm"},
                    Core{"mps2-an500", "cortex-m7-llvm"}, Core{"mps3-an547", "cortex-m55-llvm"},
                    Core{"microbit", "cortex-m0-llvm", {"separable_s8"}},
                    Core{"riscv32-virt", "riscv32-llvm"}, Core{"aarch64-linux", "cortex-a53-llvm"}),
    [](const auto& info) {
      std::string name = info.param.target;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// ---- what is refused ----------------------------------------------------------------------------

std::string refusal(const std::string& text) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target(registry.catalogue(), text);
  if (!target.ok()) return target.error().to_string();
  CompileOptions options;
  const Result<CompiledModel> model =
      compile(read_bytes(recorded_folder("separable_s8") / "model.tflite"), "model.tflite",
              registry, *target, options);
  return model.ok() ? "" : model.error().to_string();
}

TEST(Refused, ATripleWithoutACodeGenerator) {
  INTARSIA_NEEDS_LLVM();
  const std::string text = refusal("llvm -mtriple=z80-none-elf");
  EXPECT_NE(text.find("has no code generator for 'z80-none-"), text.npos) << text;
  EXPECT_NE(text.find("-mtriple"), text.npos) << text;
}

TEST(Refused, AMachineThatStoresTheHighByteFirst) {
  INTARSIA_NEEDS_LLVM();
  const std::string text = refusal("llvm -mtriple=powerpc-unknown-linux-gnu");
  EXPECT_NE(text.find("stores the high byte first"), text.npos) << text;
}

TEST(Refused, WithoutLlvmItSaysWhatToInstall) {
  const Result<targets::llvm::Component> none = targets::llvm::load_component({"/nowhere/llvm.so"});
  ASSERT_FALSE(none.ok());
  const std::string text = none.error().to_string();
  EXPECT_NE(text.find("was built without LLVM"), text.npos) << text;
  EXPECT_NE(text.find("install llvm-14-dev and clang-14"), text.npos) << text;
  EXPECT_EQ(refusal("llvm"), kHasLlvm ? "" : text);
}

TEST(Refused, AFileThatIsNoComponent) {
  const Result<targets::llvm::Component> text =
      targets::llvm::load_component({INTARSIA_SOURCE_DIR "/README.md"});
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().to_string().find("README.md"), std::string::npos);
}

TEST(Refused, AnObjectOfAnotherMachineThanTheBoards) {
  INTARSIA_NEEDS_LLVM();
  const RecordedSample sample = recorded_samples(recorded_folder("separable_s8")).front();
  const Result<EndToEnd> ran = run_end_to_end(
      request_for(recorded_folder("separable_s8"), "host", "cortex-m4-llvm", sample));
  ASSERT_FALSE(ran.ok());
  const std::string text = ran.error().to_string();
  EXPECT_NE(text.find("model.o: is code for Arm, and board 'host' runs "), text.npos) << text;
}

}  // namespace
}  // namespace intarsia::test
