// Estimates of the cores: what policy cost decides with, and `explain` prints.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "compiler/kernel_costs.h"
#include "intarsia/partition.h"
#include "intarsia/plugin/check.h"
#include "operator_modules.h"
#include "support/parsed.h"
#include "wide_modules.h"

namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;
using namespace targets::cortex_m;

class Costs : public ::testing::Test {
 protected:
  CostEstimate estimate(const std::string& target, const graph::Module& module) {
    const TargetSpec spec = parsed_target(registry_, target);
    const graph::Function& function = module.entry_function();
    return registry_.kind_of(spec.host()).cost(spec.host(), module, function, {});
  }
  double cycles(const std::string& target, const graph::Module& module) {
    return estimate(target, module).cycles;
  }

  graph::Module conv(int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t dilation = 1) {
    WindowCase c{OpKind::Conv2d, 1, size, size, in, out, kernel, kernel, 1};
    c.dilation_h = c.dilation_w = dilation;
    const int64_t reach = (kernel - 1) * dilation;
    c.padding = {reach / 2, reach / 2, reach - reach / 2, reach - reach / 2};
    return window_module(random_, c);
  }
  graph::Module grouped(int64_t size, int64_t in, int64_t out, int64_t groups) {
    WindowCase c{OpKind::Conv2d, 1, size, size, in, out, 3, 3, 1};
    c.groups = groups, c.padding = {1, 1, 1, 1};
    return window_module(random_, c);
  }
  graph::Module transposed(int64_t size, int64_t in, int64_t out, int64_t kernel) {
    WindowCase c{OpKind::TransposeConv2d, 1, size, size, in, out, kernel, kernel, 2};
    return window_module(random_, c);
  }
  graph::Module depthwise(int64_t size, int64_t channels, int64_t multiplier = 1) {
    WindowCase c{OpKind::DepthwiseConv2d, 1, size, size, channels, channels * multiplier, 3, 3, 1};
    c.padding = {1, 1, 1, 1};
    return window_module(random_, c);
  }
  graph::Module dense(int64_t rows, int64_t in, int64_t out) {
    return fully_connected_module(random_, rows, in, out);
  }
  graph::Module plain(OpKind kind, graph::Attributes attributes, int operands = 1) {
    return plain_module(random_, kind, std::move(attributes), {1, 8, 8, 16}, operands);
  }
  graph::Module pool(OpKind kind) {
    return plain(kind, graph::Pool2dAttrs{2, 2, 2, 2, {}, graph::Activation::None});
  }
  graph::Module wide(OpKind kind, int64_t in, int64_t out) {
    WideCase c{kind, 8, 8, in, out, 3, 3};
    c.padding = {1, 1, 1, 1};
    return wide_module(random_, c);
  }

  // What layers of the usual networks are, one operator each.
  std::vector<graph::Module> usual() {
    std::vector<graph::Module> modules;
    for (const int64_t channels : {3, 16, 64}) {
      modules.push_back(conv(8, channels, 16, 1));
      modules.push_back(conv(8, channels, 32, 3));
    }
    modules.push_back(conv(16, 1, 16, 5));
    modules.push_back(conv(8, 16, 16, 3, 2));
    modules.push_back(grouped(8, 32, 32, 4)), modules.push_back(transposed(8, 16, 16, 3));
    modules.push_back(depthwise(8, 16)), modules.push_back(depthwise(4, 128));
    modules.push_back(depthwise(8, 1, 8));
    modules.push_back(dense(1, 64, 12)), modules.push_back(dense(1, 640, 128));
    modules.push_back(dense(8, 128, 32));
    for (const OpKind kind : {OpKind::AveragePool2d, OpKind::MaxPool2d})
      modules.push_back(pool(kind));
    for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul})
      modules.push_back(plain(kind, graph::BinaryAttrs{}, 2));
    modules.push_back(matmul_module(random_, {2, 16, 32}, {2, 16, 32}, true));
    modules.push_back(binary_module(random_, OpKind::Mul, {1, 8, 8, 16}, {1, 8, 1, 16}));
    modules.push_back(plain(OpKind::Softmax, graph::SoftmaxAttrs{}));
    modules.push_back(plain(OpKind::Mean, graph::ReduceAttrs{{1, 2}, true}));
    modules.push_back(wide(OpKind::Conv2d, 16, 16));
    modules.push_back(wide(OpKind::DepthwiseConv2d, 16, 16));
    modules.push_back(lstm_module(random_, DataType::Int8, 32, 32));
    modules.push_back(svdf_module(random_, DataType::Int8, 40, 32, 10));
    return modules;
  }

  TargetRegistry registry_ = registry_beside_c(targets::cortex_m::add_kinds);
  Random random_{21};
};

