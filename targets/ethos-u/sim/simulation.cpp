#include "intarsia/targets/ethos_u/simulation.h"

namespace intarsia::simulators::ethos_u {

std::optional<intarsia_register_bus> Simulation::add_device(std::string_view configuration,
                                                            std::string_view system,
                                                            std::string_view memory_mode) {
  const Configuration* found = find_configuration(configuration);
  const auto* timing = isa::ethos_u::find_npu_timing(configuration);
  if (found == nullptr || timing == nullptr) return std::nullopt;
  const std::string_view usual_mode = timing->is_u65 ? "dedicated-sram" : "shared-sram";
  const auto memories =
      isa::ethos_u::memory_system(*timing, system, memory_mode.empty() ? usual_mode : memory_mode);
  if (!memories) return std::nullopt;

  Device& device = devices_.emplace_back(*found);
  // One memory for all is reached over both ports, which share what it moves.
  const bool one_memory = memories->ports[0].name == memories->ports[1].name;
  const auto behind = [&](int port) { return static_cast<uint8_t>(one_memory ? 3 : 1 << port); };
  Reach reach;
  reach.stream = behind(memories->constants);
  for (size_t i = 0; i < reach.regions.size(); ++i)
    reach.regions[i] = behind(memories->port_of_region(static_cast<int64_t>(i)));
  device.set_reach(reach);
  device.set_injected_faults(faults_);
  device.set_fault_handler([this, found](const Fault& fault) {
    recorder_.say(std::string(found->tag) + " simulator: " + fault.to_string());
  });
  device.set_cycle_model([this, memories = *memories, number = recorder_.add_device()](
                             const Configuration& model, std::span<const uint8_t> stream) {
    return std::make_unique<Watch>(model, memories, stream, recorder_, number);
  });
  return device.bus();
}

}  // namespace intarsia::simulators::ethos_u
