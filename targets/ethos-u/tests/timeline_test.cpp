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

  // 24x8x64 to 24x8x64, which is 6144 cycles of all MACs, in three blocks of 2048; so much output too.
  void pointwise(int32_t blockdep, uint32_t region = 1) {
    Operation op;
    op.ifm.region = op.ofm.region = region;
    op.ifm.height = op.ofm.height = 24;
    op.ifm.width = op.ofm.width = 8;
    op.ifm.depth = op.ofm.depth = 64;
    op.upscaled_height = op.ifm.height;
    op.upscaled_width = op.ifm.width;
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
  static constexpr double kStart = isa::ethos_u::kAssumed.command_start;
  // The first of two IFM blocks of a block: 2048 bytes over eight a cycle, and the latency. Then the MACs of three blocks,
  // the output of the last, and its latency.
  static constexpr double kFirst = 32 + 2048 / 8, kMacs = 3 * 2048, kLast = 2048 + 32;
  static constexpr double kAlone = kStart + kFirst + kMacs + kLast;
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
  EXPECT_NEAR(at(1).ended, kAlone, 40) << "an eighth of the port is the transfer's";
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
  EXPECT_EQ(timeline_.totals().cycles, kTransfer + kAlone);
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

TEST_F(TimelineTest, WithoutABlockDependencyNothingIsReadBeforeTheLastBlockIsWritten) {
  pointwise(0);
  pointwise(0);
  timeline_.finish();
  EXPECT_EQ(at(0).ended, kAlone);
  EXPECT_EQ(at(1).ended, 2 * kAlone - kStart) << "registers are set up before";
}

TEST_F(TimelineTest, ABlockDependencyLetsTheArrayWorkOn) {
  pointwise(0);
  pointwise(2);
  timeline_.finish();
  // Two IFM blocks are read before the last block in front is written. The third is not, and shares the port with the
  // output of the first block. Then four are left.
  EXPECT_EQ(at(1).ended, kAlone + 32 + 2 * 256 + 4 * 1024 + kLast);
}

// One block may be under way of both: the first IFM block is read when only the last block in front is not written, the
// second when that is.
TEST_F(TimelineTest, ABlockDependencyOfOneIsForOneIfmBlock) {
  pointwise(0);
  pointwise(1);
  timeline_.finish();
  EXPECT_EQ(at(1).ended, kAlone + kFirst + kMacs - 1024 + kLast) << "1024 of the first IFM block";
}

// Bytes that need their port all the time are not hidden behind the output of the operation before.
TEST_F(TimelineTest, BytesAreNotHidden) {
  pointwise(0, 0);
  pointwise(2, 0);
  timeline_.finish();
  EXPECT_EQ(timeline_.totals().port_cycles[1], 4 * 12288);
  EXPECT_GE(timeline_.totals().cycles, 4 * 12288);
  EXPECT_LE(timeline_.totals().cycles, 4 * 12288 + 6000) << "of latencies and computing";
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
  EXPECT_EQ(timeline_.totals().cycles, 64 + 400 + 2 * kAlone - kStart);
  EXPECT_EQ(timeline_.totals().port_cycles[1], 600);
}

TEST_F(TimelineTest, APortIsShared) {
  // Maps in the flash: 12288 bytes each way at a byte a cycle; the transfer wants the same port all the time.
  pointwise(3, 0);
  transfer(6000);
  timeline_.finish();
  EXPECT_GE(timeline_.totals().cycles, 2 * 12288 + 6000);
  EXPECT_GE(at(1).ended, 2 * 6000) << "the operation has half of the port at least";
  EXPECT_LE(at(1).ended, 3 * 6000 + 200)
      << "the transfer has a third: it shares with what is read and what is written";
}

TEST_F(TimelineTest, AnOperationWithoutBytesOrWorkEnds) {
  Operation op;
  op.ifm.height = op.ifm.width = op.ifm.depth = op.ofm.height = op.ofm.width = op.ofm.depth = 1;
  op.kind = OperationKind::Elementwise;
  op.ofm_block = {2, 2, 16};
  op.ifm.region = op.ofm.region = 1;
  timeline_.before(op, memory_);
  timeline_.finish();
  // Start, latency, a burst each way, and both latencies; an addition of one element takes less than its burst.
  EXPECT_EQ(timeline_.totals().cycles, kStart + 32 + 4 + 4 + 32);
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
