// Units of work: operations, or slices of their output channels, with the blocks that suit them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cascade.h"
#include "constant_streams.h"
#include "cost.h"
#include "feature_map.h"
#include "prefetch.h"
#include "schedule.h"

namespace intarsia::targets::ethos_u {

struct Unit {
  int32_t operation = -1;
  int32_t first = 0, end = 0;  // output channels
  RowRange rows;               // of the output
  int32_t owner = -1;          // an earlier unit with the same constants: another stripe
  FeatureMap ifm, ofm;
  Pads pads;
  std::optional<FeatureMap> ifm2;
  BlockConfig direct_block, fetched_block;  // for constants where they are, and in fast memory
  OperationCost direct, fetched;
  int64_t estimated_bytes = 0;  // of weights and scales
};

class UnitMaker {
 public:
  UnitMaker(const Hardware& hardware, const Program& program, const CostModel& cost,
            const std::vector<TensorPlace>& places, const std::vector<Memory>& memories)
      : hardware_(hardware),
        program_(program),
        cost_(cost),
        places_(places),
        memories_(memories),
        weight_bytes_(program.operations.size(), -1) {}

  // Output channels first .. end-1 of an operation.
  Unit make(int32_t operation, int32_t first, int32_t end);
  // All channels of some output rows, with the block of `like`, if any.
  Unit make_stripe(int32_t operation, const RowRange& rows, const Unit* like);

 private:
  Memory memory_of(const FeatureMap& map) const {
    return memories_.at(static_cast<size_t>(map.span.storage));
  }
  FeatureMap map_of(const Operand& operand) const;
  Unit describe(int32_t index, int32_t first, int32_t end, const RowRange& rows);
  void choose_blocks(const Operation& operation, Unit& unit) const;
  OperationCost cost_of(const Operation& operation, const Unit& unit, const BlockConfig& block,
                        Memory constants) const;

  const Hardware& hardware_;
  const Program& program_;
  const CostModel& cost_;
  const std::vector<TensorPlace>& places_;
  const std::vector<Memory>& memories_;  // by storage
  std::vector<int64_t> weight_bytes_;    // estimated, by operation
};

}  // namespace intarsia::targets::ethos_u