TEST_F(Costs, FollowTheCore) {
  for (const graph::Module& module : usual()) {
    const auto time = [&](const char* core) { return estimate(core, module).microseconds(); };
    const std::string what(graph::to_string(module.entry_function().nodes[0].kind));
    EXPECT_GT(time("cortex-m0"), time("cortex-m0plus")) << what;
    EXPECT_GT(time("cortex-m0plus"), time("cortex-m3")) << what;
    EXPECT_GT(time("cortex-m3"), time("cortex-m4")) << what;
    EXPECT_GT(time("cortex-m4"), time("cortex-m33")) << what;
    EXPECT_GT(time("cortex-m33"), time("cortex-m7")) << what;
    EXPECT_GT(time("cortex-m4"), time("cortex-m55")) << what;
    EXPECT_GT(time("cortex-m55") * 1.01, time("cortex-m85")) << what;  // the same flash
  }
}

// Each is within a fifth of the count for most.
TEST_F(Costs, OfKernelsAreNotAboveThoseOfLoops) {
  constexpr double kSlack = 1.5;
  for (const graph::Module& module : usual())
    for (const char* core : {"cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7",
                             "cortex-m33", "cortex-m55", "cortex-m85"}) {
      const std::string portable = fmt::format("c -mcpu={} -kernels=portable", core);
      EXPECT_LE(cycles(core, module), kSlack * cycles(portable, module))
          << core << " " << graph::to_string(module.entry_function().nodes[0].kind);
      EXPECT_GT(cycles(core, module), 0);
      EXPECT_EQ(estimate(core, module).clock_mhz, estimate(portable, module).clock_mhz);
    }
}

TEST_F(Costs, OfFloatsAreThoseOfTheirKernels) {
  const graph::Module module = parsed_graph(R"(intarsia.graph m
const @0 w = f32[1, 2, 3, 4, 5, 6]
func @main(%0) -> (%2) {
  %0 in: f32[1,2]
  %1 w: f32[3,2] = @0
  %2 out: f32[1,3]
  fully_connected f(%0, %1) -> (%2)
}
entry @main
)");
  EXPECT_NE(cycles("cortex-m4", module), cycles("c -mcpu=cortex-m4 -kernels=portable", module));
  EXPECT_DOUBLE_EQ(cycles("cortex-m3", module),
                   cycles("c -mcpu=cortex-m3 -kernels=portable", module));
}

