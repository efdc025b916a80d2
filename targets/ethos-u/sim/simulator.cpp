#include "intarsia/targets/ethos_u/simulator.h"

#include <cstdio>
#include <deque>

#include "intarsia/targets/ethos_u/device.h"
#include "intarsia/targets/ethos_u/watch.h"

namespace {

namespace sim = intarsia::simulators::ethos_u;

std::string_view text(const char* value) {
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

intarsia_register_bus intarsia_ethos_u_simulator(const char* configuration) {
  return intarsia_ethos_u_simulator_in(configuration, nullptr, nullptr);
}

intarsia_register_bus intarsia_ethos_u_simulator_in(const char* configuration, const char* system,
                                                    const char* memory_mode) {
  // They live until the program ends, when the recorder writes what it has.
  static sim::Recorder recorder;
  static std::deque<sim::Device> devices;  // never moves its elements
  const sim::Configuration* found = sim::find_configuration(text(configuration));
  const auto* timing = intarsia::isa::ethos_u::find_npu_timing(text(configuration));
  if (found == nullptr || timing == nullptr) return {nullptr, nullptr, nullptr};
  const std::string_view usual_mode = timing->is_u65 ? "dedicated-sram" : "shared-sram";
  const auto memories = intarsia::isa::ethos_u::memory_system(
      *timing, text(system), text(memory_mode).empty() ? usual_mode : text(memory_mode));
  if (!memories) return {nullptr, nullptr, nullptr};

  sim::Device& device = devices.emplace_back(*found);
  const auto behind = [&](int port) { return static_cast<uint8_t>(1 << port); };
  sim::Reach reach;
  reach.stream = behind(memories->constants);
  for (size_t i = 0; i < reach.regions.size(); ++i)
    reach.regions[i] = behind(memories->port_of_region(static_cast<int64_t>(i)));
  device.set_reach(reach);
  device.set_fault_handler([found](const sim::Fault& fault) {
    std::fprintf(stderr, "%.*s simulator: %s\n", static_cast<int>(found->tag.size()),
                 found->tag.data(), fault.to_string().c_str());
  });
  device.set_cycle_model(
      [memories = *memories, number = recorder.add_device()](
          const sim::Configuration& configuration, std::span<const uint8_t> stream) {
        return std::make_unique<sim::Watch>(configuration, memories, stream, recorder, number);
      });
  return device.bus();
}
