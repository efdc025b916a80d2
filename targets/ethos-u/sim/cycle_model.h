// What watches one run for the device: it may find the run wrong, and counts for the performance monitor.
#pragma once

#include <cstdint>
#include <optional>

#include "intarsia/targets/ethos_u/run.h"

namespace intarsia::simulators::ethos_u {

class CycleModel : public Observer {
 public:
  // Takes from the memory behind the base pointers, which have no ends, what the stream is not meant to reach.
  virtual void limit(Memory&) {}
  // After the run. A fault makes the run fail that had none itself.
  virtual std::optional<Fault> finish(const Outcome&) { return std::nullopt; }
  // What the performance monitor would have counted.
  virtual uint64_t cycles() const = 0;
  // PMU_EVENT numbers of registers.def; zero for what the model does not know.
  virtual uint64_t events(uint32_t number) const = 0;
};

}  // namespace intarsia::simulators::ethos_u
