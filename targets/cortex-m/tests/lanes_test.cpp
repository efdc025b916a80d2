// Kernels of 64-bit cores with vectors, by every backend of device/lanes.h, against the reference evaluator bit for bit. Nothing but
// output and scratch may change.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core_program.h"
#include "kernel_cases.h"
#include "support/needs.h"

namespace intarsia::test::cortex_m {
namespace {

struct LaneCore {
  const char *core, *board, *compiler, *emulator;
};

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

bool has_instructions(const std::string& core) {
#if defined(__x86_64__)
  if (core == "x86-64-v3") return __builtin_cpu_supports("avx2");
  if (core == "cascadelake") return __builtin_cpu_supports("avx512vnni");
#endif
  return !core.empty();
}

class OnLanes : public ::testing::TestWithParam<LaneCore> {
 protected:
  void SetUp() override {
    const LaneCore& core = GetParam();
    if (!has_program(core.compiler) || !has_program(core.emulator))
      GTEST_SKIP() << needs("linux-toolchain") << "no " << core.compiler << " or " << core.emulator;
    if (!has_instructions(core.core))
      GTEST_SKIP() << needs("x86-vectors") << "this processor has no instructions of " << core.core;
  }

  void check(std::vector<graph::Module> modules) const {
    KernelProgram kernels(GetParam().core);
    kernels.add(std::move(modules));
    Random random(41);
    std::vector<std::vector<graph::TensorValue>> inputs;
    for (size_t i = 0; i < kernels.count(); ++i)
      inputs.push_back(testing::random_inputs(random, kernels.module(i)));
    const Result<CoreRun> run =
        run_on_core({GetParam().board, GetParam().core, "-O2"}, kernels, inputs);
    ASSERT_TRUE(run.ok()) << run.error().to_string();
    for (size_t i = 0; i < kernels.count(); ++i) {
      SCOPED_TRACE(fmt::format("case {}\n{}", i, graph::print(kernels.module(i))));
      graph::Evaluator evaluator(kernels.module(i));
      const Result<std::vector<graph::TensorValue>> expected = evaluator.run(inputs[i]);
      ASSERT_TRUE(expected.ok());
      ASSERT_EQ(difference(kernels.module(i), run->outputs[i], (*expected)[0]), "");
      ASSERT_EQ(run->damage[i], "");
    }
  }
};

// Shapes of networks: blocks of channels are whole, begun and several; pixels share a line or have some of their own.
std::vector<graph::Module> shapes_of_networks() {
  using graph::OpKind;
  std::vector<graph::Module> modules;
  Random random(42);
  const auto add = [&](const WindowCase& c) { modules.push_back(window_module(random, c)); };
  add({OpKind::Conv2d, 1, 12, 10, 1, 64, 10, 4, 2});
  add({OpKind::Conv2d, 1, 9, 9, 3, 8, 3, 3, 2});
  add({OpKind::Conv2d, 2, 5, 5, 64, 33, 1, 1, 1});
  add({OpKind::Conv2d, 1, 7, 6, 65, 17, 3, 3, 1});
  add({OpKind::Conv2d, 1, 3, 11, 16, 80, 3, 3, 1});
  add({OpKind::Conv2d, 1, 1, 19, 5, 70, 1, 3, 1});
  add({OpKind::Conv2d, 1, 8, 8, 16, 32, 1, 1, 2});
  modules.push_back(fully_connected_module(random, 1, 640, 128));
  modules.push_back(fully_connected_module(random, 5, 64, 12));
  for (const int64_t channels : {3, 8, 15, 16, 17, 32, 64, 100, 128}) {
    add({OpKind::DepthwiseConv2d, 1, 7, 5, channels, channels, 3, 3, 1});
    add({OpKind::DepthwiseConv2d, 1, 6, 9, channels, channels, 3, 3, 2});
  }
  add({OpKind::DepthwiseConv2d, 1, 9, 9, 24, 24, 5, 5, 2});
  add({OpKind::DepthwiseConv2d, 1, 1, 20, 8, 8, 1, 7, 1});
  add({OpKind::DepthwiseConv2d, 2, 5, 6, 6, 12, 3, 3, 1});
  return modules;
}

// The largest products there are, of both signs: what saturates somewhere on the way shows.
std::vector<graph::Module> extreme_weights() {
  using graph::OpKind;
  std::vector<graph::Module> modules;
  Random random(43);
  for (const int64_t most : {1, 64, 127, 128})
    for (WindowCase c : {WindowCase{OpKind::Conv2d, 1, 6, 5, 12, 20, 3, 3, 1},
                         WindowCase{OpKind::Conv2d, 2, 3, 3, 52, 6, 1, 1, 1},
                         WindowCase{OpKind::DepthwiseConv2d, 1, 7, 4, 19, 19, 3, 3, 1}}) {
      c.most_weight = most;
      modules.push_back(window_module(random, c));
    }
  return modules;
}

// What has no weights, in the shapes of networks: sums that one step gives, and such that need all three; the last sixteen elements whole
// and begun; windows of more elements than the inverse is exact for.
std::vector<graph::Module> elements_of_networks() {
  using graph::OpKind;
  std::vector<graph::Module> modules;
  Random random(44);
  for (const int64_t count : {1, 15, 16, 17, 31, 64, 2000})
    for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul})
      for (int i = 0; i < 3; ++i)
        modules.push_back(binary_module(random, kind, {1, count}, {1, count}));
  for (const OpKind kind : {OpKind::AveragePool2d, OpKind::MaxPool2d})
    for (const auto& [size, channels] : {std::pair{8, 64}, {25, 16}, {47, 17}}) {
      const graph::Pool2dAttrs all{size, size, 1, 1, {}, graph::Activation::None};
      modules.push_back(plain_module(random, kind, all, {1, size, size, channels}));
    }
  modules.push_back(
      plain_module(random, OpKind::Mean, graph::ReduceAttrs{{1, 2}, false}, {1, 7, 7, 100}));
  return modules;
}

// In one program: each build compiles all kernels.
TEST_P(OnLanes, ResultsAreTheReferences) {
  std::vector<graph::Module> all;
  for (auto* cases : {small_convolutions, larger_convolutions, depthwise_convolutions,
                      dilated_depthwise_convolutions, fully_connected_layers, long_and_thin,
                      shapes_of_networks, extreme_weights, poolings_and_rows, additions,
                      differences_and_products, means_and_sums, elements_of_networks})
    for (graph::Module& module : cases()) all.push_back(std::move(module));
  check(std::move(all));
}

TEST_P(OnLanes, TakeWhatNetworksAreMadeOf) {
  KernelProgram kernels(GetParam().core);
  kernels.add(shapes_of_networks());
  EXPECT_EQ(kernels.tuned(), kernels.count());
}

constexpr LaneCore kLaneCores[] = {
    {"cortex-a53", "aarch64-linux", "aarch64-linux-gnu-gcc", "qemu-aarch64"},
    {"cortex-a55", "aarch64-linux", "aarch64-linux-gnu-gcc", "qemu-aarch64"},
    {"x86-64", "x86_64-linux", "x86_64-linux-gnu-gcc", "true"},
    {"x86-64-v3", "x86_64-linux", "x86_64-linux-gnu-gcc", "true"},
    {"cascadelake", "x86_64-linux", "x86_64-linux-gnu-gcc", "true"},
};
INSTANTIATE_TEST_SUITE_P(Cores, OnLanes, ::testing::ValuesIn(kLaneCores), [](const auto& info) {
  std::string name = info.param.core;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace intarsia::test::cortex_m
