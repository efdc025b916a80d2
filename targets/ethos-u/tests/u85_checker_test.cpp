// What the checker finds in streams of the Ethos-U85 that are written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "intarsia/targets/ethos_u85/checker.h"
#include "u85_row.h"

namespace intarsia::test::ethos_u {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> findings_of(Row& row, const std::function<void(sim85::Checker&)>& tell) {
  U85StreamWriter whole = row.stream();
  whole.set(Command::OP_STOP, 0xFFFF);
  sim85::Checker checker(whole.bytes());
  tell(checker);
  EXPECT_EQ(row.run(&checker), "");
  std::vector<std::string> kinds;
  for (const auto& finding : checker.findings().all()) kinds.emplace_back(to_string(finding.kind));
  return kinds;
}

TEST(U85Checker, FindsWhatNothingWrote) {
  Row row(1, 4, 1, 1);
  row.stream().set(Command::OP_POOL, value::pooling_mode_SUM);
  EXPECT_THAT(findings_of(row,
                          [](sim85::Checker& checker) {
                            checker.forget(1, 1024);
                            checker.set(1, 0, 4);
                            checker.expect(1, Row::kOfm, 4);
                          }),
              ElementsAre());
  EXPECT_THAT(findings_of(row,
                          [](sim85::Checker& checker) {
                            checker.forget(1, 1024);
                            checker.set(1, 0, 3);
                            checker.expect(1, Row::kOfm, 5);
                          }),
              ElementsAre("uninitialised-read", "unwritten-output"));
}

// Of what a transfer copies a part may be unwritten, and stays so.
TEST(U85Checker, FollowsTransfers) {
  Row row(1, 2, 1, 1);
  transfer(row.stream(), 2, 1);
  row.stream()
      .set(Command::OP_DMA_WAIT, 0)
      .address(Command::SET_IFM_BASE0, Row::kOfm)
      .address(Command::SET_OFM_BASE0, 768)
      .set(Command::OP_POOL, value::pooling_mode_SUM);
  const auto findings = [&](uint64_t written) {
    return findings_of(row, [&](sim85::Checker& checker) {
      checker.forget(1, 1024);
      checker.set(1, 0, written);
    });
  };
  EXPECT_THAT(findings(2), ElementsAre());
  EXPECT_THAT(findings(1), ElementsAre("uninitialised-read"));
  EXPECT_THAT(findings(0), ElementsAre("uninitialised-read", "uninitialised-read"));
}

TEST(U85Checker, FindsMissingWaits) {
  const auto findings = [](bool transfer_first, int32_t waits) {
    Row row(1, 2, 1, 1);
    const auto operation = [&] { row.stream().set(Command::OP_POOL, value::pooling_mode_SUM); };
    if (!transfer_first) operation();
    if (!transfer_first && waits != 0) row.stream().set(Command::OP_KERNEL_WAIT, 0);
    transfer(row.stream(), 2, 1);
    if (transfer_first && waits != 0) row.stream().set(Command::OP_DMA_WAIT, 0);
    if (transfer_first) operation();
    return findings_of(row, [](sim85::Checker&) {});
  };
  EXPECT_THAT(findings(true, 0), ElementsAre("missing-dma-wait"));
  EXPECT_THAT(findings(true, 1), ElementsAre());
  EXPECT_THAT(findings(false, 0), ElementsAre("missing-kernel-wait"));
  EXPECT_THAT(findings(false, 1), ElementsAre());
}

// The second operation reads what the last block of the first writes, or, six elements wide, what its first one does.
TEST(U85Checker, FindsBlocksThatBeginTooEarly) {
  const auto findings = [](int32_t width, int32_t blockdep, bool waits) {
    Row row(width, 1, 1, 1);
    row.stream().set(Command::OP_POOL, value::pooling_mode_SUM);
    if (waits) row.stream().set(Command::OP_KERNEL_WAIT, 0);
    row.stream()
        .address(Command::SET_IFM_BASE0, Row::kOfm)
        .address(Command::SET_OFM_BASE0, 768)
        .set(Command::SET_BLOCKDEP, blockdep)
        .set(Command::OP_POOL, value::pooling_mode_SUM);
    return findings_of(row, [](sim85::Checker&) {});
  };
  EXPECT_THAT(findings(2, 1, false), ElementsAre("block-dependency"));
  EXPECT_THAT(findings(2, 0, false), ElementsAre());
  EXPECT_THAT(findings(2, 1, true), ElementsAre());
  EXPECT_THAT(findings(6, 2, false), ElementsAre());
  EXPECT_THAT(findings(6, 3, false), ElementsAre("block-dependency"));
}

// The input begins a block before what the first operation writes: the first job reads other bytes, the second one the first of two
// blocks, which may be the third incomplete one from the end at most.
TEST(U85Checker, FindsLaterJobsThatBeginTooEarly) {
  const auto findings = [](int32_t blockdep) {
    Row row(4, 1, 1, 1);
    row.stream()
        .set(Command::OP_POOL, value::pooling_mode_SUM)
        .address(Command::SET_IFM_BASE0, Row::kOfm - 2)
        .address(Command::SET_OFM_BASE0, 768)
        .set(Command::SET_BLOCKDEP, blockdep)
        .set(Command::OP_POOL, value::pooling_mode_SUM);
    return findings_of(row, [](sim85::Checker&) {});
  };
  EXPECT_THAT(findings(2), ElementsAre());
  EXPECT_THAT(findings(3), ElementsAre("block-dependency"));
}

// An OFM some elements behind the IFM: the first block writes what the second still reads. In place, or in front of the IFM, each
// block writes what has been read.
TEST(U85Checker, FindsOutputsOverInputsThatAreStillRead) {
  const auto findings = [](int64_t behind) {
    Row row(6, 1, 1, 1);
    row.stream()
        .address(Command::SET_IFM_BASE0, Row::kOfm)
        .address(Command::SET_OFM_BASE0, static_cast<uint64_t>(int64_t{Row::kOfm} + behind))
        .set(Command::OP_POOL, value::pooling_mode_SUM);
    return findings_of(row, [](sim85::Checker&) {});
  };
  EXPECT_THAT(findings(0), ElementsAre());
  EXPECT_THAT(findings(-2), ElementsAre());
  EXPECT_THAT(findings(2), ElementsAre("output-over-input"));
}

TEST(U85Checker, FindsBlocksThatAreNone) {
  Row row(2, 1, 1, 1);
  row.stream().set(Command::SET_OFM_BLK_WIDTH_M1, 2);
  row.stream().set(Command::OP_POOL, value::pooling_mode_SUM);
  EXPECT_THAT(findings_of(row, [](sim85::Checker&) {}), ElementsAre("block-configuration"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
