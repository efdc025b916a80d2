// The NPUs of a program in the engine's process: the driver for silicon, over registers that are simulated.
#include <deque>
#include <utility>

#include "intarsia/builtin_targets.h"
#include "intarsia/targets/ethos_u/driver.h"
#include "intarsia/targets/ethos_u/simulation.h"
#include "intarsia/targets/ethos_u85/simulation.h"

namespace intarsia::targets::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

std::string tag_of(const Target& device) {
  return "ethos-" + device.get_string("product") + "-" + std::to_string(device.get_int("macs"));
}

class Npus final : public Simulation {
 public:
  Npus(std::span<const Target* const> targets, const SimulationOptions& options)
      : simulation_({.trace = options.trace,
                     .profile = options.profile,
                     .marks = options.marks,
                     .first_device = options.first_device,
                     .say = [this](const std::string& line) { messages_ += line + "\n"; }}) {
    for (const Target* target : targets) open(*target);
  }

  intarsia_device* device(size_t index) override { return devices_[index]; }
  std::string take_messages() override { return std::exchange(messages_, {}); }
  std::string trace_events() override { return simulation_.recorder().trace_events(); }
  std::string profile_json() override { return simulation_.recorder().profile_text(); }

 private:
  void open(const Target& target) {
    const std::string mode = target.get_string("memory-mode");
    const auto bus = simulation_.add_device(tag_of(target), target.get_string("system"), mode);
    intarsia_ethos_u& driver = drivers_.emplace_back();
    const auto open_bus = mode.starts_with("dedicated") ? intarsia_ethos_u_open_bus_dedicated
                                                        : intarsia_ethos_u_open_bus_shared;
    const bool opened = bus.has_value() && open_bus(&driver, &*bus) == INTARSIA_OK;
    devices_.push_back(opened ? &driver.device : nullptr);
  }

  std::string messages_;
  sim::Simulation simulation_;
  std::deque<intarsia_ethos_u> drivers_;  // never moves its elements
  std::vector<intarsia_device*> devices_;
};

// Those without a driver.
class U85Npus final : public Simulation {
 public:
  U85Npus(std::span<const Target* const> targets, const SimulationOptions& options)
      : simulation_({.marks = options.marks,
                     .say = [this](const std::string& line) { messages_ += line + "\n"; }}) {
    for (const Target* target : targets)
      devices_.push_back(
          simulation_.add_device("ethos-u85-" + std::to_string(target->get_int("macs"))));
  }

  intarsia_device* device(size_t index) override { return devices_[index]; }
  std::string take_messages() override { return std::exchange(messages_, {}); }

 private:
  std::string messages_;
  simulators::ethos_u85::Simulation simulation_;
  std::vector<intarsia_device*> devices_;
};

}  // namespace

void add_engine(EngineRegistry& registry) {
  registry.add_simulation(
      "ethos-u", [](std::span<const Target* const> targets, const SimulationOptions& options) {
        return std::make_unique<Npus>(targets, options);
      });
  registry.add_simulation(
      "ethos-u85", [](std::span<const Target* const> targets, const SimulationOptions& options) {
        return std::make_unique<U85Npus>(targets, options);
      });
}

}  // namespace intarsia::targets::ethos_u
