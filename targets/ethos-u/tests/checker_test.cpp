// A stream without mistakes, then with one: the checker names the mistake and the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checked_stream.h"
#include "intarsia/targets/ethos_u/blocks.h"

namespace intarsia::test::ethos_u {
namespace {

TEST(Checker, IsSilentOnAGoodStream) {
  const FindingList findings = check(good_stream());
  for (const Finding& finding : findings.all()) ADD_FAILURE() << finding.to_string();
}

TEST(Checker, Waits) {
  const EditableStream good = good_stream();
  expect_one(good.without("OP_DMA_WAIT", 0), FindingKind::MissingDmaWait, "OP_CONV", 0,
             "the weights of OP");
  expect_one(good.without("OP_DMA_WAIT", 1), FindingKind::MissingDmaWait, "OP_ELEMENTWISE", 0,
             "the look-up table of OP");
  expect_among(good.with("OP_DMA_WAIT", 0, 1), FindingKind::MissingDmaWait, "OP_CONV", 0,
               "OP_DMA_START at 0x");
  // A second transfer over the weights while the convolution may still read them.
  EditableStream again = good_stream().without("OP_STOP", 0);
  again.put("SET_DMA0_DST_REGION", 1)
      .put_wide("SET_DMA0_DST", kThird)
      .put("OP_DMA_START")
      .put("OP_STOP", 0xFFFF);
  expect_one(again, FindingKind::MissingKernelWait, "OP_DMA_START", 2, "the OFM of OP");
  EditableStream waited = good_stream().without("OP_STOP", 0);
  waited.put("SET_DMA0_DST_REGION", 1).put_wide("SET_DMA0_DST", kThird).put("OP_KERNEL_WAIT", 0);
  EXPECT_TRUE(check(waited.put("OP_DMA_START").put("OP_STOP", 0xFFFF)).all().empty());
}

TEST(Checker, WhatIsOutstandingIsLimited) {
  // Two operations after the convolution its weights may be overwritten without a wait.
  EditableStream third = good_stream().without("OP_STOP", 0);
  third.put("SET_DMA0_DST_REGION", 1)
      .put_wide("SET_DMA0_DST", kWeights)
      .put("OP_DMA_START")
      .put("OP_STOP", 0);
  EXPECT_TRUE(check(third).all().empty());
  // After one it may not.
  const EditableStream good = good_stream();
  expect_one(good.with("SET_DMA0_DST_REGION", 1, 1)
                 .with("SET_DMA0_DST", 1, kWeights)
                 .with("SET_ACTIVATION", 1, 0),
             FindingKind::MissingKernelWait, "OP_DMA_START", 1, "the weights of OP");
}

TEST(Checker, BlockDependency) {
  const EditableStream good = good_stream();
  // Four blocks of two rows, read four rows at a time: the last block is input of the pool's second,
  // which one job comes before.
  expect_one(good.with("SET_BLOCKDEP", 1, 2), FindingKind::BlockDependency, "OP_POOL", 0,
             "it may be 1 at most");
  expect_one(good.with("SET_BLOCKDEP", 1, 3), FindingKind::BlockDependency, "OP_POOL", 0,
             "it may be 1 at most");
  expect_one(good.with("SET_BLOCKDEP", 2, 1), FindingKind::BlockDependency, "OP_ELEMENTWISE", 0,
             "it may be 0 at most");
  // Of what does not touch the operation before any number is right.
  EXPECT_TRUE(
      check(good.with("SET_BLOCKDEP", 2, 3).with("SET_IFM_BASE0", 2, kFirst)).all().empty());
}

TEST(Checker, MemoryNobodyWrote) {
  const EditableStream good = good_stream();
  expect_one(good.with("SET_IFM_BASE0", 0, 0x1800), FindingKind::UninitialisedRead, "OP_CONV", 0,
             "the IFM includes byte 0x1800 of region 1");
  expect_one(good.with("SET_DMA0_LEN", 0, 0x100), FindingKind::UninitialisedRead, "OP_CONV", 0,
             "the scales include byte 0x1100 of region 1");
  expect_one(good.with("SET_IFM_BASE0", 2, 0xA00), FindingKind::UninitialisedRead, "OP_ELEMENTWISE",
             0, "the IFM includes byte 0xa00");
  // Rows that no window looks at do not matter: every second row is written, and read with stride 2.
  const EditableStream rows = good.with("SET_OFM_HEIGHT_M1", 0, 3)
                                  .with("SET_OFM_HEIGHT0_M1", 0, 3)
                                  .with("SET_OFM_STRIDE_Y", 0, 256);
  EXPECT_TRUE(check(rows.with("SET_KERNEL_HEIGHT_M1", 1, 0)).all().empty());
  expect_one(rows, FindingKind::UninitialisedRead, "OP_POOL", 0, "the IFM includes byte 0x480");
}

// A transfer moves whole units, so bytes behind the data may come along; what they are is known at the
// other end, and a transfer of nothing else is a mistake.
TEST(Checker, TransfersCarryWhatNobodyWrote) {
  const auto copied = [](uint32_t length, uint64_t ifm) {
    EditableStream s;
    s.put("SET_DMA0_SRC_REGION", 1).put_wide("SET_DMA0_SRC", kInput + 8 * 8 * 16 - length / 2);
    s.put("SET_DMA0_DST_REGION", 1)
        .put_wide("SET_DMA0_DST", kWeights)
        .put_wide("SET_DMA0_LEN", length);
    s.put("OP_DMA_START");
    put_ifm(s, {1, ifm, 4, 4, 16});
    put_ofm(s, {1, kThird, 2, 2, 16});
    put_window(s, 2, 2);
    put_block(s, 4, 2, 16, 6, 14);
    s.put("SET_ACTIVATION", 0).put("SET_ACTIVATION_MIN", 0xFF80).put("SET_ACTIVATION_MAX", 127);
    s.put("SET_ACC_FORMAT", 0).put("SET_BLOCKDEP", 0).put("OP_DMA_WAIT", 0).put("OP_POOL", 0);
    return s.put("OP_STOP", 0xFFFF);
  };
  // Half of the source is input. 256 bytes of it are read afterwards, then 256 bytes across its end.
  EXPECT_TRUE(check(copied(512, kWeights)).all().empty());
  expect_one(copied(512, kWeights + 0x10), FindingKind::UninitialisedRead, "OP_POOL", 0,
             "the IFM includes byte 0x1100 of region 1");
  const EditableStream good = copied(512, kInput);
  expect_one(good.with("SET_DMA0_SRC", 0, 0x1800), FindingKind::UninitialisedRead, "OP_DMA_START",
             0, "the source's bytes include byte 0x1800 of region 1");
}

TEST(Checker, Regions) {
  const EditableStream good = good_stream();
  EXPECT_EQ(check(good.with("SET_IFM_REGION", 0, 4)).all().at(0).kind, FindingKind::OutsideRegion);
  EXPECT_EQ(check(good.with("SET_OFM_BASE0", 2, 0x1FF0)).all().at(0).to_string(),
            "0x2a4 OP_ELEMENTWISE elementwise_mode=6 (late): outside-region: the OFM uses bytes "
            "0x1ff0 to "
            "0x20f0 of region 1, which has 8192");
  expect_one(good.with("SET_OFM_REGION", 2, 0).with("SET_OFM_BASE0", 2, 0),
             FindingKind::ReadOnlyWrite, "OP_ELEMENTWISE", 0, "only may be read");
  expect_among(good.with("SET_DMA0_DST", 1, kTableAddress + 2048), FindingKind::OutsideRegion,
               "OP_DMA_START", 1, "of SHRAM, which has 24576 bytes");
}

// Rows may follow one another towards lower addresses, as those of a reflected border do.
TEST(Checker, RowsUpwards) {
  const EditableStream good = good_stream();
  const auto upwards = [&](uint64_t base, int32_t stride) {
    return good.with("SET_OFM_BASE0", 2, base)
        .with("SET_OFM_STRIDE_Y", 2, static_cast<uint32_t>(stride));
  };
  EXPECT_TRUE(check(upwards(kThird + 3 * 64, -64)).all().empty());
  EXPECT_TRUE(check(upwards(3 * 64, -64)).all().empty());
  // A row less, and the last one lies in front of the region.
  EXPECT_EQ(check(upwards(2 * 64, -64)).all().at(0).kind, FindingKind::OutsideRegion);
  EXPECT_EQ(check(upwards(0x2000 - 48, -64)).all().at(0).kind, FindingKind::OutsideRegion);
  expect_one(upwards(kThird + 3 * 64, -48), FindingKind::OutputOverOutput, "OP_ELEMENTWISE", 0,
             "its strides are too small");
  // Into rows of the IFM that later blocks read.
  const EditableStream over = upwards(kSecond + 3 * 64, -64).with("SET_OFM_BLK_HEIGHT_M1", 2, 1);
  expect_one(over, FindingKind::OutputOverInput, "OP_ELEMENTWISE", 0,
             "which is the IFM of block 1");
  // What it writes is where it writes it.
  const EditableStream flipped = good.with("SET_OFM_BASE0", 1, kSecond + 3 * 64)
                                     .with("SET_OFM_STRIDE_Y", 1, static_cast<uint32_t>(-64));
  EXPECT_TRUE(check(flipped).all().empty());
  expect_one(flipped.with("SET_IFM_BASE0", 2, kSecond + 64), FindingKind::UninitialisedRead,
             "OP_ELEMENTWISE", 0, "the IFM includes byte 0x900");
}

// Forty bits in two's complement; an Ethos-U55 has addresses of 32, and nothing above them but a stride's sign.
TEST(Checker, StridesHaveASign) {
  const auto stride = [](uint64_t value, Product product) -> std::optional<int64_t> {
    const std::vector<uint8_t> bytes = EditableStream().put_wide("SET_OFM_STRIDE_Y", value).bytes();
    DecodedCommand command;
    if (decode(bytes, 0, product, command)) return std::nullopt;
    CommandState state(product);
    state.apply(command);
    return state.stride(Command::SET_OFM_STRIDE_Y);
  };
  for (const Product product : {Product::U55, Product::U65}) {
    EXPECT_EQ(stride(0xFFFFFFFFC0, product), -64);
    EXPECT_EQ(stride(64, product), 64);
  }
  EXPECT_EQ(stride(0xFFFFFFC0, Product::U55), -64);
  EXPECT_EQ(stride(0xFFFFFFC0, Product::U65), 0xFFFFFFC0);
  EXPECT_EQ(stride(0xFF00000040, Product::U55), std::nullopt);
  EXPECT_EQ(stride(0x7FFFFFFFC0, Product::U55), std::nullopt);
  DecodedCommand base;
  EXPECT_TRUE(decode(EditableStream().put_wide("SET_OFM_BASE0", 0xFFFFFFFFC0).bytes(), 0,
                     Product::U55, base));
}

TEST(Checker, OutputOverInput) {
  const EditableStream good = good_stream();
  // In place, element by element, is legal; shifted by a pixel it is not when there are two blocks.
  EXPECT_TRUE(check(good.with("SET_OFM_BASE0", 2, kSecond)).all().empty());
  const EditableStream shifted =
      good.with("SET_OFM_BASE0", 2, kSecond + 16).with("SET_OFM_BLK_HEIGHT_M1", 2, 1);
  expect_one(shifted, FindingKind::OutputOverInput, "OP_ELEMENTWISE", 0,
             "block 0 writes byte 0x880 of region 1, which is the IFM of block 1");
  // One block has read everything before it writes.
  EXPECT_TRUE(check(good.with("SET_OFM_BASE0", 2, kSecond + 16)).all().empty());
  expect_among(good.with("SET_OFM_STRIDE_X", 0, 8), FindingKind::OutputOverOutput, "OP_CONV", 0,
               "strides are too small");
}

// Bursts of a transfer are read ahead of those that are written: only onto itself it may go.
TEST(Checker, TransferOverItsSource) {
  const auto moved = [](uint64_t by) {
    EditableStream stream = good_stream().without("OP_STOP", 0);
    stream.put("SET_DMA0_SRC_REGION", 1).put_wide("SET_DMA0_SRC", kSecond);
    stream.put("SET_DMA0_DST_REGION", 1).put_wide("SET_DMA0_DST", kSecond + by);
    stream.put_wide("SET_DMA0_LEN", 64).put("OP_KERNEL_WAIT", 0).put("OP_DMA_START");
    return stream.put("OP_STOP", 0xFFFF);
  };
  EXPECT_TRUE(check(moved(0)).all().empty());
  EXPECT_TRUE(check(moved(64)).all().empty());
  for (const uint64_t by : {uint64_t{16}, uint64_t{48}, ~uint64_t{15}})
    expect_one(moved(by), FindingKind::OutputOverInput, "OP_DMA_START", 2,
               "source and target of the transfer overlap");
}

TEST(Checker, Blocks) {
  const EditableStream good = good_stream();
  expect_one(good.with("SET_OFM_BLK_WIDTH_M1", 0, 6), FindingKind::BlockConfiguration, "OP_CONV", 0,
             "OFM_BLK_WIDTH is 7, no multiple of the micro-block's 2");
  expect_one(good.with("SET_OFM_BLK_DEPTH_M1", 0, 11), FindingKind::BlockConfiguration, "OP_CONV",
             0, "is 12");
  expect_one(good.with("SET_IFM_IB_END", 0, 5), FindingKind::ShramLayout, "OP_CONV", 0,
             "leaves 3 banks for the IFM, of which OFM blocks of 8x2x16 need 4");
  expect_one(good.with("SET_AB_START", 0, 4), FindingKind::ShramLayout, "OP_CONV", 0,
             "lies inside the input buffer");
  expect_among(good.with("SET_AB_START", 0, 16), FindingKind::ShramLayout, "OP_CONV", 0,
               "need 8 banks for OFM blocks of 8x2x16 and may use them up to 22");
  expect_one(good.with("SET_IFM_IB_END", 2, 23), FindingKind::ShramLayout, "OP_ELEMENTWISE", 0,
             "reaches into the banks from 22 on");
}

TEST(Checker, Alignment) {
  const EditableStream good = good_stream();
  expect_one(good.with("SET_WEIGHT_BASE", 0, kWeights + 8), FindingKind::Alignment, "OP_CONV", 0,
             "WEIGHT_BASE 0x1008 is no multiple of 16");
  expect_among(good.with("SET_SCALE_LENGTH", 0, 161), FindingKind::Alignment, "OP_CONV", 0,
               "SCALE_LENGTH 161");
  expect_one(good.with("SET_DMA0_SRC", 0, 0x104), FindingKind::Alignment, "OP_DMA_START", 0,
             "DMA0_SRC 0x104");
  expect_among(good.with("SET_IFM_PRECISION", 2, kNhwc16).with("SET_IFM_STRIDE_X", 2, 33),
               FindingKind::Alignment, "OP_ELEMENTWISE", 0, "IFM_STRIDE_X 33 is no multiple of 2");
  expect_among(good.with("SET_IFM_PRECISION", 2, kBricks8).with("SET_IFM_STRIDE_Y", 2, 72),
               FindingKind::Alignment, "OP_ELEMENTWISE", 0, "IFM_STRIDE_Y 72 is no multiple of 16");
}

TEST(Checker, Tables) {
  const EditableStream good = good_stream();
  expect_one(good.with("SET_ACTIVATION", 1, 17), FindingKind::LookUpTable, "OP_ELEMENTWISE", 0,
             "table 1 at 0x5900 of SHRAM was not loaded");
  expect_one(good.with("SET_DMA0_LEN", 1, 240), FindingKind::LookUpTable, "OP_ELEMENTWISE", 0,
             "table 0");
}

TEST(Checker, Registers) {
  const EditableStream good = good_stream();
  expect_one(good.without("SET_ACTIVATION_MAX", 0), FindingKind::Stopped, "OP_CONV", 0,
             "needs register ACTIVATION_MAX, which nobody set");
  expect_among(good.with("SET_ACTIVATION_MAX", 0, 0xFF00), FindingKind::Registers, "OP_CONV", 0,
               "is more than");
}

TEST(Checker, Scales) {
  const EditableStream good = good_stream();
  expect_one(good.with("SET_SCALE_LENGTH", 0, 144), FindingKind::WeightStream, "OP_CONV", 0,
             "scales of 144 bytes are too few for 16 channels of core 0");
  expect_one(good.with("SET_SCALE_LENGTH", 0, 176), FindingKind::WeightStream, "OP_CONV", 0,
             "are too many");
}

// An IFM block is 32 bytes deep: a sum over channels of 32 bits reads eight of them in a job, so that its first job need not wait for
// a block behind these.
TEST(Checker, JobsOfSumsOverChannels) {
  using namespace simulators::ethos_u;
  const auto sum_of = [](ElementType type) {
    Operation op;
    op.kind = OperationKind::Pool;
    op.pooling = PoolingMode::ReduceSum;
    op.ifm.type = type;
    op.ifm.height = op.upscaled_height = op.ofm.height = 4;
    op.ifm.width = op.upscaled_width = op.ofm.width = 4;
    op.ifm.depth = 32;
    op.ofm.depth = 1;
    op.ofm_block = {4, 4, 8};
    return op;
  };
  const auto jobs = [&](ElementType type) { return Blocks(sum_of(type)).jobs_per_block(); };
  EXPECT_EQ(jobs(ElementType::S8), 1);
  EXPECT_EQ(jobs(ElementType::S16), 2);
  EXPECT_EQ(jobs(ElementType::S32), 4);
  const Operation wide = sum_of(ElementType::S32);
  const Box second = Blocks(wide).ifm(1);
  EXPECT_EQ(std::pair(second.c0, second.c1), std::pair(8, 16));
}

// Sixteen banks leave none for the tables: an operation without one may use theirs.
TEST(Checker, TablesInTheWayOfBlocks) {
  EditableStream s;
  s.put("SET_DMA0_SRC_REGION", 0)
      .put_wide("SET_DMA0_SRC", 0x600)
      .put("SET_DMA0_DST_REGION", 1 << 8);
  s.put_wide("SET_DMA0_DST", 14 * 1024).put_wide("SET_DMA0_LEN", 256).put("OP_DMA_START");
  put_ifm(s, {1, kInput, 4, 4, 16});
  put_ofm(s, {1, kFirst, 4, 4, 16});
  s.put("SET_ACTIVATION", 16).put("SET_ACTIVATION_MIN", 0xFF80).put("SET_ACTIVATION_MAX", 127);
  put_block(s, 4, 4, 16, 14, 14);
  s.put("SET_ACC_FORMAT", 0).put_wide("SET_OFM_SCALE", 1).put("SET_BLOCKDEP", 0);
  s.put("OP_DMA_WAIT", 0).put("OP_ELEMENTWISE", 6);
  s.put("SET_ACTIVATION", 0)
      .put("SET_IFM_IB_END", 16)
      .put("SET_AB_START", 16)
      .put_wide("SET_OFM_BASE0", kSecond);
  s.put("SET_BLOCKDEP", 0).put("OP_ELEMENTWISE", 6).put("OP_STOP", 0xFFFF);
  EXPECT_TRUE(check(s, "ethos-u55-64").all().empty());
  expect_one(s.with("SET_BLOCKDEP", 1, 3), FindingKind::BlockDependency, "OP_ELEMENTWISE", 1,
             "overwrite the table", "ethos-u55-64");
  EditableStream again = s.without("OP_STOP", 0);
  again.put("SET_ACTIVATION", 16)
      .put("SET_IFM_IB_END", 14)
      .put("SET_AB_START", 14)
      .put("OP_ELEMENTWISE", 6);
  expect_one(again.put("OP_STOP", 0xFFFF), FindingKind::LookUpTable, "OP_ELEMENTWISE", 2,
             "overwrote it", "ethos-u55-64");
}

TEST(Checker, EndsOfStreams) {
  const EditableStream good = good_stream();
  EditableStream longer = good;
  expect_one(longer.raw(0), FindingKind::StreamEnd, "OP_STOP", 0,
             "4 bytes of the stream lie behind OP_STOP");
  const FindingList cut = check(good.without("OP_STOP", 0));
  ASSERT_EQ(cut.all().size(), 1u);
  EXPECT_THAT(cut.all()[0].to_string(),
              testing::HasSubstr("stopped: the stream ends here without OP_STOP"));
  EditableStream unknown = good.without("OP_STOP", 0);
  EXPECT_THAT(check(unknown.raw(0x3FF)).all().at(0).what,
              testing::HasSubstr("0x3ff is no command"));
}

TEST(Checker, AThousandMistakesAreNotListed) {
  EditableStream stream = good_stream().without("OP_STOP", 0);
  stream.put_wide("SET_WEIGHT_BASE", kWeights + 8).put("SET_ACTIVATION", 0);
  for (int i = 0; i < 300; ++i) stream.put("OP_CONV");
  const FindingList findings = check(stream.put("OP_STOP", 0));
  EXPECT_EQ(findings.all().size(), FindingList::kMost);
  EXPECT_GT(findings.left_out(), 300u);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
