// Estimates of the cores: what policy cost decides with, and `explain` prints.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "intarsia/partition.h"
#include "operator_modules.h"
#include "support/parsed.h"
#include "wide_modules.h"

namespace intarsia::targets::cortex_m {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;

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

TEST_F(Costs, OfKernelsAreNotAboveThoseOfLoops) {
  for (const graph::Module& module : usual())
    for (const char* core : {"cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7",
                             "cortex-m33", "cortex-m55", "cortex-m85"}) {
      const std::string portable = fmt::format("c -mcpu={} -kernels=portable", core);
      EXPECT_LE(cycles(core, module), cycles(portable, module))
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
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", module), 4.2 * 6 + 14 * 3);
  EXPECT_DOUBLE_EQ(cycles("cortex-m3", module),
                   cycles("c -mcpu=cortex-m3 -kernels=portable", module));
}

TEST_F(Costs, CountStepsAndResults) {
  // 64 results of 16 channels; products 9 * 16 each.
  const double products = 64 * 16 * 9 * 16, results = 64 * 16;
  const graph::Module module = conv(8, 16, 16, 3);
  EXPECT_DOUBLE_EQ(cycles("cortex-m0", module), 5.8 * products + 100 * results);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", module), 1.15 * products + 13 * results);
  EXPECT_DOUBLE_EQ(cycles("cortex-m7", module), 0.68 * (1.15 * products + 13 * results));
  EXPECT_DOUBLE_EQ(cycles("cortex-m55", module), 0.14 * products + 4.5 * results);
  EXPECT_DOUBLE_EQ(estimate("cortex-m4", module).clock_mhz, 120);
  EXPECT_DOUBLE_EQ(cycles("c -mcpu=cortex-m4 -kernels=portable", module),
                   1.17 * (4.8 * products + 31 * results));
  EXPECT_DOUBLE_EQ(cycles("c -mcpu=cortex-m0 -kernels=portable", module),
                   1.45 * (6.8 * products + 103 * results));

  // Windows are laid together for eight channels of a group; for both columns of a stride where kernel and stride
  // are equal.
  const double grouped_products = 64 * 32 * 9 * 8;
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", grouped(8, 32, 32, 4)),
                   0.9 * grouped_products + 17 * 64 * 32 + 7 * grouped_products / 8);
  const double spread = 64 * 16 * 4 * 16;
  EXPECT_DOUBLE_EQ(cycles("cortex-m55", transposed(8, 16, 16, 2)),
                   0.075 * spread + 6 * 256 * 16 + 2 * spread / 32);

  // Two products of 16 rows by 24 columns.
  EXPECT_DOUBLE_EQ(cycles("cortex-m55", matmul_module(random_, {2, 16, 32}, {2, 32, 24})),
                   0.063 * 2 * 16 * 32 * 24 + 10.4 * 2 * 16 * 24 + 4 * 2 * 32 * 24 + 200 * 2 * 16);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", depthwise(8, 16)), 1.7 * 64 * 16 * 9 + 14 * 64 * 16);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", dense(1, 128, 32)), 1.06 * 128 * 32 + 70 * 32);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", dense(8, 128, 32)), 1.15 * 8 * 128 * 32 + 13 * 8 * 32);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", pool(OpKind::MaxPool2d)), (2.5 * 4 + 22) * 16 * 16);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", plain(OpKind::Mul, graph::BinaryAttrs{}, 2)), 25 * 1024);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", plain(OpKind::Add, graph::BinaryAttrs{}, 2)), 19 * 1024);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", plain(OpKind::Softmax, graph::SoftmaxAttrs{})), 56 * 1024);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", plain(OpKind::Mean, graph::ReduceAttrs{{1, 2}, true})),
                   3.6 * 1024);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", wide(OpKind::Conv2d, 16, 16)),
                   1.15 * products + 30 * results);
  EXPECT_DOUBLE_EQ(cycles("cortex-m55", wide(OpKind::DepthwiseConv2d, 16, 16)),
                   0.85 * 64 * 16 * 9 + 21 * 64 * 16);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", lstm_module(random_, DataType::Int8, 32, 32)),
                   5.1 * 4 * 32 * 64 + 30 * 32);
}

// One row of weights is read once, however fast the kernel.
TEST_F(Costs, AreNotBelowTheTimeToReadTheConstants) {
  const graph::Module module = dense(1, 640, 128);
  const double bytes = 640 * 128 + 4 * 128;
  EXPECT_DOUBLE_EQ(cycles("cortex-m55", module), bytes / 1.25);
  EXPECT_DOUBLE_EQ(cycles("cortex-m7", module), bytes / 1.25);
  EXPECT_DOUBLE_EQ(cycles("cortex-m4", module), 1.06 * 640 * 128 + 70 * 128);
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
  expect_loops("cortex-m55", plain(OpKind::Relu, graph::ReluAttrs{}));
  expect_loops("cortex-m4", binary_module(random_, OpKind::Add, {1, 8, 1, 16}, {1, 1, 8, 16}));
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
