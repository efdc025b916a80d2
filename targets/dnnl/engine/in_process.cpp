// oneDNN in the engine's process, through the component that links it.
#include <deque>

#include "intarsia/builtin_targets.h"
#include "intarsia/layers/component.h"
#include "intarsia/targets/dnnl/driver.h"

#ifndef INTARSIA_DNNL_COMPONENT
#define INTARSIA_DNNL_COMPONENT ""
#endif

namespace intarsia::targets::dnnl {
namespace {

using Open = decltype(&intarsia_dnnl_open);
using Close = decltype(&intarsia_dnnl_close);

const layers::Component& component() {
  static const layers::Component loaded("libintarsia_dnnl.so", INTARSIA_DNNL_COMPONENT);
  return loaded;
}

class Libraries final : public Simulation {
 public:
  explicit Libraries(size_t count) : close_(component().function<Close>("intarsia_dnnl_close")) {
    const auto open = component().function<Open>("intarsia_dnnl_open");
    for (size_t i = 0; i < count; ++i) {
      intarsia_dnnl& driver = drivers_.emplace_back();
      const bool opened =
          open != nullptr && close_ != nullptr && open(&driver, nullptr) == INTARSIA_OK;
      devices_.push_back(opened ? &driver.device : nullptr);
    }
  }
  ~Libraries() override {
    for (size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i] != nullptr) close_(&drivers_[i]);
  }
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;

  intarsia_device* device(size_t index) override { return devices_[index]; }
  std::string take_messages() override { return {}; }

 private:
  Close close_;
  std::deque<intarsia_dnnl> drivers_;  // never moves its elements
  std::vector<intarsia_device*> devices_;
};

}  // namespace

void add_engine(EngineRegistry& registry) {
  registry.add_simulation("dnnl",
                          [](std::span<const Target* const> targets, const SimulationOptions&) {
                            return std::make_unique<Libraries>(targets.size());
                          });
}

}  // namespace intarsia::targets::dnnl
