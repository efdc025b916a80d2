#include "intarsia/targets/ethos_n/simulator.h"

#include <cstdio>
#include <deque>

#include "intarsia/targets/ethos_n/device.h"

intarsia_register_bus intarsia_ethos_n_simulator(const char* tag) {
  namespace sim = intarsia::simulators::ethos_n;
  static std::deque<sim::Device> devices;  // never moves its elements
  sim::Device& device = devices.emplace_back(sim::find_variant(tag == nullptr ? "" : tag));
  device.set_fault_handler([](const sim::Fault& fault) {
    std::fprintf(stderr, "simulated Ethos-N: %s\n", fault.to_string().c_str());
  });
  return device.bus();
}
