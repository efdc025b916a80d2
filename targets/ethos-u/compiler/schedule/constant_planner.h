// Decides which constants are fetched into fast memory, how early, and in slices of which size.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "intarsia/npu/prefetch_windows.h"
#include "schedule/constant_streams.h"
#include "schedule/schedule_draft.h"
#include "schedule/table_slots.h"

namespace intarsia::targets::ethos_u {

class ConstantPlanner {
 public:
  explicit ConstantPlanner(ScheduleDraft& draft);

  // The best plan for the draft's units, some of which it cuts into slices. `fetch_limit`: with a limit on
  // SRAM, the bytes that maps and what is fetched may take at any time.
  npu::PrefetchPlan choose(int64_t fetch_limit);

  // Encoded constants of a unit for that block.
  const ConstantStream& stream(const Unit& unit, const BlockConfig& block);
  // Where the units' look-up tables lie.
  const std::vector<TableSlots::Slot>& slots() const { return slots_; }

  struct Choice {
    std::vector<Unit> units;
    std::vector<TableSlots::Slot> slots;
  };
  Choice save() const { return {draft_.units, slots_}; }
  void restore(const Choice& choice) {
    draft_.units = choice.units;
    slots_ = choice.slots;
  }

 private:
  void plan_tables();
  void find_owners();
  std::vector<npu::PrefetchUnit> prefetch_units(bool exact);
  bool can_slice(const Unit& unit) const;
  std::vector<Unit> slices(const Unit& unit, int32_t count);
  double slice_bytes(const std::vector<Unit>& units) const;
  bool try_units(std::vector<Unit> units, int64_t budget, npu::PrefetchPlan& plan);
  std::vector<Unit> resliced(const std::vector<Unit>& whole, size_t operation, int32_t count);
  void chain_blocks(int64_t budget, const npu::PrefetchPlan& plan);
  npu::PrefetchPlan slice_units(int64_t budget, npu::PrefetchPlan plan);

  ScheduleDraft& draft_;
  npu::PrefetchWindows prefetch_;
  std::vector<TableSlots::Slot> slots_;  // by unit
  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t, bool>, ConstantStream> streams_;
  std::map<std::tuple<int32_t, int32_t, int32_t>, Unit> parts_;  // slices, by view and channels
  int64_t most_budget_ = 0;
};

}  // namespace intarsia::targets::ethos_u
