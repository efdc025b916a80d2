// DWT->CYCCNT: the counter of cycles that cores from Armv7-M and Armv8-M Mainline on have. It stands still while the
// core is stopped, so that what a debugger does between two looks at it takes no time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "debug_probe/client.h"

namespace intarsia::debug_probe {

class CycleCounter {
 public:
  // `clock_mhz`: of the core, 0 where it is not known; it decides for how long the 32 bits of the counter last.
  explicit CycleCounter(int64_t clock_mhz) : clock_mhz_(clock_mhz) {}

  // Turns it on, where there is one.
  Result<void> prepare(Client& client);
  bool is_usable() const { return note_.empty(); }
  Result<void> begin(Client& client);
  Result<void> end(Client& client);

  // One of each interval; empty when the counter is of no use.
  const std::vector<uint64_t>& cycles() const { return cycles_; }
  // Why there are none; empty when there are.
  const std::string& note() const { return note_; }

 private:
  void give_up(std::string why);

  int64_t clock_mhz_;
  std::chrono::steady_clock::time_point began_;
  std::vector<uint64_t> cycles_;
  std::string note_;
};

}  // namespace intarsia::debug_probe
