// The waits a stream needs, no more: DMA and the operations run side by side, and operations overlap
// by a few blocks.
#pragma once

#include <cstdint>
#include <optional>

#include "commands/stream_operation.h"
#include "intarsia/npu/hazards.h"

namespace intarsia::targets::ethos_u {

struct Waits {
  std::optional<int32_t> dma, kernel;  // at most this many under way
  int32_t blockdep = 0;                // of an operation
};

class WaitTracker {
 public:
  explicit WaitTracker(const Hardware& hardware);
  // For the next command of the stream.
  Waits next(const StreamOperation& operation);

 private:
  const Hardware& hardware_;
  npu::HazardTracker hazards_;
  std::optional<StreamOperation> last_;  // operation, not DMA
};

// Blocks of `before` that may still be under way when `operation` begins: BLOCKDEP.
int32_t block_dependency(const Hardware& hardware, const StreamOperation& before,
                         const StreamOperation& operation);
// Whether none may, in a part of the time: all that schedules ask for.
bool waits_for_last_block(const Hardware& hardware, const StreamOperation& before,
                          const StreamOperation& operation);

}  // namespace intarsia::targets::ethos_u
