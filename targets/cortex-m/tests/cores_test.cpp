// Every kernel on the emulated cores, in their own instructions, against the reference evaluator bit for bit.
// Nothing but output and scratch may change. INTARSIA_EVERY_CASE: all cases on all cores rather than a part of them
// on the three that stand for the classes.
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core_program.h"
#include "kernel_cases.h"
#include "support/needs.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

struct Emulated {
  const char* core;
  const char* board;
};

class OnCore : public ::testing::TestWithParam<Emulated> {};

std::vector<graph::Module> cases(const std::string& core) {
  std::vector<graph::Module> all;
  for (const auto& make : {small_convolutions,
                           larger_convolutions,
                           convolutions_beside_edges,
                           deep_convolutions,
                           depthwise_convolutions,
                           dilated_depthwise_convolutions,
                           multiplied_depthwise_convolutions,
                           fully_connected_layers,
                           additions,
                           differences_and_products,
                           prelus,
                           comparisons_and_quotients,
                           means_and_sums,
                           poolings_and_rows,
                           long_and_thin,
                           grouped_and_dilated_convolutions,
                           transposed_convolutions,
                           matrix_products,
                           constants_and_tables,
                           squared_differences,
                           extremes,
                           normalized_rows,
                           depthwise_convolutions_of_few_pixels,
                           depthwise_convolutions_of_lines})
    for (graph::Module& module : make()) all.push_back(std::move(module));
  // The others have loops for floats and int16.
  if (core != "cortex-m0" && core != "cortex-m3")
    for (const auto& make :
         {float_convolutions, float_depthwise_convolutions, float_matrix_products, resizings,
          hybrid_layers, shifted_layers, rows_to_steps, float_elements, moved_rows, steps_to_floats,
          wide_convolutions, wide_depthwise_of_three_columns, wide_depthwise_with_multipliers,
          wide_depthwise_of_any_window, wide_depthwise_of_lines, wide_sums_and_poolings,
          wide_products_and_curves, wide_matrix_products, wide_staged_convolutions})
      for (graph::Module& module : make()) all.push_back(std::move(module));
#ifndef INTARSIA_EVERY_CASE
  constexpr size_t kEach = 5;
  std::vector<graph::Module> some;
  for (size_t i = 0; i < all.size(); i += kEach) some.push_back(std::move(all[i]));
  return some;
#else
  return all;
#endif
}

using MakeInputs = std::vector<graph::TensorValue> (*)(Random&, const graph::Module&);

void check(const KernelProgram& kernels, Random& random, const Emulated& core,
           MakeInputs make_inputs = testing::random_inputs) {
  std::vector<std::vector<graph::TensorValue>> inputs;
  std::vector<std::vector<graph::TensorValue>> arguments;
  for (size_t i = 0; i < kernels.count(); ++i) {
    inputs.push_back(make_inputs(random, kernels.module(i)));
    arguments.push_back(inputs.back());
    for (graph::TensorValue& state : first_states(kernels.module(i)))
      arguments.back().push_back(std::move(state));
  }
  const Result<CoreRun> run = run_on_core({core.board, core.core}, kernels, arguments);
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  for (size_t i = 0; i < kernels.count(); ++i) {
    SCOPED_TRACE(fmt::format("{}, case {}\n{}", core.core, i, graph::print(kernels.module(i))));
    graph::Evaluator evaluator(kernels.module(i));
    const Result<std::vector<graph::TensorValue>> expected = evaluator.run(inputs[i]);
    ASSERT_TRUE(expected.ok());
    const std::vector<uint8_t>& output = run->outputs[i];
    ASSERT_EQ(output.size(), (*expected)[0].size());
    EXPECT_EQ(difference(kernels.module(i), output, (*expected)[0]), "");
    EXPECT_EQ(run->damage[i], "");
  }
}

