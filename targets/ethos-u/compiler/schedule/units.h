// Units of work: operations, or slices of their output channels, with the blocks that suit them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/block_ways.h"
#include "schedule/cascade.h"
#include "schedule/constant_streams.h"
#include "schedule/cost.h"
#include "schedule/feature_map.h"
#include "schedule/schedule.h"
#include "schedule/weight_copies.h"
#include "weights/encoded_streams.h"

namespace intarsia::targets::ethos_u {

struct Unit {
  int32_t operation = -1;      // of the program
  int32_t view = -1;           // of the schedule: the operation as it is walked over
  int32_t first = 0, end = 0;  // output channels
  RowRange rows;               // of the output, along its stripe_axis
  int32_t owner = -1;          // an earlier unit with the same constants: another stripe
  FeatureMap ifm, ofm;
  Pads pads;
  std::optional<FeatureMap> ifm2;
  BlockConfig direct_block, fetched_block;  // for constants where they are, and in fast memory
  OperationCost direct, fetched;
  double full_cycles = 0;       // of the block for fetched constants, by Arm's estimate
  int64_t estimated_bytes = 0;  // of weights and scales
  int64_t scale_bytes = 0;      // of these
  double header_cycles = 0;     // to decode what the stream of weights holds beside weights
  // Its weights are those of other operations too (WeightCopies): what is fetched for it alone is these, or its scales where
  // they are kept.
  int32_t repeated = -1;      // the group; -1: none
  bool weights_kept = false;  // in fast memory from the first operation of the group to its last
  int64_t fetched_bytes() const {
    if (repeated < 0) return estimated_bytes;
    return weights_kept ? scale_bytes : estimated_bytes - scale_bytes;
  }
};

// A way to cut a unit into blocks.
struct BlockOption {
  BlockConfig block;
  OperationCost cost;
  double padding = 1;  // that of BlockWays::Way
  double score() const { return cost.alone() * padding; }
};

// Whether it makes a part of the rows, or of a single one the columns, of `operation`, which is its view.
bool is_stripe(const Operation& operation, const Unit& unit);

// Whether both take the weights in the same order.
bool is_ordered_alike(const BlockConfig& one, const BlockConfig& other);

class UnitMaker {
 public:
  // `operations` are the program's; other views of them are put behind these.
  UnitMaker(const Hardware& hardware, const Program& program, std::vector<Operation>& operations,
            const CostModel& cost, KnownBlockWays& known, EncodedStreams& encoded,
            const std::vector<TensorPlace>& places, const std::vector<Memory>& memories);

  // Output channels first .. end-1 of an operation, walked over as suits it best behind an operation that
  // goes through rows, or columns, first.
  Unit make(int32_t operation, int32_t first, int32_t end, bool after_columns = false);
  // The same in the view of `whole`.
  Unit make_part(const Unit& whole, int32_t first, int32_t end);
  // All channels of some output rows, with the block of `like`, if any.
  Unit make_stripe(int32_t operation, const RowRange& rows, const Unit* like);
  // Its blocks and costs again, after maps have moved to another memory. A stripe keeps its blocks.
  void reconsider(Unit& unit);
  // Every way to cut it into blocks, with constants in that memory.
  std::vector<BlockOption> block_options(const Unit& unit, Memory constants) const;
  // Its costs again, after the size of its constants has become known.
  void count_again(Unit& unit) const;
  // The unit with this block wherever its constants are.
  void set_block(Unit& unit, const BlockConfig& block) const;
  // From now on units are of operations whose weights are apart like that.
  void take(WeightCopies copies);
  const WeightCopies& copies() const { return copies_; }
  // Whether it goes through columns first.
  bool by_columns(const Unit& unit) const;

 private:
  Memory memory_of(const FeatureMap& map) const {
    return memories_.at(static_cast<size_t>(map.span.storage));
  }
  FeatureMap map_of(const Operand& operand) const;
  Unit describe(int32_t index, int32_t view, int32_t first, int32_t end, const RowRange& rows);
  const std::vector<int32_t>& views_of(int32_t operation);
  bool can_walk(const Operation& operation) const;
  void choose_blocks(const Operation& operation, Unit& unit);
  OperationCost cost_of(const Operation& operation, const Unit& unit, const BlockConfig& block,
                        Memory constants) const;
  CostModel::Places places_of(const Operation& operation, const Unit& unit, Memory constants) const;

  const Hardware& hardware_;
  const Program& program_;
  std::vector<Operation>& operations_;
  std::vector<std::optional<std::vector<int32_t>>> views_;  // by operation
  const CostModel& cost_;
  KnownBlockWays& known_;
  EncodedStreams& encoded_;
  const std::vector<TensorPlace>& places_;
  const std::vector<Memory>& memories_;  // by storage
  std::vector<int64_t> weight_bytes_;    // estimated, by operation
  WeightCopies copies_;
  // By group: the first block that was chosen. One order of weights serves all.
  std::vector<std::optional<BlockConfig>> block_of_group_;
};

}  // namespace intarsia::targets::ethos_u
