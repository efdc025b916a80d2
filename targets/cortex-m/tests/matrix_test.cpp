// The kernels and emitted code under every setting of compilers that users have: built without a warning, and on an
// emulated core the results of the reference evaluator bit for bit. Each setting once by default; INTARSIA_EVERY_SETTING:
// all cores with all compilers, levels and variants. One line of docs/cortex-m.md's table per case is printed.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernel_cases.h"
#include "settings.h"
#include "support/files.h"
#include "support/needs.h"
#include "support/process.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;

// Operators of all families: a number of each, spread over its cases. Small: for 16 kB of RAM.
KernelProgram operators_for(const SettingCore& core) {
  constexpr size_t kEachFloat = 30;
  KernelProgram kernels(core.target);
  const bool small = std::string(core.board) == "microbit";
  const size_t each = small ? 2 : 3;
  for (const auto& make : {small_convolutions,
                           larger_convolutions,
                           convolutions_beside_edges,
                           deep_convolutions,
                           depthwise_convolutions,
                           dilated_depthwise_convolutions,
                           fully_connected_layers,
                           additions,
                           differences_and_products,
                           prelus,
                           comparisons_and_quotients,
                           wide_depthwise_of_three_columns,
                           means_and_sums,
                           poolings_and_rows,
                           long_and_thin,
                           grouped_and_dilated_convolutions,
                           transposed_convolutions,
                           matrix_products,
                           hybrid_layers,
                           shifted_layers,
                           rows_to_steps,
                           float_elements,
                           moved_rows}) {
    std::vector<graph::Module> modules;
    for (graph::Module& module : make()) {
      if (!small || fits_small_memory(module, core.target)) modules.push_back(std::move(module));
    }
    for (size_t i = 0; i < each && i < modules.size(); ++i)
      kernels.add(std::move(modules[(2 * i + 1) * modules.size() / (2 * each)]));
  }
  Random random(23);
  WideCase c{OpKind::Conv2d, 4, 4, 5, 6, 3, 2, 1, 1, {1, 1, 1, 1}};
  kernels.add(wide_module(random, c));
  c.kind = OpKind::DepthwiseConv2d, c.channels = c.out_channels = 6, c.kernel_w = 3;
  kernels.add(wide_module(random, c));
  kernels.add(wide_module(random, {OpKind::FullyConnected, 1, 1, 27, 7}));
  for (const auto& make : {wide_convolutions, wide_sums_and_poolings, wide_matrix_products,
                           wide_staged_convolutions}) {
    const std::vector<graph::Module> wide = make();
    for (size_t i = 0; !small && i < each; ++i)
      kernels.add(wide[(2 * i + 1) * wide.size() / (2 * each)]);
  }
  // In single precision, where there are kernels.
  std::vector<graph::Module> floats = float_convolutions();
  for (graph::Module& module : float_depthwise_convolutions()) floats.push_back(std::move(module));
  for (size_t i = 0; i < floats.size(); i += kEachFloat) {
    KernelProgram one(core.target);
    one.add(floats[i]);
    if (one.tuned() != 0) kernels.add(floats[i]);
  }
  return kernels;
}

struct Operators {
  KernelProgram kernels;
  std::vector<std::vector<graph::TensorValue>> inputs, expected;
};

// Made once for a core, whatever compiles them.
const Operators& operators_of(const SettingCore& core) {
  static std::map<std::string, Operators> made;
  const auto found = made.find(core.name);
  if (found != made.end()) return found->second;
  Operators operators{operators_for(core), {}, {}};
  Random random(29);
  for (size_t i = 0; i < operators.kernels.count(); ++i) {
    const graph::Module& module = operators.kernels.module(i);
    operators.inputs.push_back(testing::random_inputs(random, module));
    graph::Evaluator evaluator(module);
    operators.expected.push_back(*evaluator.run(operators.inputs.back()));
  }
  return made.emplace(core.name, std::move(operators)).first->second;
}

bool installed(const std::string& program) {
  const auto outcome = run_process({program, "--version"});
  return outcome.ok() && outcome->succeeded();
}

// Helium's instructions are those of coprocessors on older cores: objdump has to be told that it is read as Helium.
std::string disassembly(const std::string& object, bool helium) {
  std::vector<std::string> command = {"arm-none-eabi-objdump", "-d", "--no-show-raw-insn", object};
  if (helium) command.insert(command.end(), {"-m", "armv8.1-m.main"});
  const auto outcome = run_process(command);
  return outcome.ok() ? outcome->out : "";
}

class Matrix : public ::testing::TestWithParam<MatrixCase> {};

TEST_P(Matrix, BuildsWithoutAWarningAndIsExact) {
  std::string reason;
  const MatrixCase& one = GetParam();
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  if (!installed(one.compiler))
    GTEST_SKIP() << needs(one.compiler) << one.compiler << " is not installed";
  if (one.compiler == "clang" && one.variant->whole_program && !installed("llvm-link"))
    GTEST_SKIP() << needs("clang") << "llvm-link is not installed";
  const Operators& operators = operators_of(*one.core);
  CoreRequest request{one.core->board, one.core->also};
  request.setting = one.setting();
  const Result<CoreRun> run = run_on_core(request, operators.kernels, operators.inputs);
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  size_t exact = 0;
  for (size_t i = 0; i < operators.kernels.count(); ++i) {
    const graph::Function& function = operators.kernels.module(i).entry_function();
    exact += function.tensor(function.outputs[0]).type != DataType::Float32;
    EXPECT_EQ(difference(operators.kernels.module(i), run->outputs[i], operators.expected[i][0]),
              "")
        << "case " << i << "\n"
        << graph::print(operators.kernels.module(i));
    EXPECT_EQ(run->damage[i], "") << i;
  }
  std::string flags;
  for (const std::string& flag : request.setting->core) flags += flag + " ";
  for (const std::string& flag : request.setting->flags) flags += flag + " ";
  if (one.variant->whole_program) flags += "-flto ";
  std::printf("| %s | %s | `%s` | %zu operators exact on %s |\n", one.core->target,
              one.compiler.c_str(), flags.substr(0, flags.size() - 1).c_str(), exact,
              one.core->board);
}

