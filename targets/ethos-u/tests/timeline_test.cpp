// The timeline against sums done by hand: what runs beside what, and who waits.
#include "intarsia/targets/ethos_u/timeline.h"

#include <gtest/gtest.h>

namespace intarsia::test::ethos_u {
namespace {

using namespace simulators::ethos_u;

class TimelineTest : public testing::Test {
 protected:
  static constexpr const char* kTag = "ethos-u55-128";
  const Configuration& configuration_ = *find_configuration(kTag);
  Memory memory_{configuration_};
  Timeline timeline_{configuration_, *isa::ethos_u::memory_system(
                                         *isa::ethos_u::find_npu_timing(kTag), "", "Shared_Sram")};

  // 24x8x64 to 24x8x64, which is 6144 cycles of all MACs, in three blocks of 2048; output 1024 a block.
  void pointwise(int32_t blockdep, uint32_t region = 1) {
    Operation op;
    op.ifm.region = op.ofm.region = region;
    op.ifm.height = op.ofm.height = 24;
    op.ifm.width = op.ofm.width = 8;
    op.ifm.depth = op.ofm.depth = 64;
    op.ifm.brick = op.ofm.brick = true;
    op.ofm_block = {8, 8, 64};
    op.weight_region = op.scale_region = 1;
    op.activation = {ActivationFunction::Clamp, 0, {}, -128, 127};
    op.blockdep = blockdep;
    op.offset = next_ += 4;
    timeline_.before(op, memory_);
  }
  void transfer(uint64_t bytes, uint32_t from = 0) {
    DmaTransfer dma;
    dma.source_region = from;
    dma.target_region = 1;
    dma.length = bytes;
    dma.offset = next_ += 4;
    timeline_.before(dma, memory_);
  }
  void wait(WaitKind kind, int32_t outstanding) { timeline_.wait({next_ += 4, kind, outstanding}); }
  const TimedCommand& at(size_t i) const { return timeline_.commands().at(i); }
  // The start, all blocks, the last output, and the first input: 64 cycles of latency and 4096 bytes of a block.
  static constexpr double kStart = isa::ethos_u::kAssumed.command_start;
  static constexpr double kAlone = kStart + 3 * 2048 + 2048, kFirstFetch = 64 + 4096 / 8;
  // A transfer of a thousand bytes from the flash, a byte a cycle.
  static constexpr double kTransfer = kStart + 64 + 1000;

  uint32_t next_ = 0;
};

TEST_F(TimelineTest, WorkRunsBesideTransfersUntilAWait) {
  transfer(1000);
  pointwise(3);
  timeline_.finish();
  EXPECT_EQ(at(0).ended, kTransfer);
  EXPECT_EQ(at(1).started, 0);
  EXPECT_EQ(at(1).alone, kAlone + kFirstFetch) << "nothing is in front that would hide it";
  EXPECT_EQ(timeline_.totals().cycles, at(1).ended);
  EXPECT_EQ(timeline_.totals().transfer_only, 0);
  EXPECT_TRUE(timeline_.stalls().empty());
}

TEST_F(TimelineTest, AWaitIsAStall) {
  transfer(1000);
  wait(WaitKind::Dma, 0);
  pointwise(3);
  timeline_.finish();
  EXPECT_EQ(at(1).started, kTransfer);
  EXPECT_EQ(timeline_.totals().cycles, kTransfer + kFirstFetch + kAlone);
  EXPECT_EQ(timeline_.totals().transfer_only, kTransfer);
  ASSERT_EQ(timeline_.stalls().size(), 1u);
  EXPECT_EQ(timeline_.stalls()[0].to, kTransfer);
}

TEST_F(TimelineTest, QueuesAreAsLongAsTheDevices) {
  transfer(1000);
  transfer(1000);  // an Ethos-U55 has one transfer at a time
  EXPECT_EQ(at(1).issued, kTransfer);
  pointwise(0);
  pointwise(0);
  EXPECT_EQ(at(3).issued, kTransfer);
  pointwise(0);  // two operations are outstanding
  EXPECT_EQ(at(4).issued, at(2).ended);
  timeline_.finish();
  EXPECT_EQ(at(3).started, at(2).ended);
  EXPECT_EQ(at(4).ended, timeline_.totals().cycles);
}

TEST_F(TimelineTest, BlockDependencyHidesTheFirstInputAndTheLastOutput) {
  pointwise(0);
  pointwise(0);
  timeline_.finish();
  EXPECT_EQ(at(1).ended, 2 * (kAlone + kFirstFetch));

  TimelineTest::timeline_ = Timeline(configuration_, timeline_.memories());
  pointwise(0);
  pointwise(2);
  timeline_.finish();
  EXPECT_EQ(at(1).ended, kAlone + kFirstFetch + kAlone - 2048);
}

// Bytes that need their port all the time are not hidden behind the output of the operation before.
TEST_F(TimelineTest, BytesAreNotHidden) {
  pointwise(0, 0);
  pointwise(2, 0);
  timeline_.finish();
  EXPECT_EQ(at(1).cycles(), kStart + 2 * 12288);
}

TEST_F(TimelineTest, CommandsAreReadWhileOthersRun) {
  const auto read = [&](uint32_t words) {
    DecodedCommand command;
    command.words = words;
    timeline_.command(command);
  };
  read(100);  // 400 bytes from the flash, and its latency, once
  pointwise(0);
  EXPECT_EQ(at(0).issued, 64 + 400);
  read(50);
  pointwise(0);
  EXPECT_EQ(at(1).issued, 64 + 600);
  timeline_.finish();
  EXPECT_EQ(timeline_.totals().cycles, 64 + 400 + 2 * (kAlone + kFirstFetch));
  EXPECT_EQ(timeline_.totals().port_cycles[1], 600);
}

TEST_F(TimelineTest, APortIsShared) {
  // Maps in the flash: 12288 bytes each way at a byte a cycle; the transfer wants the same port all the time.
  pointwise(3, 0);
  transfer(6000);
  timeline_.finish();
  const double alone = at(0).alone;
  const double first_fetch = 64 + 64 + 4096;  // latencies of the flash, and a block
  EXPECT_EQ(alone, kStart + 2 * 12288 + first_fetch);
  // The operation asks for the port 24,576 of its cycles, the transfer nearly all of its own.
  EXPECT_NEAR(at(1).ended, 6000 * (1 + 2 * 12288 / alone), 200);
  EXPECT_NEAR(at(0).ended, alone + 6000 * (2 * 12288 / alone), 200);
}

TEST_F(TimelineTest, TrafficIsByRegion) {
  transfer(1000);
  pointwise(3);
  timeline_.finish();
  const CycleTotals& totals = timeline_.totals();
  EXPECT_EQ(totals.traffic[0].read_bytes, 1000u);
  EXPECT_EQ(totals.traffic[1].read_bytes, 24u * 8 * 64);
  EXPECT_EQ(totals.traffic[1].written_bytes, 1000u + 24 * 8 * 64);
  EXPECT_EQ(totals.macs, 24 * 8 * 64 * 64);
  EXPECT_NEAR(totals.utilisation(128), 6144 / totals.cycles, 1e-9);
  EXPECT_EQ(timeline_.cycles(), static_cast<uint64_t>(totals.cycles + 0.5));
  EXPECT_EQ(timeline_.events(0x30), 6144u);       // MAC_ACTIVE
  EXPECT_EQ(timeline_.events(0x182), 1000u / 8);  // AXI1_RD_DATA_BEAT_RECEIVED
}

}  // namespace
}  // namespace intarsia::test::ethos_u
