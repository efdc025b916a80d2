#include "intarsia/targets/example_npu/simulator.h"

#include <deque>

#include "intarsia/targets/example_npu/device.h"

intarsia_register_bus intarsia_example_npu_simulator(void) {
  static std::deque<intarsia::simulators::example_npu::Device> devices;  // never moves its elements
  return devices.emplace_back().bus();
}