// The parts of a kernel are those that it runs, and the whole is what they take.
TEST_F(Costs, AreSumsOfTheirParts) {
  const auto works_of = [](CoreClass core, const graph::Module& module, int64_t waits = 0) {
    const graph::Function& function = module.entry_function();
    const auto work = operator_work(core, module, function, function.nodes[0], waits);
    INTARSIA_CHECK(work.has_value(), "a kernel");
    return work->kernels;
  };
  const auto work_of = [&](CoreClass core, const graph::Module& module) {
    const std::vector<KernelWork> works = works_of(core, module);
    INTARSIA_CHECK(works.size() == 1, "one kernel");
    return works[0];
  };
  // Sixteen fours of pixels, each two by two, four fours of channels, 36 groups of four elements; the middle of each row is laid
  // out together: columns 1 to 4 and 4 to 7 of 8 are not one block of four.
  const graph::Module layer = conv(8, 16, 16, 3);
  const std::vector<KernelWork> all = works_of(CoreClass::Dsp, layer);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].family, KernelFamily::DspByFour);
  EXPECT_EQ(all[0].amounts[1], 2 * 16 * 4 * 36);
  EXPECT_EQ(all[0].amounts[2], 2 * 16 * 4);
  EXPECT_EQ(all[0].amounts[5], 16);
  EXPECT_EQ(all[0].reads, 2 * 16);
  EXPECT_EQ(all[1].family, KernelFamily::DspWindows);
  EXPECT_EQ(all[1].amounts[0] * 4 + all[1].amounts[3], 64);
  EXPECT_EQ(all[1].reads, 0);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", layer), *cycles_of_work(CostCore::M4, all));
  EXPECT_DOUBLE_EQ(cycles("cortex-m7", layer), *cycles_of_work(CostCore::M7, all));
  EXPECT_DOUBLE_EQ(estimate("cortex-m4", layer).clock_mhz, 120);

  // Sixteen lanes: 32 pairs of pixels by four fours of channels, nine steps each; strips of one row.
  const KernelWork vectors = work_of(CoreClass::Mve, layer);
  EXPECT_EQ(vectors.family, KernelFamily::MveConvolution);
  EXPECT_EQ(vectors.amounts[1], 32 * 4 * 8);
  EXPECT_EQ(vectors.amounts[2], 32 * 4);
  EXPECT_EQ(vectors.amounts[14], 8);
  EXPECT_EQ(vectors.reads, 32);
  // Constants that wait are copied, and read once.
  const KernelWork copied = works_of(CoreClass::Mve, layer, /*waits=*/1)[0];
  EXPECT_EQ(copied.amounts[23], 16 * (9 + 1));
  EXPECT_EQ(copied.reads, 1);

  // Four pixels in two words; windows at an edge have 60 rows that are copied, of 192.
  const KernelWork paired = work_of(CoreClass::Thumb, layer);
  EXPECT_EQ(paired.family, KernelFamily::PairedPixels);
  EXPECT_EQ(paired.amounts[1], 16);
  EXPECT_EQ(paired.amounts[5], 60);
  EXPECT_EQ(paired.amounts[8] + paired.amounts[9], 16 * 36 * 16);

  const KernelWork row = work_of(CoreClass::Dsp, dense(1, 128, 32));
  EXPECT_EQ(row.family, KernelFamily::DspRow);
  EXPECT_EQ(row.amounts[1], 32 * 8);
  EXPECT_EQ(row.amounts[2], 8);
  // What is left over of a vector counts whole.
  const KernelWork tail = work_of(CoreClass::Mve, dense(1, 33, 9));
  EXPECT_EQ(tail.family, KernelFamily::MveRow);
  EXPECT_EQ(tail.amounts[1], 2 * 3);
  EXPECT_EQ(tail.amounts[4], 3);

  const KernelWork rows = work_of(CoreClass::Dsp, depthwise(8, 16));
  EXPECT_EQ(rows.family, KernelFamily::DspDepthwise3x3);
  EXPECT_EQ(rows.amounts[1], 4);
  EXPECT_EQ(rows.amounts[7], 16 * 8);
  EXPECT_EQ(rows.amounts[8], 16 * 8 * 2);

  // Of two kernels: groups are laid out, and convolved.
  const graph::Module groups = grouped(8, 32, 32, 4);
  const graph::Function& function = groups.entry_function();
  const auto both = operator_work(CoreClass::Dsp, groups, function, function.nodes[0]);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->kernels.size(), 3u);
  EXPECT_EQ(both->kernels[0].family, KernelFamily::DspByFour);
  EXPECT_EQ(both->kernels[0].amounts[1], 4 * 2 * 16 * 2 * 18);
  EXPECT_EQ(both->kernels[1].family, KernelFamily::DspWindows);
  EXPECT_EQ(both->kernels[2].family, KernelFamily::Staging);

  // Few channels: pairs of them.
  const std::vector<KernelWork> few = works_of(CoreClass::Dsp, conv(8, 16, 3, 3));
  EXPECT_EQ(few[0].family, KernelFamily::DspConvolution);
  EXPECT_EQ(few[0].amounts[1], 16 * 2 * 36);
  // One pixel, beside which windows see padding alone.
  const KernelWork single = work_of(CoreClass::Thumb, conv(1, 16, 16, 3));
  EXPECT_EQ(single.family, KernelFamily::SingleConvolution);
  EXPECT_EQ(single.amounts[1], 4 * 4);
  EXPECT_EQ(single.amounts[9], 0);
  // Sixteen words of weights and four of the table for each of four strips, of eight that there are; or all of them once.
  EXPECT_EQ(works_of(CoreClass::Mve, depthwise(8, 16))[0].reads, 4 * 2.5);
  EXPECT_EQ(works_of(CoreClass::Mve, depthwise(8, 16), /*waits=*/1)[0].reads, 1);
}

