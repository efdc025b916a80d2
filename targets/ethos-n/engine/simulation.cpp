// The NPUs of a program in the engine's process: the driver for silicon, over a mailbox that is simulated.
#include <deque>
#include <utility>

#include "intarsia/builtin_targets.h"
#include "intarsia/targets/ethos_n/device.h"
#include "intarsia/targets/ethos_n/driver.h"

namespace intarsia::targets::ethos_n {
namespace {

namespace sim = simulators::ethos_n;

class Npus final : public Simulation {
 public:
  explicit Npus(std::span<const Target* const> targets) {
    for (const Target* target : targets) {
      const sim::Variant* variant = sim::find_variant("ethos-n78-" + target->get_string("variant"));
      sim::Device& npu = npus_.emplace_back(variant);
      npu.set_fault_handler([this](const sim::Fault& fault) {
        messages_ += "simulated Ethos-N: " + fault.to_string() + "\n";
      });
      intarsia_ethos_n& driver = drivers_.emplace_back();
      const intarsia_register_bus bus = npu.bus();
      const bool opened = intarsia_ethos_n_open_bus(&driver, &bus) == INTARSIA_OK;
      devices_.push_back(opened ? &driver.device : nullptr);
    }
  }

  intarsia_device* device(size_t index) override { return devices_[index]; }
  std::string take_messages() override { return std::exchange(messages_, {}); }

 private:
  std::string messages_;
  // They never move their elements.
  std::deque<sim::Device> npus_;
  std::deque<intarsia_ethos_n> drivers_;
  std::vector<intarsia_device*> devices_;
};

}  // namespace

void add_engine(EngineRegistry& registry) {
  registry.add_simulation("ethosn",
                          [](std::span<const Target* const> targets, const SimulationOptions&) {
                            return std::make_unique<Npus>(targets);
                          });
}

}  // namespace intarsia::targets::ethos_n
