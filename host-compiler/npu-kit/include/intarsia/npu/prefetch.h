// Which constants are copied into fast memory before they are used, and how early: so that the transfers run beside the
// operations before, within a budget of bytes, and as late as nothing waits for them. Greedy: nothing, everything, and
// from the better of the two one change at a time as long as the timeline says that it helps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "intarsia/npu/timeline.h"

namespace intarsia::npu {

// One operation, or slice or stripe of one, in the order of execution. Numbers of units are places in that order.
struct PrefetchUnit {
  OperationCost direct;   // constants read where they are
  OperationCost fetched;  // from fast memory
  TransferCost transfer;
  bool waits = false;      // for the end of the unit before it (Timeline::operation)
  int64_t bytes = 0;       // of constants; 0: none
  int64_t live_bytes = 0;  // of the fast memory that feature maps take while it runs
  int32_t owner = -1;      // an earlier unit whose constants serve this one too
  int32_t last_user = -1;  // the last unit that these constants serve; -1: itself
  bool has_table =
      false;  // a look-up table must be loaded before, into a memory that the budget leaves out
  TransferCost table;
  int32_t table_earliest = 0;  // before which unit the table may be loaded at the earliest
  int32_t operation = 0;       // that the unit is of; rising

  bool operator==(const PrefetchUnit&) const = default;
};

// From the least to the one in front of `end`.
struct BudgetRange {
  int64_t least = 0, end = std::numeric_limits<int64_t>::max();

  bool holds(int64_t budget) const { return least <= budget && budget < end; }
  // There was no room for so many bytes.
  void refuse(int64_t bytes) { end = std::min(end, bytes); }
};

// What is fetched when.
struct PrefetchPlan {
  std::vector<bool> fetched;      // per unit
  std::vector<int32_t> position;  // before which unit the transfer is issued; -1: none
  // While which unit it may begin to write: commands are issued ahead of operations, as far as their queue is deep.
  std::vector<int32_t> reserved_from;
  std::vector<int32_t> table_position;  // the same of tables
  double cycles = 0;
  int64_t peak_bytes = 0;  // of live_bytes and what is fetched
  BudgetRange
      budgets;  // from its own, with which the same is found: nothing had no room that has it with these
};

// When transfers are begun, as late as nothing waits for them: as if the port that they keep busiest were theirs, or with what operations
// move over it meanwhile. The latter is the truth, and takes room earlier, of which there may be none then for others.
enum class PortUse : uint8_t { OfTransfers, OfAll };

// The units that have constants of their own.
std::vector<bool> all_constants(const std::vector<PrefetchUnit>& units);

// Uses at most `budget` bytes where it adds anything to what is live. The work grows with the square of the units.
PrefetchPlan plan_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                           int64_t budget, PortUse use = PortUse::OfTransfers);

namespace prefetch {
struct Measured;
}

// From the best of several starts, each of which says of every unit whether its constants are fetched: plan_prefetch that changes
// nothing but the units from `first` to `end`. What was measured for it serves plans of units that are mostly the same.
class KnownPrefetch {
 public:
  KnownPrefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                const std::vector<std::vector<bool>>& starts, size_t first, size_t end,
                int64_t budget);
  KnownPrefetch(KnownPrefetch&&) noexcept;
  ~KnownPrefetch();

  const PrefetchPlan& plan() const { return plan_; }

  // Of other units, which from `first` to `end` stand where those from `first` to `known_end` stood. Nobody uses constants of either
  // but themselves.
  struct OtherUnits {
    size_t first = 0, end = 0, known_end = 0;
  };
  PrefetchPlan with_others(const std::vector<PrefetchUnit>& units, const OtherUnits& others,
                           const std::vector<std::vector<bool>>& starts, size_t first,
                           size_t end) const;

 private:
  QueueDepths queues_;
  int64_t budget_;
  PrefetchPlan plan_;
  std::unique_ptr<prefetch::Measured> measured_;
};

// The plan that fetches the constants of the units that `fetched` names, as far as there is room.
PrefetchPlan place_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                            std::vector<bool> fetched, int64_t budget,
                            PortUse use = PortUse::OfTransfers);

}  // namespace intarsia::npu
