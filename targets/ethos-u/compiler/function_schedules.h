// Schedules of functions for a device, each made once: what a function costs and what it is lowered to follow from the same
// schedule, and compiling asks for both.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/result.h"
#include "intarsia/target.h"
#include "program/program.h"
#include "schedule/block_ways.h"
#include "schedule/schedule.h"
#include "weights/encoded_streams.h"

namespace intarsia::targets::ethos_u {

struct Scheduled {
  Program program;
  Schedule schedule;
};

// May be used by several threads at a time.
class FunctionSchedules {
 public:
  // Fails where the device cannot run the function within its SRAM.
  Result<std::shared_ptr<const Scheduled>> of(const Target& device, const graph::Module& module,
                                              const graph::Function& function,
                                              const LoweringOptions& options);

  // What a user may want to know of the last schedule of the function that was made, if anything.
  std::optional<std::string> note_on(const Target& device, const graph::Module& module,
                                     const graph::Function& function);

 private:
  // Those that were made last are kept: of constants no more than this, but one schedule in any case.
  static constexpr int64_t kMostBytes = int64_t{128} << 20;
  static constexpr size_t kMostKnown = 256;

  // Everything that a schedule follows from, and the schedule.
  struct Known {
    Target device;
    graph::Function function;
    std::vector<graph::Constant> constants;  // of the module: references to their bytes
    bool for_size = false, for_speed = false;
    int64_t cache_bytes = 0;
    std::optional<int64_t> preferred_limit;
    std::shared_ptr<const Scheduled> made;
    int64_t bytes = 0;

    bool asks_the_same(const Known& other) const {
      return function == other.function && for_size == other.for_size &&
             for_speed == other.for_speed && cache_bytes == other.cache_bytes &&
             preferred_limit == other.preferred_limit && device == other.device &&
             constants == other.constants;
    }
  };

  const std::shared_ptr<EncodedStreams> encoded_ = std::make_shared<EncodedStreams>();
  const std::shared_ptr<KnownBlockWays> block_ways_ = std::make_shared<KnownBlockWays>();
  std::mutex mutex_;
  std::deque<Known> known_;
  int64_t bytes_ = 0;
};

}  // namespace intarsia::targets::ethos_u
