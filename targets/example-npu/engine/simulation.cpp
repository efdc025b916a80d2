// The NPUs of a program in the engine's process: the driver for silicon, over registers that are simulated.
#include <deque>

#include "intarsia/builtin_targets.h"
#include "intarsia/targets/example_npu/device.h"
#include "intarsia/targets/example_npu/driver.h"

namespace intarsia::targets::example_npu {
namespace {

namespace sim = simulators::example_npu;

class Npus final : public Simulation {
 public:
  explicit Npus(std::span<const Target* const> targets) {
    for (size_t i = 0; i < targets.size(); ++i) {
      const intarsia_register_bus bus = npus_.emplace_back().bus();
      intarsia_example_npu& driver = drivers_.emplace_back();
      const bool opened = intarsia_example_npu_open_bus(&driver, &bus) == INTARSIA_OK;
      devices_.push_back(opened ? &driver.device : nullptr);
    }
  }

  intarsia_device* device(size_t index) override { return devices_[index]; }
  std::string take_messages() override { return {}; }

 private:
  // They never move their elements.
  std::deque<sim::Device> npus_;
  std::deque<intarsia_example_npu> drivers_;
  std::vector<intarsia_device*> devices_;
};

}  // namespace

void add_engine(EngineRegistry& registry) {
  registry.add_simulation("example-npu",
                          [](std::span<const Target* const> targets, const SimulationOptions&) {
                            return std::make_unique<Npus>(targets);
                          });
}

}  // namespace intarsia::targets::example_npu
