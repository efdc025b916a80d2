// How near the compiler's estimates are to counted cycles, core by core: of layers at random that the tables were not made
// of, and of the operators of networks.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core_program.h"
#include "cost_samples.h"
#include "intarsia/partition.h"
#include "support/files.h"
#include "support/needs.h"
#include "support/parsed.h"
#include "support/process.h"
#include "support/shared_data.h"

namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Core {
  const char *name, *board;
  // Of a hundred estimates, how many are within a fifth of the count at least: of layers with kernels, and of operators
  // of networks.
  double of_layers, of_operators;
};
void PrintTo(const Core& core, std::ostream* out) {
  *out << core.name;
}

struct Share {
  int near = 0, all = 0;
  void add(double estimated, double counted) {
    constexpr double kFifth = 0.2;
    ++all;
    near += std::abs(estimated / counted - 1) <= kFifth;
  }
  double percent() const { return all == 0 ? 0 : 100.0 * near / all; }
};

class Shares : public ::testing::TestWithParam<Core> {
 protected:
  void SetUp() override {
    std::string reason;
    const bool riscv = std::string(GetParam().name).starts_with("rv32");
    if (!can_run_cores(reason, riscv))
      GTEST_SKIP() << needs(riscv ? "riscv-toolchain" : "cross-toolchain") << reason;
  }
  double estimate(const graph::Module& module) {
    const TargetSpec spec = parsed_target(registry_, GetParam().name);
    return registry_.kind_of(spec.host())
        .cost(spec.host(), module, module.entry_function(), lowering_)
        .cycles;
  }

  MemoryMap memory_ = board_memory();
  LoweringOptions lowering_ = with_memory();

 private:
  // A board's, without wait states.
  static MemoryMap board_memory() {
    MemoryMap map = unlimited_memory();
    map.open = false;
    for (MemoryPool& pool : map.pools) pool.holds_constants = true;
    return map;
  }
  LoweringOptions with_memory() {
    LoweringOptions options;
    options.memory = &memory_;
    return options;
  }
  TargetRegistry registry_ = registry_beside_c(targets::cortex_m::add_kinds);
};

TEST_P(Shares, OfLayersAtRandom) {
  constexpr uint32_t kSeed = 2;  // the tables are made of the first
  const std::vector<CostSample> samples = cost_samples(kSeed, 3);
  const auto counted = count_samples(GetParam().name, GetParam().board, samples, {});
  ASSERT_TRUE(counted.ok()) << counted.error().to_string();
  Share share;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double estimated = estimate(samples[i].module);
    share.add(estimated, (*counted)[i]);
    if (std::abs(estimated / (*counted)[i] - 1) > 0.2)
      std::printf("%.2f of %.0f: %s\n", estimated / (*counted)[i], (*counted)[i],
                  samples[i].what.c_str());
  }
  std::printf("%s: %d of %d layers within a fifth, %.1f %%\n", GetParam().name, share.near,
              share.all, share.percent());
  EXPECT_GE(share.percent(), GetParam().of_layers);
}

Result<Json> ask(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), INTARSIA_PROGRAM);
  arguments.emplace_back("--json");
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(arguments));
  if (!outcome.succeeded()) return Diagnostics(arguments[1], outcome.err);
  return Json::parse(outcome.out);
}

// Operators of one network: estimated by `explain`, counted by `run`.
Result<void> add_network(const fs::path& folder, const Core& core, Share& share) {
  const std::string model = (folder / "model.tflite").string();
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY(const Json explained,
               ask({"explain", model, "--target", core.name, "--board", core.board}));
  std::vector<std::string> run = {"run",          model,       "--target",
                                  core.name,      "--board",   core.board,
                                  "--output-dir", work.path(), "--count-cycles"};
  for (int i = 0; fs::exists(folder / fmt::format("in0_{}.bin", i)); ++i)
    run.insert(run.end(), {"--input", (folder / fmt::format("in0_{}.bin", i)).string()});
  INTARSIA_TRY(const Json counted, ask(run));
  std::map<std::string, double> estimates;
  for (const Json& row : explained.at("operators"))
    if (row.contains("cycles")) estimates[row.at("name")] = row.at("cycles");
  for (const Json& row : counted.at("cycles").at(0).at("operators")) {
    const std::string name = row.at("name");
    const auto found = estimates.find(name);
    if (name.empty() || found == estimates.end()) continue;
    const double cycles = row.at("nominal");
    share.add(found->second, cycles);
    if (std::abs(found->second / cycles - 1) > 0.2)
      std::printf("%.2f of %.0f: %s %s\n", found->second / cycles, cycles,
                  folder.filename().c_str(), name.c_str());
  }
  return {};
}

TEST_P(Shares, OfTheOperatorsOfNetworks) {
  INTARSIA_NEEDS_SHARED("models");
  Share share;
  for (const auto& entry : fs::directory_iterator(shared_folder() / "models")) {
#ifndef INTARSIA_EVERY_NETWORK
    if (entry.path().filename() != "ad01_int8" &&
        entry.path().filename() != "micro_speech_quantized")
      continue;
#endif
    if (!fs::exists(entry.path() / "model.tflite")) continue;
    const Result<void> added = add_network(entry.path(), GetParam(), share);
    ASSERT_TRUE(added.ok()) << entry.path() << added.error().to_string();
  }
  ASSERT_GT(share.all, 0);
  std::printf("%s on %s: %d of %d operators within a fifth, %.1f %%\n", GetParam().name,
              GetParam().board, share.near, share.all, share.percent());
  EXPECT_GE(share.percent(), GetParam().of_operators);
}

constexpr Core kCores[] = {
    {"cortex-m4", "mps2-an386", 80, 90},
    {"cortex-m55", "mps3-an547", 80, 90},
    {"rv32imc", "riscv32-virt", 80, 90},
#ifdef INTARSIA_EVERY_NETWORK
    {"cortex-m0", "mps2-an385", 80, 90},
    {"cortex-m3", "mps2-an385", 80,
     88},  // layers of floats by the compiler's library: zeros are quicker
    {"cortex-m7", "mps2-an500", 80, 90},
    {"cortex-m33", "mps2-an505", 80, 90},
#endif
};
INSTANTIATE_TEST_SUITE_P(Cores, Shares, ::testing::ValuesIn(kCores), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace intarsia::test::cortex_m
