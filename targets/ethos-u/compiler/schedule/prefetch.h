// Which constants are copied into fast memory before they are used, and how early.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/hardware.h"
#include "schedule/timeline_estimate.h"

namespace intarsia::targets::ethos_u {

// One operation, or slice of one, in the order of execution.
struct PrefetchUnit {
  OperationCost direct;   // constants read where they are
  OperationCost fetched;  // from fast memory
  TransferCost transfer;
  bool waits = false;      // for the last block of the unit before it
  int64_t bytes = 0;       // of constants; 0: none
  int64_t live_bytes = 0;  // of fast memory that other things take while it runs
  int32_t owner = -1;      // an earlier unit whose constants serve this one too
  int32_t last_user = -1;  // the last unit that these constants serve; -1: itself
  bool has_table = false;  // a look-up table must be loaded before
  TransferCost table;
  int32_t table_earliest = 0;  // before which unit the table may be loaded at the earliest
  int32_t operation = 0;       // that the unit is of

  bool operator==(const PrefetchUnit&) const = default;
};

struct PrefetchPlan {
  std::vector<bool> fetched;      // per unit
  std::vector<int32_t> position;  // before which unit the transfer is issued; -1: none
  // While which unit it may begin to write: commands are issued up to two operations ahead.
  std::vector<int32_t> reserved_from;
  std::vector<int32_t> table_position;
  double cycles = 0;
  int64_t peak_bytes = 0;
};

// The units that have constants of their own.
std::vector<bool> all_constants(const std::vector<PrefetchUnit>& units);

// Uses at most `budget` bytes where it adds anything to what is live. The work grows with the square of the units.
PrefetchPlan plan_prefetch(const Hardware& hardware, const std::vector<PrefetchUnit>& units,
                           int64_t budget);

// The plan that fetches the constants of the units that `fetched` names, as far as there is room.
PrefetchPlan place_prefetch(const Hardware& hardware, const std::vector<PrefetchUnit>& units,
                            std::vector<bool> fetched, int64_t budget);

}  // namespace intarsia::targets::ethos_u
