// The simulated devices of a program.
#pragma once

#include <deque>
#include <optional>
#include <string_view>

#include "intarsia/contract/register_bus.h"
#include "intarsia/targets/ethos_u/device.h"
#include "intarsia/targets/ethos_u/watch.h"

namespace intarsia::simulators::ethos_u {

class Simulation {
 public:
  explicit Simulation(Recording recording)
      : faults_(recording.faults), recorder_(std::move(recording)) {}

  // As simulator.h says; nothing for what does not exist. The device lives as long as this.
  std::optional<intarsia_register_bus> add_device(std::string_view configuration,
                                                  std::string_view system,
                                                  std::string_view memory_mode);
  const Recorder& recorder() const { return recorder_; }

 private:
  InjectedFaults faults_;
  Recorder recorder_;
  std::deque<Device> devices_;  // never moves its elements
};

}  // namespace intarsia::simulators::ethos_u