TEST_P(OnCore, EveryKernel) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  // As many in one image as its memories hold.
  const bool small = std::string(GetParam().board) == "microbit";
  constexpr size_t kSmallImage = 80, kImage = 700;
  std::vector<graph::Module> all = cases(GetParam().core);
  // The fast memory in which the M55's board has its data; larger images are pooled on the other cores.
  constexpr int64_t kFastMemory = 400 * 1024;
  const bool fast = std::string(GetParam().board) == "mps3-an547";
  std::erase_if(all, [&](const graph::Module& module) {
    if (small) return !fits_small_memory(module, GetParam().core);
    const graph::Function& entry = module.entry_function();
    int64_t bytes = entry.tensor(entry.outputs[0]).bytes();
    for (const graph::TensorId id : entry.inputs) bytes += entry.tensor(id).bytes();
    return fast && bytes > kFastMemory;
  });
  Random random(11);
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(begin + (small ? kSmallImage : kImage), all.size());
    KernelProgram kernels(GetParam().core);
    for (; begin < end; ++begin) kernels.add(std::move(all[begin]));
    check(kernels, random, GetParam());
  }
  RecordProperty("operators", std::to_string(all.size()));
}

TEST_P(OnCore, FloatsBetweenSteps) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  KernelProgram kernels(GetParam().core);
  for (graph::Module& module : floats_to_steps())
    if (std::string(GetParam().board) != "microbit" || fits_small_memory(module, GetParam().core))
      kernels.add(std::move(module));
  Random random(12);
  check(kernels, random, GetParam(), [](Random& some, const graph::Module& module) {
    return std::vector<graph::TensorValue>{floats_between_steps(some, module)};
  });
}

// All of these: what the cores' assembly does with pairs of elements, and with pairs of rows.
TEST_P(OnCore, PairsOfBytesAndOfRows) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  const bool small = std::string(GetParam().board) == "microbit";
  KernelProgram kernels(GetParam().core);
  for (const auto& make : {comparisons_and_quotients, wide_depthwise_of_three_columns}) {
    if (small && make != comparisons_and_quotients) continue;
    for (graph::Module& module : make())
      if (!small || fits_small_memory(module, GetParam().core)) kernels.add(std::move(module));
  }
  Random random(14);
  check(kernels, random, GetParam());
}

TEST(FloatCurves, OnTheCore) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  for (const auto& [core, board] :
       {std::pair{"cortex-m4", "mps2-an386"}, {"cortex-m55", "mps3-an547"}}) {
    KernelProgram kernels(core);
    kernels.add(float_curves());
    Random random(13);
    check(kernels, random, {core, board}, [](Random& some, const graph::Module& module) {
      return std::vector<graph::TensorValue>{floats_of_curves(some, module)};
    });
  }
}

// Arguments that are nowhere further than 29 steps apart, and an odd number of them.
TEST(WideCurves, OnTheCore) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  constexpr int64_t kApart = 29, kValues = 65536 / kApart;
  static_assert(kValues % 2 == 1);
  for (const auto& [core, board] : {std::pair{"cortex-m4", "mps2-an386"},
                                    {"cortex-m7", "mps2-an500"},
                                    {"cortex-m55", "mps3-an547"}}) {
    KernelProgram kernels(core);
    Random random(16);
    for (const graph::OpKind kind : {graph::OpKind::Logistic, graph::OpKind::Tanh})
      for (const float scale : {0.00001f, 0.0003f, 0.002f, 2.5f, 1.0f / 4096})
        kernels.add(wide_curve_module(random, kind, kValues, scale));
    check(kernels, random, {core, board}, [](Random& some, const graph::Module&) {
      graph::TensorValue values(2 * kValues);
      const int64_t first = some.range(0, kApart - 1);
      for (int64_t i = 0; i < kValues; ++i) {
        const auto value = static_cast<int16_t>(-32768 + first + kApart * i);
        std::memcpy(&values[static_cast<size_t>(2 * i)], &value, sizeof value);
      }
      return std::vector<graph::TensorValue>{std::move(values)};
    });
  }
}

