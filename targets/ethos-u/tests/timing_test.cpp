// The timing tables, and the compiler's estimate, against sums done by hand.
#include "schedule/operation_timing.h"

#include <gtest/gtest.h>

namespace intarsia::test::ethos_u {
namespace {

using namespace isa::ethos_u;
using namespace targets::ethos_u::operation_timing;

const NpuTiming& npu(std::string_view name) {
  return *find_npu_timing(name);
}

OperationTiming pointwise(const MemoryTiming& memory) {
  OperationTiming op;
  op.ifm = {.extent = {24, 8, 64}, .bits = 8, .bricks = true, .memory = memory};
  op.ofm = op.ifm;
  op.constants = memory;
  op.ofm_block = {8, 8, 64};
  op.weight_bytes = 4096;
  op.scale_bytes = 640;
  return op;
}

TEST(Timing, EveryConfigurationHasItsRates) {
  ASSERT_EQ(kNpuTimings.size(), 6u);
  for (const NpuTiming& each : kNpuTimings) {
    // A micro-block and a dot product of eight, in every core, in every cycle.
    EXPECT_EQ(each.ofm_ublock.elements() * 8 * each.cores, each.macs) << each.name;
    EXPECT_GT(each.other_output, 0) << each.name;
    EXPECT_GT(each.table, 0) << each.name;
    EXPECT_GT(each.delay_acc40, 0) << each.name;
    EXPECT_EQ(each.bus_bytes, each.is_u65 ? 16 : 8) << each.name;
  }
  EXPECT_EQ(find_npu_timing("ethos-u65-512"), find_npu_timing("u65_512"));
  EXPECT_EQ(find_npu_timing("u85_256"), nullptr);
}

// What the choice of gathered convolutions counts on (compiler/legalise/gather.cpp): copying an element takes the output
// unit twice what a step of four cycles takes for each result, on every configuration.
TEST(Timing, CopiesTakeTwoStepsOnEveryConfiguration) {
  for (const NpuTiming& each : kNpuTimings)
    EXPECT_EQ(each.other_output,
              2 * 4.0 / static_cast<double>(each.ofm_ublock.elements() * each.cores))
        << each.name;
}

TEST(Timing, MemoriesLieBehindThePortsOfTheMode) {
  const auto shared = memory_system(npu("u55_128"), "", "shared-sram");
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->memory_of_region(0).name, "OffChipFlash");
  EXPECT_EQ(shared->memory_of_region(0).bytes_per_cycle, 1.0);  // 0.5 GB/s at 500 MHz
  EXPECT_EQ(shared->memory_of_region(1).bytes_per_cycle, 8.0);
  EXPECT_EQ(shared->port_of_region(1), shared->port_of_region(2));

  const auto only = memory_system(npu("u55_128"), "Ethos_U55_Deep_Embedded", "Sram_Only");
  ASSERT_TRUE(only);
  EXPECT_EQ(only->memory_of_region(0).bytes_per_cycle, 8.0);
  EXPECT_NE(only->port_of_region(0), only->port_of_region(1));

  const auto dedicated = memory_system(npu("u65_256"), "Ethos_U65_Client_Server", "Dedicated_Sram");
  ASSERT_TRUE(dedicated);
  EXPECT_EQ(dedicated->memory_of_region(1).name, "Dram");
  EXPECT_EQ(dedicated->memory_of_region(1).bytes_per_cycle, 12.0);
  EXPECT_EQ(dedicated->memory_of_region(2).name, "Sram");
  EXPECT_EQ(dedicated->cache_bytes, 384 * 1024);

  EXPECT_FALSE(memory_system(npu("u65_256"), "Ethos_U55_Deep_Embedded", "Sram_Only"));
  EXPECT_FALSE(memory_system(npu("u65_256"), "", "Sram"));
}

TEST(Timing, MemorySystemsInNumbers) {
  const auto two = memory_system(npu("u55_128"), "400:8/32/32/33:0.5/128/64/65", "shared-sram");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->clock_mhz, 400);
  EXPECT_EQ(two->memory_of_region(1).bytes_per_cycle, 8);
  EXPECT_EQ(two->memory_of_region(1).write_latency, 33);
  EXPECT_EQ(two->memory_of_region(0).bytes_per_cycle, 0.5);
  EXPECT_EQ(two->memory_of_region(0).burst_bytes, 128);
  EXPECT_EQ(two->memory_of_region(0).read_latency, 64);
  EXPECT_EQ(two->memory_of_region(0).write_latency, 65);
  // One port is everybody's.
  for (const char* mode : {"shared-sram", "sram-only", "dedicated-sram"}) {
    const auto one = memory_system(npu("u65_256"), "32:4/64/16/17", mode);
    ASSERT_TRUE(one) << mode;
    for (const int64_t region : {0, 1, 2}) EXPECT_EQ(one->port_of_region(region), 0) << mode;
    EXPECT_EQ(one->memory_of_region(0).bytes_per_cycle, 4) << mode;
  }
  const auto only = memory_system(npu("u55_128"), "400:8/32/32/32:4/32/9/9", "sram-only");
  ASSERT_TRUE(only);
  EXPECT_EQ(only->memory_of_region(0).read_latency, 9);
  for (const char* wrong :
       {"0:8/32/32/32", "400", "400:", "400:8/32/32", "400:8/32/32/32:", "400:9/32/32/32",
        "400:0/32/32/32", "400:8/0/32/32", "400:8/32/-1/32", "400:8/32/32/32:4/32/9/9:4/32/9/9",
        "400:8/32/32/32x", "20000:8/32/32/32", ":8/32/32/32", "nan:8/32/32/32"})
    EXPECT_FALSE(memory_system(npu("u55_128"), wrong, "shared-sram")) << wrong;
}

