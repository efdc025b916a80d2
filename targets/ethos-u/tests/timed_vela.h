// Streams of Arm's compiler with the simulator's clock.
#pragma once

#include "timed_run.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {

inline TimedRun run_timed(const VelaOperator& op, const std::string& memory_mode,
                          simulators::ethos_u::Observer* watcher = nullptr) {
  std::vector<TimedRegion> regions = {{op.constants},
                                      {std::vector<uint8_t>(op.arena_bytes)},
                                      {std::vector<uint8_t>(op.cache_bytes)}};
  if (op.cache_is_arena) regions[2] = {{}, 1};
  return run_timed(op.payload, std::move(regions), memory_mode, watcher);
}

}  // namespace intarsia::test::ethos_u
