// From the NPU program to its schedule.
#pragma once

#include <memory>
#include <optional>

#include "hardware/hardware.h"
#include "intarsia/diagnostics.h"
#include "intarsia/plugin/progress.h"
#include "schedule/block_ways.h"
#include "schedule/cost.h"
#include "schedule/schedule.h"
#include "weights/encoded_streams.h"

namespace intarsia::targets::ethos_u {

struct ScheduleOptions {
  isa::ethos_u::MemorySystem memory;
  bool for_size = false;
  bool for_speed = false;  // copies that stay may take more memory than they save time
  std::optional<int64_t> sram_limit;
  bool only_cycles = false;  // nothing is lowered from it: weights have the size that is estimated
  ProgressListener on_progress = {};
  std::shared_ptr<EncodedStreams> encoded = std::make_shared<EncodedStreams>();
  std::shared_ptr<KnownBlockWays> block_ways = std::make_shared<KnownBlockWays>();
};

// Fails where feature maps cannot be kept within the limit: with the least that they take, and where.
Result<Schedule> make_schedule(const Hardware& hardware, const Program& program,
                               const ScheduleOptions& options);

}  // namespace intarsia::targets::ethos_u