std::vector<MatrixCase> matrix() {
#ifdef INTARSIA_EVERY_SETTING
  return full_matrix();
#else
  return lean_matrix();
#endif
}
INSTANTIATE_TEST_SUITE_P(Settings, Matrix, ::testing::ValuesIn(matrix()),
                         [](const auto& info) { return info.param.name(); });

// The objects of one setting for what its instructions are: not executed.
std::vector<std::string> objects_of(const SettingCore& core, const std::string& compiler,
                                    std::vector<std::string> flags, const TemporaryFolder& work) {
  Setting setting{compiler, {core.march, fmt::format("-mfloat-abi={}", core.fpu)}, {}};
  setting.flags = std::move(flags);
  const auto objects = compile_kernels(setting, "", work.path());
  EXPECT_TRUE(objects.ok()) << objects.error().to_string();
  return objects.ok() ? *objects : std::vector<std::string>{};
}

// Of the cores that have assembly of their own: those with the most by default.
constexpr std::string_view kCoresWithAssembly[] = {
    "m4",
    "m55",
#ifdef INTARSIA_EVERY_SETTING
    "m0",
    "m3",
#endif
};

// Reserved: no instruction names it, under neither of its names.
TEST(Assembly, LeavesAReservedR9Alone) {
  if (!installed("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const std::regex r9("[\t ,\\[{](r9|sb)\\b");
  for (const SettingCore& core : setting_cores()) {
    const std::string name = core.name;
    if (std::ranges::count(kCoresWithAssembly, name) == 0) continue;
    const auto work = TemporaryFolder::make();
    ASSERT_TRUE(work.ok());
    for (const std::string& object : objects_of(
             core, "arm-none-eabi-gcc", {"-O1", "-ffixed-r9", "-DINTARSIA_RESERVED_R9"}, *work)) {
      std::istringstream lines(disassembly(object, name == "m55"));
      for (std::string line; std::getline(lines, line);)
        EXPECT_FALSE(
            (line.find("r9") != std::string::npos || line.find("sb") != std::string::npos) &&
            line.find(">:") == std::string::npos && std::regex_search(line, r9))
            << object << ": " << line;
    }
  }
}

// Where branch targets are enforced (Armv8.1-M with PACBTI) an indirect jump has to land on BTI. The emulator does not
// enforce it, so the targets are read from the code: addresses that ADR makes in functions with such jumps, and
// the four steps of an unrolled loop, each of which is an entry.
TEST(Assembly, IndirectJumpsLandOnBti) {
  if (!installed("clang") || !installed("arm-none-eabi-objdump"))
    GTEST_SKIP() << needs("clang") << "no clang or no objdump";
  const std::vector<SettingCore>& cores = setting_cores();
  const auto core = std::find_if(cores.begin(), cores.end(), [](const SettingCore& one) {
    return std::string(one.name) == "m55";
  });
  const auto work = TemporaryFolder::make();
  ASSERT_TRUE(work.ok());
  // Bytes of a step, with its BTI, and jumps of a source.
  std::map<std::string, std::pair<uint64_t, size_t>> sources = {{"mve_dense", {72, 1}},
                                                                {"mve_dense_shared", {72, 1}}};
  for (const std::string& object :
       objects_of(*core, "clang", {"-O2", "-mbranch-protection=standard"}, *work)) {
    const std::string source = std::filesystem::path(object).stem().string();
    std::set<uint64_t> landings;
    std::vector<uint64_t> made, targets;  // by ADR: in this function, in those that jump
    size_t jumps = 0;
    bool jumped = false;
    std::istringstream lines(disassembly(object, false) + "0 <end>:\n");
    for (std::string line; std::getline(lines, line);) {
      if (line.find(">:") != std::string::npos) {
        if (jumped) targets.insert(targets.end(), made.begin(), made.end());
        made.clear(), jumped = false;
      }
      const size_t colon = line.find(":\t");
      if (colon == std::string::npos) continue;
      const uint64_t at = std::stoull(line.substr(0, colon), nullptr, 16);
      const std::string text = line.substr(colon + 2);
      const size_t offset = text.find("pc, #");
      if (text.starts_with("bti")) landings.insert(at);
      if (text.starts_with("add") && offset != std::string::npos)
        made.push_back((at + 4) / 4 * 4 + std::stoull(text.substr(offset + 5)));
      if (text.starts_with("ldr.w\tpc, [")) ++jumps, jumped = true;
    }
    const auto expected = sources.find(source);
    EXPECT_EQ(jumps, expected == sources.end() ? 0 : expected->second.second) << source;
    for (const uint64_t target : targets)
      EXPECT_TRUE(landings.contains(target)) << source << ": " << fmt::format("{:x}", target);
    if (expected == sources.end()) continue;
    const uint64_t step = expected->second.first;
    EXPECT_TRUE(std::any_of(targets.begin(), targets.end(), [&](uint64_t target) {
      return landings.contains(target + step) && landings.contains(target + 2 * step) &&
             landings.contains(target + 3 * step);
    })) << source;
    sources.erase(expected);
  }
  EXPECT_TRUE(sources.empty());
}

}  // namespace
}  // namespace intarsia::test::cortex_m
