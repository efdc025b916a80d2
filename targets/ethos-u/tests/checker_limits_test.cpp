// What the hardware does not admit, in streams and operation by operation: the last value that it does take is
// silent, the next one is a finding.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "checked_stream.h"
#include "intarsia/targets/ethos_u/checker_limits.h"
#include "intarsia/targets/ethos_u/region_aliases.h"

namespace intarsia::test::ethos_u {
namespace {

Operation window(OperationKind kind, int32_t height, int32_t width) {
  Operation op;
  op.kind = kind;
  op.kernel.height = height;
  op.kernel.width = width;
  op.ofm.depth = op.ofm_block.depth = 16;
  return op;
}

Operation pool(PoolingMode mode, int32_t height, int32_t width) {
  Operation op = window(OperationKind::Pool, height, width);
  op.pooling = mode;
  return op;
}

Operation elementwise(ElementwiseMode mode, ElementType ifm, ElementType ifm2, ElementType ofm) {
  Operation op;
  op.kind = OperationKind::Elementwise;
  op.elementwise = mode;
  op.has_ifm2 = !op.is_unary();
  op.ifm.type = ifm;
  op.ifm2.type = ifm2;
  op.ofm.type = ofm;
  return op;
}

// "kernel-size: a kernel of ..." for each finding, with line ends.
std::string findings_of(const Operation& op) {
  std::string all;
  check_limits(op, [&](FindingKind kind, const std::string& what) {
    all += std::string(to_string(kind)) + ": " + what + "\n";
  });
  return all;
}

TEST(CheckerLimits, Kernels) {
  for (const OperationKind kind : {OperationKind::Conv, OperationKind::Depthwise}) {
    EXPECT_EQ(findings_of(window(kind, 64, 64)), "");
    EXPECT_EQ(findings_of(window(kind, 1, 4096)), "");
    EXPECT_EQ(findings_of(window(kind, 65, 1)),
              "kernel-size: a kernel of 65 x 1 is higher than 64\n");
    EXPECT_EQ(findings_of(window(kind, 64, 65)),
              "kernel-size: a kernel of 64 x 65 has more than 4096 elements\n");
    Operation dilated = window(kind, 33, 1);
    dilated.kernel.dilation_y = 2;  // 65 rows
    EXPECT_NE(findings_of(dilated), "");
    dilated.kernel.height = 32;
    EXPECT_EQ(findings_of(dilated), "");
  }
}

TEST(CheckerLimits, Pools) {
  for (const PoolingMode mode : {PoolingMode::Max, PoolingMode::Average}) {
    EXPECT_EQ(findings_of(pool(mode, 256, 256)), "");
    EXPECT_EQ(findings_of(pool(mode, 1, 65536)), "");
    EXPECT_EQ(findings_of(pool(mode, 257, 1)),
              "kernel-size: a window of 257 x 1 is higher than 256\n");
    EXPECT_EQ(findings_of(pool(mode, 256, 257)),
              "kernel-size: a window of 256 x 257 has more than 65536 elements\n");
  }
}

TEST(CheckerLimits, PaddedAverages) {
  Operation op = pool(PoolingMode::Average, 8, 8);
  op.padding.top = 1;
  EXPECT_EQ(findings_of(op), "");
  for (int32_t* side : {&op.kernel.height, &op.kernel.width}) {
    *side = 9;
    EXPECT_TRUE(findings_of(op).starts_with("kernel-size: a padded average over "))
        << findings_of(op);
    *side = 8;
  }
  op.kernel.height = 9;
  op.pooling = PoolingMode::Max;
  EXPECT_EQ(findings_of(op), "");
  op.pooling = PoolingMode::Average;
  op.padding.top = 0;
  EXPECT_EQ(findings_of(op), "");
}

TEST(CheckerLimits, Strides) {
  Operation op = window(OperationKind::Conv, 4, 4);
  op.kernel.stride_x = op.kernel.stride_y = 3;
  EXPECT_EQ(findings_of(op), "");
  op.kernel.stride_x = 4;
  EXPECT_EQ(findings_of(op), "kernel-size: a stride of 3 x 4 is above 3\n");
  op.kernel.stride_x = 1, op.kernel.stride_y = 4;
  EXPECT_EQ(findings_of(op), "kernel-size: a stride of 4 x 1 is above 3\n");
}

TEST(CheckerLimits, Padding) {
  Operation op = pool(PoolingMode::Max, 256, 256);
  op.padding = {127, 127, 255, 255};
  EXPECT_EQ(findings_of(op), "");
  const struct {
    int32_t Padding::*side;
    int32_t above;
  } kSides[] = {
      {&Padding::top, 128}, {&Padding::left, 128}, {&Padding::bottom, 256}, {&Padding::right, 256}};
  for (const auto& [side, above] : kSides) {
    Operation more = op;
    more.padding.*side = above;
    EXPECT_TRUE(findings_of(more).starts_with("padding: ")) << findings_of(more);
  }
  Operation empty = window(OperationKind::Conv, 3, 5);
  empty.padding = {2, 4, 2, 4};
  EXPECT_EQ(findings_of(empty), "");
  empty.padding.bottom = 3;
  EXPECT_NE(findings_of(empty), "");
  empty.padding = {2, 4, 2, 5};
  EXPECT_NE(findings_of(empty), "");
}

TEST(CheckerLimits, BlocksDivideTheDepthAtBricks) {
  Operation op = window(OperationKind::Conv, 1, 1);
  op.ofm.depth = 24;
  op.ofm_block.depth = 8;
  EXPECT_EQ(
      findings_of(op),
      "block-configuration: OFM_BLK_DEPTH 8 divides an OFM of depth 24 and is no multiple of 16\n");
  op.ofm_block.depth = 24;
  EXPECT_EQ(findings_of(op), "");
  op.ofm_block.depth = 16;
  EXPECT_EQ(findings_of(op), "");
  op.ofm.depth = 8;
  op.ofm_block.depth = 8;
  EXPECT_EQ(findings_of(op), "");
}

TEST(CheckerLimits, TypesOfOperationsWithAKernel) {
  using enum ElementType;
  const auto typed = [](Operation op, ElementType ifm, ElementType ofm) {
    op.ifm.type = ifm;
    op.ofm.type = ofm;
    return findings_of(op);
  };
  const Operation conv = window(OperationKind::Conv, 1, 1);
  EXPECT_EQ(typed(conv, S16, S32), "");
  EXPECT_EQ(typed(conv, S32, S8), "operand-types: Conv takes no IFM of S32\n");
  EXPECT_EQ(typed(conv, S8, U16), "operand-types: Conv makes no OFM of U16\n");
  EXPECT_EQ(typed(window(OperationKind::Depthwise, 1, 1), S32, S8),
            "operand-types: Depthwise takes no IFM of S32\n");
  EXPECT_EQ(typed(pool(PoolingMode::Max, 2, 2), S8, S8), "");
  EXPECT_EQ(typed(pool(PoolingMode::Max, 2, 2), S8, S16),
            "operand-types: MaxPool of S8 makes S8, not S16\n");
  EXPECT_EQ(typed(pool(PoolingMode::Average, 2, 2), S8, S16), "");
  EXPECT_EQ(typed(pool(PoolingMode::Average, 1, 1), S8, S32), "");
  EXPECT_EQ(typed(pool(PoolingMode::Average, 2, 2), S8, U16),
            "operand-types: AveragePool makes no OFM of U16\n");
  EXPECT_EQ(typed(pool(PoolingMode::ReduceSum, 1, 1), S32, S32), "");
  EXPECT_EQ(typed(pool(PoolingMode::ReduceSum, 1, 1), U16, S32),
            "operand-types: ReduceSum takes no IFM of U16\n");
}

TEST(CheckerLimits, TypesOfElementwiseOperations) {
  using enum ElementType;
  using enum ElementwiseMode;
  for (const ElementwiseMode mode : {Mul, Add, Sub, Min, Max}) {
    EXPECT_EQ(findings_of(elementwise(mode, S8, S8, S8)), "");
    EXPECT_EQ(findings_of(elementwise(mode, S32, S32, S32)), "");
    const std::string name = mode == Mul   ? "Mul"
                             : mode == Add ? "Add"
                             : mode == Sub ? "Sub"
                             : mode == Min ? "Min"
                                           : "Max";
    EXPECT_EQ(findings_of(elementwise(mode, S8, S32, S32)),
              "operand-types: " + name + " takes operands of one type, not S8 and S32\n");
    EXPECT_EQ(findings_of(elementwise(mode, U16, U16, S32)),
              "operand-types: " + name + " takes no IFM of U16\n");
  }
  Operation scalar = elementwise(Mul, S8, S16, S32);
  scalar.has_ifm2 = false;
  EXPECT_EQ(findings_of(scalar), "");
  scalar.has_scalar = true;
  EXPECT_NE(findings_of(scalar), "");
  EXPECT_EQ(findings_of(elementwise(Abs, S8, S32, S8)), "");
  EXPECT_EQ(findings_of(elementwise(LeakyRelu, U16, U16, S8)),
            "operand-types: LeakyRelu takes no IFM of U16\n");
  EXPECT_EQ(findings_of(elementwise(Clz, S32, S32, S32)), "");
  EXPECT_EQ(findings_of(elementwise(Clz, S8, S8, S8)),
            "operand-types: Clz takes no IFM of S8\noperand-types: Clz makes no OFM of S8\n");
  EXPECT_EQ(findings_of(elementwise(Shl, S32, S32, S32)), "");
  EXPECT_NE(findings_of(elementwise(Shl, S32, S32, S8)), "");
  EXPECT_EQ(findings_of(elementwise(Shr, S32, S32, S8)), "");
  EXPECT_NE(findings_of(elementwise(Shr, S16, S16, S16)), "");
}

std::string findings_of(WaitKind kind, int32_t outstanding, const char* tag) {
  std::string all;
  check_limits(Wait{0, kind, outstanding}, *find_configuration(tag),
               [&](FindingKind found, const std::string& what) {
                 all += std::string(to_string(found)) + ": " + what + "\n";
               });
  return all;
}

TEST(CheckerLimits, Waits) {
  EXPECT_EQ(findings_of(WaitKind::Dma, 0, "ethos-u55-128"), "");
  EXPECT_EQ(findings_of(WaitKind::Dma, 1, "ethos-u55-128"),
            "wait-value: waits until at most 1 transfers are under way, and never are there more "
            "than 1\n");
  EXPECT_EQ(findings_of(WaitKind::Dma, 1, "ethos-u65-256"), "");
  EXPECT_NE(findings_of(WaitKind::Dma, 2, "ethos-u65-256"), "");
  EXPECT_EQ(findings_of(WaitKind::Kernel, 1, "ethos-u55-128"), "");
  EXPECT_NE(findings_of(WaitKind::Kernel, 2, "ethos-u55-128"), "");
}

// Each rule again in a stream: the finding is at the command that breaks it.
TEST(CheckerLimits, InStreams) {
  const EditableStream good = good_stream();
  expect_among(good.with("SET_KERNEL_HEIGHT_M1", 0, 64), FindingKind::KernelSize, "OP_CONV", 0,
               "a kernel of 65 x 1");
  expect_among(good.with("SET_KERNEL_WIDTH_M1", 1, 256).with("SET_KERNEL_HEIGHT_M1", 1, 256),
               FindingKind::KernelSize, "OP_POOL", 0, "a window of 257 x 257");
  expect_among(good.with("SET_KERNEL_STRIDE", 1, 3 | 1 << 6), FindingKind::KernelSize, "OP_POOL", 0,
               "a stride of 2 x 4");
  expect_among(good.with("SET_IFM_PAD_BOTTOM", 1, 2), FindingKind::Padding, "OP_POOL", 0,
               "2 rows at the bottom");
  expect_among(good.with("SET_OFM_PRECISION", 1, 1 | 1 << 1), FindingKind::OperandTypes, "OP_POOL",
               0, "MaxPool of S8");
  expect_one(good.with("SET_OFM_BLK_DEPTH_M1", 1, 7), FindingKind::BlockConfiguration, "OP_POOL", 0,
             "OFM_BLK_DEPTH 8 divides an OFM of depth 16");
  expect_among(good.with("OP_DMA_WAIT", 1, 1), FindingKind::WaitValue, "OP_DMA_WAIT", 1,
               "waits until at most 1 transfers");
}

// The arena as region 1 and, from its middle on, as region 2.
TEST(RegionAliases, OneMemoryBehindTwoRegions) {
  std::vector<uint8_t> constants(64), arena(256);
  Memory memory(*find_configuration("ethos-u65-256"));
  memory.regions[0] = {constants.data(), constants.size(), false};
  memory.regions[1] = {arena.data(), 256, true};
  memory.regions[2] = {arena.data() + 128, 128, true};
  const RegionAliases aliases(memory);
  Operation op;
  op.ifm.region = 2, op.ifm.base = {16, 32, 48, 64};
  op.ofm.region = 0, op.ofm.base[0] = 8;
  op.weight_region = 2, op.weights[1].base = 4;
  op.scale_region = 1, op.scales[0].base = 4;
  const Operation unified = aliases.unified(op);
  EXPECT_EQ(unified.ifm.region, 1u);
  EXPECT_EQ(unified.ifm.base, (std::array<uint64_t, 4>{144, 160, 176, 192}));
  EXPECT_EQ(unified.ofm.region, 0u);
  EXPECT_EQ(unified.ofm.base[0], 8u);
  EXPECT_EQ(unified.weight_region, 1u);
  EXPECT_EQ(unified.weights[1].base, 132u);
  EXPECT_EQ(unified.scale_region, 1u);
  EXPECT_EQ(unified.scales[0].base, 4u);

  DmaTransfer dma;
  dma.source_region = dma.target_region = 2;
  dma.source_internal = true;
  EXPECT_EQ(aliases.unified(dma).source_region, 2u);
  EXPECT_EQ(aliases.unified(dma).target_region, 1u);
  EXPECT_EQ(aliases.unified(dma).target, 128u);

  // Neighbours share nothing.
  memory.regions[1].bytes = 128;
  EXPECT_EQ(RegionAliases(memory).unified(op).ifm.region, 2u);
}

// Transfers into region 2, where region 1 is read: without the wait a finding, though the numbers differ.
TEST(RegionAliases, HazardsAreFoundAcrossRegions) {
  const Configuration& configuration = *find_configuration("ethos-u55-128");
  const auto check = [&](const EditableStream& stream, bool shared) {
    const std::vector<uint8_t> bytes = stream.bytes();
    std::vector<uint8_t> constants(0x800), arena(0x2000), other(0x2000);
    Memory memory(configuration);
    memory.regions[0] = {constants.data(), constants.size(), false};
    memory.regions[1] = {arena.data(), arena.size(), true};
    memory.regions[2] = {(shared ? arena : other).data(), 0x2000, true};
    Checker checker(configuration, bytes);
    RunOptions options;
    options.execute = false;
    checker.finish(run(bytes, configuration, memory, &checker, options));
    std::vector<FindingKind> kinds;
    for (const Finding& finding : checker.findings().all()) kinds.push_back(finding.kind);
    return kinds;
  };
  const EditableStream good = good_stream();
  const EditableStream elsewhere = good.with("SET_DMA0_DST_REGION", 0, 2).without("OP_DMA_WAIT", 0);
  EXPECT_EQ(check(elsewhere, false), std::vector<FindingKind>{});
  EXPECT_EQ(check(elsewhere, true), std::vector{FindingKind::MissingDmaWait});
  // The pool reads as region 2 what the convolution's last blocks write as region 1.
  const EditableStream dependent = good.with("SET_IFM_REGION", 1, 2).with("SET_BLOCKDEP", 1, 3);
  EXPECT_EQ(check(dependent, true), std::vector{FindingKind::BlockDependency});
  EXPECT_EQ(check(dependent, false), std::vector<FindingKind>{});
}

}  // namespace
}  // namespace intarsia::test::ethos_u
