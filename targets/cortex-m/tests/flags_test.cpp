// What is said when flags do not fit the core that a model was compiled for, and that nothing is said when they do: the
// emitted sources of a few small networks, under the flags of every core, by both compilers, without a warning.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "operator_modules.h"
#include "settings.h"
#include "support/files.h"
#include "support/needs.h"
#include "support/process.h"
#include "wide_modules.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}
namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

namespace fs = std::filesystem;
using graph::OpKind;

// Folder with the emitted package of a module for `c -mcpu=<target>`.
Result<CompiledModel> emit(const graph::Module& module, const std::string& target,
                           const std::string& folder) {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  targets::cortex_m::add_kinds(registry);
  INTARSIA_TRY(const TargetSpec spec, parse_target(registry.catalogue(), "c -mcpu=" + target));
  CompileOptions options;
  INTARSIA_TRY(const board::Board board,
               board::find_board(std::string(INTARSIA_SOURCE_DIR) + "/boards", "mps2-an386"));
  options.memory = board::memory_map(board);
  INTARSIA_TRY(CompiledModel model, compile_module(module, registry, spec, options));
  for (const SourceFile& file : model.program().emitted.sources)
    INTARSIA_TRY_VOID(write_file(folder + "/" + file.path, file.whole_text()));
  return model;
}

graph::Module convolution() {
  Random random(31);
  return window_module(random, {OpKind::Conv2d, 1, 6, 6, 8, 12, 3, 3, 1});
}

// What a compiler says of the emitted sources in a folder; empty where it says nothing.
std::string said(const std::string& folder, const std::vector<std::string>& compiler) {
  const std::string root = INTARSIA_SOURCE_DIR, views = INTARSIA_CORTEX_M_VIEWS;
  std::string text;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".c") continue;
    std::vector<std::string> command = compiler;
    for (const std::string& flag :
         {std::string("-std=c11"), std::string("-Wall"), std::string("-Wextra"),
          std::string("-Wconversion"), "-I" + folder, "-I" + views + "/isa",
          "-I" + views + "/device", "-I" + root + "/device-runtime/kernels/include",
          "-I" + root + "/device-runtime/contract/include", std::string("-c"),
          entry.path().string(), std::string("-o"), folder + "/object.o"})
      command.push_back(flag);
    const auto outcome = run_process(command);
    if (!outcome.ok()) return outcome.error().to_string();
    text += outcome->err;
    if (!outcome->succeeded()) text += "failed";
  }
  return text;
}

std::vector<std::string> gcc(const std::vector<std::string>& flags) {
  std::vector<std::string> command = {"arm-none-eabi-gcc", "-mthumb"};
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}

class Flags : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  }
  std::string of(const std::string& target, const std::vector<std::string>& compiler) {
    const auto work = TemporaryFolder::make();
    const auto model = emit(convolution(), target, work->path());
    EXPECT_TRUE(model.ok()) << model.error().to_string();
    return said(work->path(), compiler);
  }
};

TEST_F(Flags, WithoutTheCoresInstructionsAreTold) {
  const std::string fallback = "kernels fall back to portable C";
  using ::testing::HasSubstr;
  for (const char* flags : {"-mcpu=cortex-m3", "-mcpu=cortex-m4", "-mcpu=cortex-m55+nomve"}) {
    const std::string text = of("cortex-m55", gcc({flags, "-O2"}));
    EXPECT_THAT(text, HasSubstr("a core with Helium (MVE); these flags have none: " + fallback));
  }
  EXPECT_THAT(of("cortex-m4", gcc({"-mcpu=cortex-m3", "-O2"})),
              HasSubstr("a core with the DSP extension; these flags have none: " + fallback));
  EXPECT_THAT(of("cortex-m33", gcc({"-mcpu=cortex-m33+nodsp", "-O2"})),
              HasSubstr("DSP extension; these flags have none"));
  EXPECT_THAT(of("cortex-m3", gcc({"-mcpu=cortex-m0", "-O2"})),
              HasSubstr("long multiplication (Armv7-M); these flags have none: " + fallback));
  EXPECT_THAT(of("cortex-m0", gcc({"-mcpu=cortex-m0"})), HasSubstr("without optimisation (-O0)"));
}

TEST_F(Flags, ThatFitAreNot) {
  EXPECT_EQ(of("cortex-m55", gcc({"-mcpu=cortex-m55", "-mfloat-abi=hard", "-O2"})), "");
  EXPECT_EQ(of("cortex-m55 -mattr=-mve", gcc({"-mcpu=cortex-m55+nomve", "-Os"})), "");
  EXPECT_EQ(of("cortex-m33 -mattr=-dsp", gcc({"-mcpu=cortex-m33+nodsp", "-Os"})), "");
  EXPECT_EQ(of("cortex-m4", gcc({"-mcpu=cortex-m7", "-O3"})), "");
  EXPECT_EQ(of("cortex-m0", gcc({"-mcpu=cortex-m23", "-Os"})), "");
}

// A model is tried out on a machine of another kind: there is no core to fit.
TEST_F(Flags, OfThisMachineAreNot) {
  EXPECT_EQ(of("cortex-m55", {"gcc"}), "");
}

TEST_F(Flags, CanBeMeant) {
  EXPECT_EQ(of("cortex-m55", gcc({"-mcpu=cortex-m4", "-DINTARSIA_ANY_FLAGS"})), "");
}

TEST_F(Flags, OfEveryCoreCompileEmittedSourcesWithoutAWarning) {
  Random random(32);
  const graph::Module modules[] = {convolution(), lstm_module(random, DataType::Int8, 8, 6),
                                   svdf_module(random, DataType::Int16, 8, 6, 4),
                                   lstm_module(random, DataType::Int16, 5, 7)};
  const bool has_clang = run_process({"clang", "--version"}).ok();
  for (const SettingCore& core : setting_cores())
    for (const graph::Module& module : modules) {
      const auto work = TemporaryFolder::make();
      const auto model = emit(module, core.target, work->path());
      ASSERT_TRUE(model.ok()) << model.error().to_string();
      for (const char* compiler : {"arm-none-eabi-gcc", "clang"}) {
        if (std::string(compiler) == "clang" && !has_clang) continue;
        const Setting setting = MatrixCase{&core, compiler, "-O2", &variants().front()}.setting();
        std::vector<std::string> command = {compiler, "-mthumb"};
        if (std::string(compiler) == "clang")
          command.insert(command.end(), {"--target=arm-none-eabi", "-isystem", INTARSIA_NEWLIB});
        command.insert(command.end(), setting.core.begin(), setting.core.end());
        command.insert(command.end(), setting.flags.begin(), setting.flags.end());
        EXPECT_EQ(said(work->path(), command), "") << core.name << " " << compiler;
      }
    }
}

}  // namespace
}  // namespace intarsia::test::cortex_m
