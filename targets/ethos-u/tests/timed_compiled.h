// Streams of our own compiler with the simulator's clock.
#pragma once

#include "intarsia/compile.h"
#include "timed_run.h"

namespace intarsia::test::ethos_u {

inline TimedRun run_timed(const CompiledModel& model, const CommandStream& stream,
                          const std::string& memory_mode,
                          simulators::ethos_u::Observer* watcher = nullptr,
                          const std::string& system = "") {
  std::vector<TimedRegion> regions;
  for (const StreamRegion& region : stream.regions) {
    TimedRegion& made = regions.emplace_back();
    if (region.kind == StreamRegion::Kind::Constants) {
      made.bytes = stream.constants;
      continue;
    }
    const int64_t peak = model.program().plan.use.at(static_cast<size_t>(region.pool)).peak;
    made.bytes.resize(static_cast<size_t>(std::max<int64_t>(0, peak + 16 - region.offset)));
  }
  return run_timed(stream.commands, std::move(regions), memory_mode, watcher, system);
}

}  // namespace intarsia::test::ethos_u
