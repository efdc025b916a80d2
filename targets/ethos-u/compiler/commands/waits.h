// The waits a stream needs, no more: DMA and the operations run side by side, and operations overlap
// by a few blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "commands/stream_operation.h"

namespace intarsia::targets::ethos_u {

struct Waits {
  std::optional<int32_t> dma, kernel;  // at most so many under way
  int32_t blockdep = 0;                // of an operation
};

class WaitTracker {
 public:
  explicit WaitTracker(const Hardware& hardware) : hardware_(hardware) {}
  // For the next command of the stream.
  Waits next(const StreamOperation& operation);

 private:
  struct Queue {
    std::vector<StreamOperation> under_way;  // oldest first
    void push(const StreamOperation& operation, int32_t most);
    // Waits for everything that must not run at the same time as `operation`.
    std::optional<int32_t> wait_for(const StreamOperation& operation);
  };

  const Hardware& hardware_;
  Queue dma_, kernels_;
  std::optional<StreamOperation> last_;  // operation, not DMA
};

// Blocks of `before` that may still be under way when `operation` begins: BLOCKDEP.
int32_t block_dependency(const Hardware& hardware, const StreamOperation& before,
                         const StreamOperation& operation);

}  // namespace intarsia::targets::ethos_u