TEST_F(Costs, OfEveryKernelAreKnownOnEveryCore) {
  for (const graph::Module& module : usual())
    for (const auto& [core_class, cores] :
         {std::pair{CoreClass::Rv32, std::vector{CostCore::RV32}},
          {CoreClass::Thumb, {CostCore::M0}},
          {CoreClass::Long, {CostCore::M3}},
          {CoreClass::Dsp, {CostCore::M4, CostCore::M7, CostCore::M33}},
          {CoreClass::Mve, {CostCore::M55}}}) {
      const graph::Function& function = module.entry_function();
      const auto work = operator_work(core_class, module, function, function.nodes[0]);
      if (!work) continue;
      for (const CostCore core : cores) {
        const auto known = cycles_of_work(core, work->kernels);
        ASSERT_TRUE(known) << static_cast<int>(core) << " "
                           << graph::to_string(function.nodes[0].kind);
        EXPECT_GT(*known, 0);
      }
    }
}

// Constants in a memory of two cycles: every word that is read waits one.
TEST_F(Costs, HaveTheWaitStatesOfTheBoard) {
  MemoryMap board = unlimited_memory();
  board.open = false;
  board.pools.push_back({"flash", 1 << 20, true, 1, {}, 16, true});
  LoweringOptions options;
  options.memory = &board;
  const graph::Module module = dense(1, 640, 128);
  const auto with_board = [&] {
    const TargetSpec spec = parsed_target(registry_, "cortex-m55");
    return registry_.kind_of(spec.host())
        .cost(spec.host(), module, module.entry_function(), options)
        .cycles;
  };
  const double quick = with_board();
  EXPECT_LT(quick, cycles("cortex-m55", module));  // not the flash that is assumed without a board
  board.pools.back().cycles_per_access = 2;
  EXPECT_DOUBLE_EQ(with_board() - quick, (640 * 128 + 16 * 128) / 4);
}