// Units and inputs that fill groups and vectors and that do not, and more units than lie in scratch at once; sums that 32 bits do not hold.
TEST(RecurrentLayers, OnTheCore) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  for (const auto& [core, board] :
       {std::pair{"cortex-m4", "mps2-an386"}, {"cortex-m55", "mps3-an547"}}) {
    KernelProgram kernels(core);
    Random random(17);
    for (const auto& [inputs, units] :
         {std::pair{1, 1}, {16, 32}, {28, 20}, {9, 17}, {33, 65}, {5, 130}})
      for (const DataType type : {DataType::Int8, DataType::Int16})
        kernels.add(lstm_module(random, type, inputs, units, 0.0f, random.range(1, 3)));
    kernels.add(lstm_module(random, DataType::Int16, 1300, 3));
    for (const DataType state : {DataType::Int8, DataType::Int16})
      for (const int64_t units : {1, 7, 32}) kernels.add(svdf_module(random, state, 19, units, 10));
    for (const char* kind : {"lstm_s8", "lstm_s16_short", "lstm_s16", "svdf_s8", "svdf_s16"})
      EXPECT_TRUE(kernels.calls(std::string("intarsia_") +
                                (std::string(core) == "cortex-m4" ? "dsp_" : "mve_") + kind))
          << kind;
    check(kernels, random, {core, board});
  }
}

TEST(SlowConstants, AreCopiedByGroupsOnTheCore) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  KernelProgram kernels("cortex-m55");
  kernels.place_constants(3);
  kernels.add(larger_convolutions());
  kernels.add(wide_convolutions());
  Random random(22);
  kernels.add(window_module(random, {graph::OpKind::Conv2d, 1, 8, 8, 64, 30, 3, 3, 1}));
  kernels.add(window_module(random, {graph::OpKind::Conv2d, 2, 9, 7, 100, 61, 1, 1, 1}));
  kernels.add(window_module(random, {graph::OpKind::Conv2d, 1, 49, 10, 1, 66, 10, 4, 2}));
  EXPECT_GT(kernels.copies_constants(), 3U);
  kernels.add(depthwise_convolutions());
  kernels.add(dilated_depthwise_convolutions());
  kernels.add(deep_convolutions());
  EXPECT_TRUE(kernels.calls("intarsia_mve_deep_conv_s8"));
  check(kernels, random, {"cortex-m55", "mps3-an547"});
}

// Layers of integer weights for floats, and of weights of nine bits.
TEST(SlowConstants, OfShiftedAndHybridLayersAreCopiedOnTheCore) {
  std::string reason;
  if (!can_run_cores(reason)) GTEST_SKIP() << needs("cross-toolchain") << reason;
  for (const int32_t cycles : {1, 3}) {
    KernelProgram kernels("cortex-m55");
    kernels.place_constants(cycles);
    kernels.add(hybrid_layers());
    kernels.add(shifted_layers());
    EXPECT_TRUE(kernels.calls("intarsia_staged_mve_shifted_s8"));
    EXPECT_TRUE(kernels.calls("intarsia_mve_depthwise_wide_s8"));
    EXPECT_TRUE(kernels.calls("intarsia_staged_mve_hybrid"));
    EXPECT_EQ(kernels.copies_constants() > 9, cycles > 1);
    Random random(23);
    check(kernels, random, {"cortex-m55", "mps3-an547"});
  }
}

constexpr Emulated kCores[] = {
    // The M0 of the micro:bit: words that are not aligned fault there. What is too large for its memory runs on the M3,
    // in the long set.
    {"cortex-m0", "microbit"},    {"cortex-m4", "mps2-an386"}, {"cortex-m55", "mps3-an547"},
#ifdef INTARSIA_EVERY_CASE
    {"cortex-m0", "mps2-an385"},  {"cortex-m3", "mps2-an385"}, {"cortex-m7", "mps2-an500"},
    {"cortex-m33", "mps2-an505"},
#endif
};
INSTANTIATE_TEST_SUITE_P(CortexM, OnCore, ::testing::ValuesIn(kCores), [](const auto& info) {
  std::string name = fmt::format("{}On{}", info.param.core, info.param.board);
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace intarsia::test::cortex_m