TEST(Timing, DmaTakesTheSlowerSideAndTheLatencyOfTheSource) {
  const auto system = memory_system(npu("u55_128"), "", "Shared_Sram");
  EXPECT_EQ(dma_cycles(system->memory_of_region(0), system->memory_of_region(1), 4752),
            kAssumed.command_start + 64 + 4752);
  EXPECT_EQ(dma_cycles(system->memory_of_region(1), system->memory_of_region(0), 4752),
            kAssumed.command_start + 4752);
  EXPECT_EQ(dma_cycles(system->memory_of_region(1), system->ports[kShramPort], 1024),
            kAssumed.command_start + 32 + 128);
}

TEST(Timing, FullBlocksUseEveryMac) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  const OperationTiming op = pointwise(system->memory_of_region(1));
  const OperationCycles cycles = operation_cycles(npu("u55_128"), op);
  EXPECT_EQ(cycles.macs, 24 * 8 * 64 * 64);
  EXPECT_EQ(cycles.blocks, 3);
  EXPECT_EQ(cycles.mac, 24 * 8 * 64 * 64 / 128);
  EXPECT_EQ(cycles.output, 24 * 8 * 64 / 2);
  EXPECT_EQ(cycles.ifm.bytes, 24 * 8 * 64);
  EXPECT_EQ(cycles.ifm.cycles, 24 * 8 * 64 / 8);
  EXPECT_EQ(cycles.weights.bytes, 3 * 4096);
  EXPECT_EQ(cycles.ofm.bytes, 24 * 8 * 64);
  // MACs and output take 2048 cycles a block each; the output of the last is seen alone.
  EXPECT_EQ(cycles.pipeline, 4 * 2048);
  EXPECT_EQ(total_cycles(op, cycles), kAssumed.command_start + 4 * 2048);
}

TEST(Timing, TwoCoresShareABlock) {
  const auto system = memory_system(npu("u65_256"), "", "Sram_Only");
  const OperationTiming op = pointwise(system->memory_of_region(1));
  EXPECT_EQ(operation_cycles(npu("u65_512"), op).mac * 2, operation_cycles(npu("u65_256"), op).mac);
}

TEST(Timing, EdgesCountAsLargeAsTheyAre) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  OperationTiming op = pointwise(system->memory_of_region(1));
  op.ofm.extent.height = op.ifm.extent.height = 18;  // 8, 8 and 2 rows
  EXPECT_EQ(operation_cycles(npu("u55_128"), op).mac, 18 * 8 * 64 * 64 / 128);
  // A single row is too little to hide that its weights come at eight bytes a cycle.
  op.ofm.extent.height = op.ifm.extent.height = 17;
  EXPECT_EQ(operation_cycles(npu("u55_128"), op).mac, 18 * 8 * 64 * 64 / 128);
}

TEST(Timing, FewChannelsGainFromPartKernels) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  OperationTiming op = pointwise(system->memory_of_region(1));
  op.ifm = {.extent = {32, 16, 8}, .bits = 8, .bricks = false, .memory = op.ifm.memory};
  op.kernel_height = op.kernel_width = 4;
  const double depth_first = operation_cycles(npu("u55_128"), op).mac;
  op.part_kernel_first = true;
  const double part_kernel = operation_cycles(npu("u55_128"), op).mac;
  EXPECT_EQ(depth_first, 4 * part_kernel);
  EXPECT_EQ(part_kernel, 24 * 8 * 64 * 8 * 16 / 128);
}

