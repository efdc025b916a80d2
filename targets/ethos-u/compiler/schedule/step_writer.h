// From the draft's units and the plan of their constants to the steps of the schedule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "intarsia/npu/prefetch.h"
#include "schedule/constant_planner.h"
#include "schedule/schedule_draft.h"

namespace intarsia::targets::ethos_u {

class StepWriter {
 public:
  StepWriter(ScheduleDraft& draft, ConstantPlanner& constants, const npu::PrefetchPlan& plan);

  void write();
  // Takes back what `write` has added to the draft; the writer has done its work then.
  void retract();

 private:
  void make_buffers();
  void list_transfers();
  size_t owner_of(size_t unit) const;
  int32_t constant_storage(size_t unit);
  // Where those bytes lie, for whichever operations read them.
  int32_t stored_once(size_t unit, std::vector<uint8_t> bytes);
  // Of weights that several operations have and take in one order.
  int32_t weight_storage(int32_t group, const std::vector<uint8_t>& bytes);
  void keep_weights();
  void write_copy(const ConstantPlanner::Kept& copy);
  void write_table(size_t unit);
  void write_transfer(size_t unit);
  void write_unit(size_t unit);
  // Weights and scales lie apart where other operations have one of them, too, and both are read from where they are stored.
  void take_constants(size_t unit, bool fetched, Step& step);

  ScheduleDraft& draft_;
  ConstantPlanner& planner_;
  const npu::PrefetchPlan& plan_;
  std::vector<Span> table_places_;       // of tables that have been loaded; storage -1: not yet
  size_t storages_before_ = 0;           // that are there without steps
  std::map<size_t, int32_t> constants_;  // storages, by the unit that owns them
  std::map<std::string, int32_t> once_;  // storages, by what is in them
  std::map<size_t, int32_t> buffers_;    // of fetched constants, by unit
  std::vector<ConstantPlanner::Kept> kept_;
  std::map<int32_t, int32_t> weights_,
      copies_;  // by group: where weights lie, and their copy in fast memory
  // By unit: those whose tables or constants are issued in front of it, and those into whose buffers may be written while it runs.
  std::vector<std::vector<size_t>> issued_, reserved_;
};

}  // namespace intarsia::targets::ethos_u
