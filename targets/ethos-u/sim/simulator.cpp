#include "ethos_u/simulator.h"

#include <cstdio>
#include <deque>

#include "ethos_u/device.h"

namespace {

namespace sim = intarsia::simulators::ethos_u;

}  // namespace

intarsia_register_bus intarsia_ethos_u_simulator(const char* configuration) {
  static std::deque<sim::Device> devices;  // never moves its elements
  const sim::Configuration* found =
      configuration == nullptr ? nullptr : sim::find_configuration(std::string_view(configuration));
  if (found == nullptr) return {nullptr, nullptr, nullptr};
  sim::Device& device = devices.emplace_back(*found);
  device.set_fault_handler([found](const sim::Fault& fault) {
    std::fprintf(stderr, "%.*s simulator: %s\n", static_cast<int>(found->tag.size()),
                 found->tag.data(), fault.to_string().c_str());
  });
  return device.bus();
}
