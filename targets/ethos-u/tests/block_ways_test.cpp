// Ways to cut operations of one shape, which are made once, against the cost of each asked for by itself.
#include "schedule/block_ways.h"

#include <gtest/gtest.h>

#include "hardware/hardware.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "schedule/table_slots.h"

namespace intarsia::targets::ethos_u {
namespace {

FeatureMap map_of(const Extent& extent, Layout layout, DataType type) {
  FeatureMap map;
  map.extent = extent;
  map.layout = layout;
  map.type = type;
  map.stride_x = extent.depth * element_bytes(type);
  return map;
}

struct Case {
  Operation operation;
  FeatureMap ifm, ofm;
  CostModel::Places places;
  CostModel::Maps maps() const { return {ifm, ofm}; }
};

Case convolution(int32_t width, int32_t channels, Layout layout, Memory weights) {
  Case made;
  made.operation.kind = OperationKind::Conv;
  made.operation.kernel = {3, 3, 1, 1, 1, 1};
  made.operation.ifm.extent = {18, width + 2, channels};
  made.operation.ofm.extent = {16, width, 40};
  made.ifm = map_of(made.operation.ifm.extent, layout, DataType::Int8);
  made.ofm = map_of(made.operation.ofm.extent, Layout::Nhwc, DataType::Int8);
  made.places.weights = weights;
  return made;
}

class BlockWaysOf : public testing::TestWithParam<const char*> {
 protected:
  const Hardware& hardware_ = hardware_named(GetParam());
  const CostModel model_{
      hardware_,
      *isa::ethos_u::memory_system(*isa::ethos_u::find_npu_timing(GetParam()), "", "shared-sram")};
};

TEST_P(BlockWaysOf, CostWhatEachCosts) {
  KnownBlockWays known;
  for (const Layout layout : {Layout::Nhwc, Layout::Nhcwb16})
    for (const Memory weights : {Memory::Constants, Memory::Cache})
      for (const int32_t channels : {3, 32, 48}) {
        const Case of = convolution(20, channels, layout, weights);
        const auto ways = known.of(hardware_, model_, of.operation, of.maps(), of.places);
        ASSERT_GT(ways->ways.size(), 5u);
        for (const ConstantSizes& sizes :
             {ConstantSizes{5000, 400, 33}, ConstantSizes{64, 400, 1000}})
          for (const BlockWays::Way& way : ways->ways)
            EXPECT_EQ(ways->cost(model_, way, sizes),
                      model_.cost(of.operation, of.maps(), way.block, of.places, sizes));
      }
}

// Scales that lie elsewhere than weights keep that port busy.
TEST_P(BlockWaysOf, ScalesMayLieApart) {
  KnownBlockWays known;
  Case apart = convolution(20, 32, Layout::Nhwc, Memory::Cache);
  const auto together = known.of(hardware_, model_, apart.operation, apart.maps(), apart.places);
  apart.places.scales = Memory::Constants;
  const auto ways = known.of(hardware_, model_, apart.operation, apart.maps(), apart.places);
  EXPECT_NE(ways, together);
  const ConstantSizes sizes = {5000, 400, 33};
  const size_t flash = model_.port(Memory::Constants);
  for (const BlockWays::Way& way : ways->ways) {
    const OperationCost cost = ways->cost(model_, way, sizes);
    EXPECT_EQ(cost, model_.cost(apart.operation, apart.maps(), way.block, apart.places, sizes));
    EXPECT_EQ(cost.ports[flash], 400 / model_.memory(Memory::Constants).bytes_per_cycle);
  }
}

TEST_P(BlockWaysOf, AreKnownByWhatTheyFollowFrom) {
  KnownBlockWays known;
  const auto ways = [&](const Case& of) {
    return known.of(hardware_, model_, of.operation, of.maps(), of.places);
  };
  const Case first = convolution(20, 32, Layout::Nhwc, Memory::Constants);
  const auto of_first = ways(first);
  EXPECT_EQ(ways(first), of_first);
  Case same = first;
  same.operation.node = "another";
  same.operation.weights = Weights(10, 1);
  EXPECT_EQ(ways(same), of_first);
  EXPECT_NE(ways(convolution(22, 32, Layout::Nhwc, Memory::Constants)), of_first);
  EXPECT_NE(ways(convolution(20, 48, Layout::Nhwc, Memory::Constants)), of_first);
  EXPECT_NE(ways(convolution(20, 32, Layout::Nhcwb16, Memory::Constants)), of_first);
  EXPECT_NE(ways(convolution(20, 32, Layout::Nhwc, Memory::Cache)), of_first);
  Case other = first;
  other.operation.kernel.stride_x = 2;
  EXPECT_NE(ways(other), of_first);
  other = first;
  other.operation.clamp_low = 0;
  EXPECT_NE(ways(other), of_first);
  other = first;
  other.operation.activation = Activation::Lut;
  EXPECT_NE(ways(other), of_first);
}

// All of them take the MAC array as long, and what they are cut into is hidden: the smaller the last block, the earlier an operation
// ends. Arm's estimate counts every block as a full one.
TEST(BlockWaysThatTakeAsLong, AreThoseOfFullBlocks) {
  const Hardware& hardware = hardware_named("ethos-u55-128");
  const CostModel model(
      hardware, *isa::ethos_u::memory_system(*isa::ethos_u::find_npu_timing("ethos-u55-128"), "",
                                             "shared-sram"));
  Case of = convolution(16, 32, Layout::Nhwc, Memory::Cache);
  of.operation.ifm.extent = of.ifm.extent = {16, 16, 32};
  of.operation.ofm.extent = of.ofm.extent = {16, 16, 16};
  of.ofm.stride_x = 16;
  KnownBlockWays known;
  const auto ways = known.of(hardware, model, of.operation, of.maps(), of.places);
  const ConstantSizes sizes{4464, 160, 33};
  const BlockWays::Way* best = nullptr;
  double least = 0, least_full = 0;
  for (const BlockWays::Way& way : ways->ways) {
    const double score = ways->cost(model, way, sizes).alone() * way.padding;
    if (best == nullptr || way.full < least_full) least_full = way.full;
    if (best != nullptr && score >= least) continue;
    best = &way;
    least = score;
  }
  ASSERT_NE(best, nullptr);
  EXPECT_LT(best->full, 1.05 * least_full)
      << "blocks of " << best->block.ofm.height << "x" << best->block.ofm.width;
  EXPECT_EQ(of.ofm.extent.height % best->block.ofm.height, 0);
  EXPECT_EQ(of.ofm.extent.width % best->block.ofm.width, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, BlockWaysOf,
                         testing::Values("ethos-u55-32", "ethos-u55-128", "ethos-u65-512"));

// Tables of 256 bytes in eight places: the ninth takes the place of the one that was used longest ago.
TEST(TableSlotsOfLuts, TakeThePlaceThatWasUsedLongestAgo) {
  TableSlots slots(hardware_named("ethos-u55-128"));
  for (int32_t table = 0; table < 8; ++table) {
    const TableSlots::Slot slot = slots.use(table, 256, table);
    EXPECT_EQ(slot.number, table);
    EXPECT_TRUE(slot.load);
    EXPECT_EQ(slot.earliest, 0);
  }
  EXPECT_FALSE(slots.use(0, 256, 8).load);
  const TableSlots::Slot ninth = slots.use(8, 256, 9);
  EXPECT_EQ(ninth.number, 1);
  EXPECT_EQ(ninth.earliest, 2);  // behind table 1's use
  // A table of eight places waits for all of them, and then none of the others is there.
  const TableSlots::Slot large = slots.use(9, 2048, 10);
  EXPECT_TRUE(large.load);
  EXPECT_EQ(large.number, 0);
  EXPECT_EQ(large.earliest, 10);
  EXPECT_TRUE(slots.use(8, 256, 11).load);
}

// Three of the next ones come with the first, and stay until they are used; what has been there before comes alone.
TEST(TableSlotsOfLuts, BringTheNextTablesAlong) {
  TableSlots slots(hardware_named("ethos-u65-256"));
  std::vector<TableSlots::Use> uses;
  for (int32_t table = 0; table < 10; ++table) uses.push_back({table, 256, 2 * table});
  uses.push_back({10, 1024, 20});
  uses.push_back({0, 256, 22});
  uses.push_back({11, 256, 24});
  const auto use = [&](size_t i) { return slots.use(std::span(uses).subspan(i), 4); };
  const TableSlots::Slot first = use(0);
  EXPECT_EQ(first.more, (std::vector<int32_t>{1, 2, 3}));
  for (size_t i = 1; i < 4; ++i) {
    const TableSlots::Slot slot = use(i);
    EXPECT_FALSE(slot.load);
    EXPECT_EQ(slot.number, first.number + static_cast<int32_t>(i));
  }
  // The other half of the places, as early as one likes.
  const TableSlots::Slot fifth = use(4);
  EXPECT_EQ(fifth.more, (std::vector<int32_t>{5, 6, 7}));
  EXPECT_EQ(fifth.earliest, 0);
  EXPECT_NE(fifth.number, first.number);
  for (size_t i = 5; i < 8; ++i) EXPECT_FALSE(use(i).load);
  // A larger one ends what comes together.
  const TableSlots::Slot ninth = use(8);
  EXPECT_EQ(ninth.more, std::vector<int32_t>{9});
  EXPECT_FALSE(use(9).load);
  EXPECT_TRUE(use(10).load);
  const TableSlots::Slot again = use(11);
  EXPECT_TRUE(again.load);
  EXPECT_TRUE(again.more.empty());
  EXPECT_TRUE(use(12).load);
}

}  // namespace
}  // namespace intarsia::targets::ethos_u
