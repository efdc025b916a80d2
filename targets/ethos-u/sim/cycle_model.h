// What the device's performance monitor asks.
#pragma once

#include <cstdint>

#include "ethos_u/run.h"

namespace intarsia::simulators::ethos_u {

// Watches one run and knows afterwards what the performance monitor would have counted.
class CycleModel : public Observer {
 public:
  virtual uint64_t cycles() const = 0;
  // PMU_EVENT numbers of registers.def; zero for what the model does not know.
  virtual uint64_t events(uint32_t number) const = 0;
};

}  // namespace intarsia::simulators::ethos_u
