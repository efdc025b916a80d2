// Decides which constants are fetched into fast memory, how early, and in slices of which size.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "intarsia/npu/constant_plan.h"
#include "schedule/constant_streams.h"
#include "schedule/schedule_draft.h"
#include "schedule/table_slots.h"

namespace intarsia::targets::ethos_u {

class ConstantPlanner : private npu::ConstantDraft {
 public:
  explicit ConstantPlanner(ScheduleDraft& draft);

  // Time and fast memory.
  struct Worth {
    double cycles = 0;
    int64_t bytes = 0;
  };
  // The best plan for the draft's units, some of which it cuts into slices. `fetch_limit`: with a limit on
  // SRAM, the bytes that maps and what is fetched may take at any time.
  npu::PrefetchPlan choose(int64_t fetch_limit);
  // After `choose`, with the slices that it has chosen: what is fetched within that many bytes, of which gaps take some while
  // each unit runs.
  npu::PrefetchPlan within(int64_t budget, const std::vector<int64_t>& gaps);
  // The same for a draft of which there is a plan already, without cascades and with so many slices of each operation: with
  // these, the best of what is as fast, or what takes the most memory.
  npu::PrefetchPlan choose_beside(const Worth& other, const std::vector<int32_t>& slices);
  // After `choose`, where time counts more than memory: a plan that is much faster for having constants in fast memory that
  // operations would read several times, with `gaps` bytes less than these need. None, and nothing has changed, where there is none.
  std::optional<npu::PrefetchPlan> much_faster(const npu::PrefetchPlan& plan, int64_t gaps);
  // With as much of the constants of whole operations as finds room, what the draft takes within that many bytes.
  double cycles_of_whole(int64_t budget) {
    return prefetch_.plan(prefetch_units(false), budget).cycles;
  }
  // Time by what its memory is worth: the less the better.
  static double value(const ScheduleOptions& options, const Worth& worth);
  // Whether a plan is better than another by more than the estimate leaves open: time and fast memory with what each is
  // worth.
  static bool is_better(const ScheduleOptions& options, const Worth& one, const Worth& other);
  // The same where one of them has copies that stay (WeightCopies): more of a memory that nobody else has may go to these.
  static bool is_better_copied(const ScheduleOptions& options, const Worth& one,
                               const Worth& other);
  // Whether it takes no longer than another by more than the estimate leaves open.
  static bool is_as_fast(const Worth& one, const Worth& other);

  // Encoded constants of a unit for that block.
  const ConstantStream& stream(const Unit& unit, const BlockConfig& block);
  // Copies of weights that stay for several units: the first and the last of them, and the unit that may run when the copy begins
  // to be written.
  struct Kept {
    int32_t group = -1;
    size_t first = 0, last = 0, from = 0;
    int64_t bytes = 0;
  };
  std::vector<Kept> kept();
  // Where the units' look-up tables lie.
  const std::vector<TableSlots::Slot>& slots() const { return slots_; }

  struct Choice {
    std::vector<Unit> units;
    std::vector<TableSlots::Slot> slots;
    std::vector<size_t> counts;
    double slices = 0, constant_bytes = 0;
  };
  Choice choice() const { return {draft_.units, slots_, counts_, slices_, constant_bytes_}; }
  void take(const Choice& choice) {
    draft_.units = choice.units;
    slots_ = choice.slots;
    counts_ = choice.counts;
    slices_ = choice.slices;
    constant_bytes_ = choice.constant_bytes;
  }

 private:
  // npu::ConstantDraft: pieces are the units of `whole_`.
  std::vector<npu::PrefetchUnit> prefetch_units() override { return prefetch_units(false); }
  double constants_growth() const override { return growth_with(0); }
  double constants_growth(size_t piece, size_t slices) const override;
  size_t pieces() const override { return whole_.size(); }
  bool can_slice(size_t piece) const override { return can_slice(whole_[piece]); }
  size_t slices(size_t piece) const override { return counts_[piece]; }
  size_t slices_for(size_t piece, int32_t count) override {
    return slices(whole_[piece], count).size();
  }
  npu::SlicedPiece sliced(size_t piece, int32_t count) override;
  void slice(size_t piece, int32_t count) override;
  void slice_all(int32_t count) override;
  std::shared_ptr<const void> save() const override;
  void restore(const std::shared_ptr<const void>& saved) override;

  KnownConstantStreams::key_type stream_key(const Unit& unit, const BlockConfig& block) const;
  // For one of its blocks, where that has been encoded.
  const ConstantStream* known_stream(const Unit& unit) const;
  void plan_tables();
  int32_t tables_together() const;
  std::vector<int64_t> live_bytes(const std::vector<Kept>& kept) const;
  void find_owners();
  std::vector<npu::PrefetchUnit> prefetch_units(bool exact);
  void add_weights(const Unit& unit, bool exact, npu::PrefetchUnit& out);
  bool may_be_much_faster(const npu::PrefetchPlan& plan);
  int64_t bytes_without_repeats(const std::vector<npu::PrefetchUnit>& units) const;
  double growth_with(double more_slices) const;
  size_t first_unit(size_t piece) const;
  bool can_slice(const Unit& unit) const;
  std::vector<Unit> slices(const Unit& unit, int32_t count);
  void take_units(std::vector<Unit> units);
  int64_t counted(int64_t bytes) const;
  double value(double cycles, int64_t bytes) const;
  std::optional<int64_t> modest_bytes(const std::vector<int64_t>& live, int64_t base) const;
  npu::ConstantPlan or_within(int64_t bytes, npu::ConstantPlan best, int64_t base,
                              npu::ConstantSearch search);
  npu::PrefetchPlan plan_of_slices(npu::PrefetchPlan plan, int64_t base);
  void chain_blocks(int64_t budget, const npu::PrefetchPlan& plan);

  ScheduleDraft& draft_;
  npu::PrefetchWindows prefetch_;
  std::vector<Unit> whole_;                 // without slices, since `choose` began
  std::vector<size_t> counts_;              // of slices, by piece
  std::vector<TableSlots::Slot> slots_;     // by unit
  double slices_ = 0, constant_bytes_ = 0;  // of the units: those that are no first ones; estimated
  KnownConstantStreams& streams_;
  std::map<std::tuple<int32_t, int32_t, int32_t>, Unit> parts_;  // slices, by view and channels
  int64_t most_budget_ = 0;
};

}  // namespace intarsia::targets::ethos_u
