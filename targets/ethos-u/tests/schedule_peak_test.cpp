// Where storages end once they have addresses, against placements done by hand; and what maps that lie in bricks either way are called.
#include "schedule/schedule_peak.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "schedule/layouts.h"

namespace intarsia::targets::ethos_u {
namespace {

Storage storage(Storage::Kind kind, int64_t bytes) {
  Storage made;
  made.kind = kind;
  made.bytes = bytes;
  return made;
}

Step step(int32_t from, int32_t to) {
  Step made;
  made.operation = 0;
  made.ifm.span.storage = from;
  made.ofm.span.storage = to;
  return made;
}

// 64 bytes of input, 32 between, 16 of output, and constants that are placed nowhere here.
Schedule chain() {
  Schedule schedule;
  schedule.storages = {storage(Storage::Kind::Input, 64), storage(Storage::Kind::Inner, 32),
                       storage(Storage::Kind::Output, 16), storage(Storage::Kind::Constant, 4096)};
  schedule.steps = {step(0, 1), step(1, 2)};
  schedule.steps[0].weights = {{3, 0, 4096}};
  return schedule;
}

TEST(PlacedEnds, AreThoseOfWhatIsAliveAtEachStep) {
  const std::vector<bool> maps = {true, true, true, false};
  EXPECT_EQ(placed_ends(chain(), maps), (std::vector<int64_t>{96, 96}))
      << "64 + 32, and 32 above 64 of which the output has 16";
}

TEST(PlacedEnds, LeaveOutWhatIsNotPlaced) {
  EXPECT_EQ(placed_ends(chain(), {false, true, false, false}), (std::vector<int64_t>{32, 32}));
  EXPECT_EQ(placed_ends(chain(), {false, false, false, false}), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(placed_ends({}, {}), std::vector<int64_t>{});
}

TEST(PlacedEnds, AreTheWholesPeak) {
  for (const std::vector<bool>& placed :
       {std::vector<bool>{true, true, true, false}, std::vector<bool>{true, true, false, false}}) {
    const std::vector<int64_t> ends = placed_ends(chain(), placed);
    EXPECT_EQ(*std::max_element(ends.begin(), ends.end()), placed_peak(chain(), placed));
  }
}

// A map of 6 x 8 pixels, written by a convolution and read by another.
Schedule two_convolutions(DataType type, int32_t channels) {
  Schedule schedule;
  schedule.operations.resize(1);
  schedule.operations[0].kind = OperationKind::Conv;
  schedule.storages = {storage(Storage::Kind::Input, 4096), storage(Storage::Kind::Inner, 4096),
                       storage(Storage::Kind::Output, 4096)};
  schedule.steps = {step(0, 1), step(1, 2)};
  const int64_t size = type == DataType::Int8 ? 1 : 2;
  for (Step& each : schedule.steps) {
    for (FeatureMap* map : {&each.ifm, &each.ofm}) {
      map->type = type;
      map->extent = {6, 8, channels};
      map->stride_x = channels * size;
      map->stride_y = 8 * map->stride_x;
      map->stride_c = size;
    }
    each.block.ofm = {2, 2, 16};
  }
  return schedule;
}

std::vector<Layout> named(Schedule schedule) {
  name_single_bricks(schedule);
  return {schedule.steps[0].ifm.layout, schedule.steps[0].ofm.layout, schedule.steps[1].ifm.layout,
          schedule.steps[1].ofm.layout};
}

TEST(SingleBricks, AreMapsOf16ChannelsBetweenOperations) {
  constexpr Layout kRows = Layout::Nhwc, kBricks = Layout::Nhcwb16;
  EXPECT_EQ(named(two_convolutions(DataType::Int8, 16)),
            (std::vector{kRows, kBricks, kBricks, kRows}));
  const std::vector<Layout> all_rows(4, kRows);
  EXPECT_EQ(named(two_convolutions(DataType::Int8, 32)), all_rows) << "two bricks lie otherwise";
  EXPECT_EQ(named(two_convolutions(DataType::Int16, 16)), all_rows) << "as long as a burst";
}

TEST(SingleBricks, AreWrittenWhole) {
  constexpr Layout kRows = Layout::Nhwc, kBricks = Layout::Nhcwb16;
  const std::vector<Layout> all_rows(4, kRows);
  Schedule part = two_convolutions(DataType::Int8, 16);
  part.steps[1].ifm.extent.depth = 8;
  EXPECT_EQ(named(part), (std::vector{kRows, kBricks, kBricks, kRows}))
      << "one reads the first half of each brick";
  part.steps[1].ifm.base = 8;
  EXPECT_EQ(named(part), (std::vector{kRows, kBricks, kRows, kRows})) << "the second half";
  Schedule halves = two_convolutions(DataType::Int8, 16);
  halves.steps[0].block.ofm.depth = 8;
  EXPECT_EQ(named(halves), (std::vector{kRows, kRows, kBricks, kRows}))
      << "its blocks are halves of bricks";
  Schedule beside = two_convolutions(DataType::Int8, 16);
  beside.steps[0].ofm.extent.depth = 8;
  EXPECT_EQ(named(beside), (std::vector{kRows, kRows, kBricks, kRows}))
      << "the other half may be there already";
  Schedule apart = two_convolutions(DataType::Int8, 16);
  apart.steps[0].ofm.stride_x = apart.steps[1].ifm.stride_x = 32;
  EXPECT_EQ(named(apart), all_rows) << "part of a map of more channels";
  Schedule odd = two_convolutions(DataType::Int8, 16);
  odd.steps[0].ofm.base = odd.steps[1].ifm.base = 8;
  EXPECT_EQ(named(odd), all_rows) << "bricks begin where 16 bytes do";
  Schedule summed = two_convolutions(DataType::Int8, 16);
  summed.operations.push_back(summed.operations[0]);
  summed.operations[1].kind = OperationKind::ReduceSum;
  summed.steps[1].operation = 1;
  EXPECT_EQ(named(summed), (std::vector{kRows, kBricks, kRows, kRows})) << "REDUCE_SUM wants NHWC";
  Schedule element_wise = two_convolutions(DataType::Int8, 16);
  element_wise.operations.push_back(element_wise.operations[0]);
  element_wise.operations[1].kind = OperationKind::Add;
  element_wise.steps[1].operation = 1;
  element_wise.steps[1].ifm.extent.depth = 8;
  EXPECT_EQ(named(element_wise), (std::vector{kRows, kBricks, kRows, kRows}))
      << "it would work on whole bricks";
}

// Rows of 257 elements begin anywhere; of one pixel nothing steps to the next, but the step of bricks is one of whole bricks.
TEST(SingleBricks, OfOnePixelStepByWholeBricks) {
  Schedule schedule = two_convolutions(DataType::Int16, 256);
  for (Step& each : schedule.steps)
    for (FeatureMap* map : {&each.ifm, &each.ofm}) {
      map->extent = {1, 1, 256};
      map->stride_x = map->stride_y = 2 * 257;
    }
  name_single_bricks(schedule);
  for (const FeatureMap& map : {schedule.steps[0].ofm, schedule.steps[1].ifm}) {
    EXPECT_EQ(map.layout, Layout::Nhcwb16);
    EXPECT_EQ(map.stride_y, 528);
  }
}

}  // namespace
}  // namespace intarsia::targets::ethos_u