// 40 channels are IFM blocks of 16, 16 and 8: five dot products of eight, not six. Arm's estimate has the last block as deep as
// the others.
TEST(Timing, WhatTheLastIfmBlockLacksTakesNoTimeByParts) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  for (const int32_t bits : {8, 16}) {
    OperationTiming op = pointwise(system->memory_of_region(1));
    op.ifm = {.extent = {26, 18, 40}, .bits = bits, .bricks = false, .memory = op.ifm.memory};
    op.kernel_height = op.kernel_width = 3;
    const double depth_first = operation_cycles(npu("u55_128"), op).mac;
    op.part_kernel_first = true;
    const OperationBlocks blocks(npu("u55_128"), op);
    const auto y = blocks.rows(8), x = blocks.columns(8), z = blocks.channels(64);
    const double by_parts = blocks.cycles(y, x, z).mac;
    const int64_t groups = bits == 16 ? 5 : 3, rounds = bits == 16 ? 3 : 2;
    EXPECT_EQ(by_parts * 9 * rounds, depth_first * groups * 5) << bits;
    const auto full = blocks.full_cycles(y, x, z);
    EXPECT_GE(full.pipeline, by_parts * 6 / 5) << bits;
  }
}

TEST(Timing, WindowsAreFetchedOnceABlockAndSubKernel) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  OperationTiming op = pointwise(system->memory_of_region(1));
  op.work = Work::Depthwise;
  op.kernel_height = 3;
  // Blocks of 8 rows see 10, of 26 in the IFM.
  op.ifm.extent.height = 26;
  EXPECT_EQ(operation_cycles(npu("u55_128"), op).ifm.bytes, 30 * 8 * 64);
  // A window of 12 rows is two sub-kernels: 8 + 7 and 8 + 3 rows.
  op.kernel_height = 12;
  op.ifm.extent.height = 35;
  EXPECT_EQ(operation_cycles(npu("u55_128"), op).ifm.bytes, 3 * (15 + 11) * 8 * 64);
}

TEST(Timing, ShortRunsWasteBursts) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  const MemoryTiming& sram = system->memory_of_region(1);
  EXPECT_EQ(port_cycles(sram, 64, 32), 8);
  EXPECT_EQ(port_cycles(sram, 64, 8), 32);
  EXPECT_EQ(port_cycles(sram, 64, 4096), 8);
}

// There is room for two IFM blocks: what lies in slow memory and is summed 32 channels at a time shows half of the latency for
// each of them, but the first ones.
TEST(Timing, InputOfManyBlocksShowsItsLatency) {
  const NpuTiming& u65 = npu("u65_256");
  const auto system = memory_system(u65, "", "dedicated-sram");
  OperationTiming op = pointwise(system->memory_of_region(1));
  op.ifm = {.extent = {1, 1, 192}, .bits = 8, .memory = system->memory_of_region(1)};
  op.ofm = {.extent = {1, 1, 64}, .bits = 8, .memory = system->memory_of_region(2)};
  op.constants = system->memory_of_region(2);
  const auto latency = static_cast<double>(op.ifm.memory.read_latency);
  op.ofm_block = {2, 2, 16};
  EXPECT_GT(operation_cycles(u65, op).pipeline, (4 * 6 - 2) * latency / 2);
  op.ofm_block = {2, 2, 64};
  EXPECT_GT(operation_cycles(u65, op).pipeline, (6 - 2) * latency / 2);
  EXPECT_LT(operation_cycles(u65, op).pipeline, 4 * 6 * latency / 2);
}

TEST(Timing, SimpleSumsTakeTwoThirdsOfAdvancedOnes) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  OperationTiming op;
  op.is_binary = true;
  op.ifm = {.extent = {8, 8, 32}, .memory = system->memory_of_region(1)};
  op.ifm2 = op.ofm = op.ifm;
  op.ofm_block = {8, 8, 32};
  op.work = Work::SimpleAddSub;
  EXPECT_EQ(operation_cycles(npu("u55_128"), op).output, 8 * 8 * 32);
  op.work = Work::AddSub;
  EXPECT_EQ(operation_cycles(npu("u55_128"), op).output, 8 * 8 * 32 * 1.5);
}

TEST(Timing, TinyElementwiseCostsItsLatency) {
  const auto system = memory_system(npu("u55_128"), "", "Sram_Only");
  OperationTiming op;
  op.work = Work::AddSub;
  op.is_binary = true;
  op.ifm = {
      .extent = {1, 1, 1}, .bits = 32, .bricks = false, .memory = system->memory_of_region(1)};
  op.ifm2 = op.ofm = op.ifm;
  op.ofm_block = {1, 2, 8};
  const OperationCycles cycles = operation_cycles(npu("u55_128"), op);
  EXPECT_EQ(cycles.macs, 0);
  EXPECT_GT(cycles.pipeline, (32 + 32) / 4.0);
  EXPECT_LT(cycles.pipeline, 32 + 32);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