// Copies of slow constants take as much scratch as costs no RAM: beside an operator with larger maps, all channels at once.
TEST_F(Costs, CopyAsManyConstantsAsOthersLeaveRoomFor) {
  graph::Module module = conv(8, 32, 32, 3);
  const auto passes = [&](size_t node) {
    const graph::Function& function = module.entry_function();
    const auto work =
        operator_work(CoreClass::Mve, module, function, function.nodes[node], /*waits=*/1);
    INTARSIA_CHECK(work && work->kernels[0].family == KernelFamily::MveConvolution, "a kernel");
    return work->kernels[0].amounts[22];
  };
  EXPECT_GT(passes(0), 1);
  graph::Function& function = module.functions[0];
  graph::Tensor large = function.tensor(function.inputs[0]);
  large.name = "large", large.shape = {1, 16, 32, 32};
  const graph::TensorId id{static_cast<int32_t>(function.tensors.size())};
  function.tensors.push_back(large);
  graph::Node pool;
  pool.name = "pool", pool.kind = OpKind::AveragePool2d;
  pool.attributes = graph::Pool2dAttrs{2, 4, 2, 4, {}, graph::Activation::None};
  pool.inputs = {id}, pool.outputs = {function.inputs[0]};
  function.nodes.insert(function.nodes.begin(), pool);
  function.inputs = {id};
  EXPECT_EQ(passes(1), 1);
}

// One row of weights is read once, however fast the kernel.
TEST_F(Costs, AreNotBelowTheTimeToReadTheConstants) {
  const graph::Module module = dense(1, 640, 128);
  const double bytes = 640 * 128 + 4 * 128;
  EXPECT_DOUBLE_EQ(cycles("cortex-m55", module), bytes / 1.25);
  EXPECT_GE(cycles("cortex-m7", module), bytes / 1.25);
  EXPECT_GT(cycles("cortex-m4", module), bytes);
}

// What has no kernel costs what it does as loops: the figures are the loops', not the class's.
TEST_F(Costs, WithoutAKernelAreThoseOfTheLoops) {
  const auto expect_loops = [&](const std::string& core, const graph::Module& module) {
    EXPECT_DOUBLE_EQ(cycles(core, module),
                     cycles(fmt::format("c -mcpu={} -kernels=portable", core), module))
        << core;
  };
  expect_loops("cortex-m0", transposed(4, 8, 1, 3));  // a channel for four lanes
  expect_loops("cortex-m0", pool(OpKind::MaxPool2d));
  expect_loops("cortex-m3", wide(OpKind::Conv2d, 16, 16));
  const graph::Module normalization = parsed_graph(R"(intarsia.graph m
func @main(%0) -> (%1) {
  %0 in: i8[4,8] q(0.5)
  %1 out: i8[4,8] q(0.0078125)
  l2_normalization n(%0) -> (%1)
}
entry @main
)");
  expect_loops("cortex-m0", normalization);
  expect_loops("cortex-m3", normalization);
  const graph::Module reshape = parsed_graph(R"(intarsia.graph m
func @main(%0) -> (%1) {
  %0 in: i8[4,4] q(0.5)
  %1 out: i8[16] q(0.5)
  reshape r(%0) -> (%1) {shape=[16]}
}
entry @main
)");
  EXPECT_EQ(cycles("cortex-m4", reshape), 0);
}

TEST_F(Costs, PreferTheFasterOfTwoCores) {
  // Enough work to be worth two trips through the mailbox.
  const graph::Module module = conv(8, 16, 16, 3);
  PartitionOptions options;
  options.policy = PartitionPolicy::Cost;
  const auto device = [&](const std::string& target) {
    const Result<Partitioned> result =
        partition(module, registry_, parsed_target(registry_, target), options);
    INTARSIA_CHECK(result.ok(), "every core takes all");
    EXPECT_EQ(result->explanation.clocks.size(), 1u);
    EXPECT_EQ(result->explanation.clocks[0].device, result->explanation.operators[0].device);
    return fmt::format("{} at {}", result->explanation.clocks[0].device,
                       result->explanation.clocks[0].mhz);
  };
  EXPECT_EQ(device("low: c -mcpu=cortex-m0; fast: c -mcpu=cortex-m7"), "fast at 400");
  EXPECT_EQ(device("fast: c -mcpu=cortex-m7; low: c -mcpu=cortex-m0"), "fast at 400");
  EXPECT_EQ(device("a: c -mcpu=cortex-m4; b: c -mcpu=cortex-m4"), "a at 120");
}

}  // namespace
}  // namespace intarsia::test::cortex_m
