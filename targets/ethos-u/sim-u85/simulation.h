// The simulated Ethos-U85s of a program: devices that run driver payloads themselves, without registers or a driver.
#pragma once

#include <deque>
#include <string_view>

#include "intarsia/contract/device.h"
#include "intarsia/targets/ethos_u/watch.h"
#include "intarsia/targets/ethos_u85/isa.h"

namespace intarsia::simulators::ethos_u85 {

class Simulation {
 public:
  // Of the recording neither trace nor profile are made: there is no model of time.
  explicit Simulation(ethos_u::Recording recording) : recorder_(std::move(recording)) {}

  // Null for what does not exist; lives as long as this. What a run fails with is said, and every run is checked
  // (checker.h): findings make it fail.
  intarsia_device* add_device(std::string_view tag);

 private:
  struct Npu {
    intarsia_device device;  // first: what is handed out
    const Configuration* configuration;
    ethos_u::Recorder* recorder;
  };
  static intarsia_status run(intarsia_device* device, const intarsia_stream* stream,
                             void* const* bases, uint32_t base_count);

  ethos_u::Recorder recorder_;
  std::deque<Npu> npus_;  // never moves its elements
};

}  // namespace intarsia::simulators::ethos_u85
