#include "target_kind/owners.h"

namespace intarsia {

std::vector<size_t> owners_of(const TargetSpec& target, const TargetRegistry& registry) {
  std::vector<size_t> owners;
  for (const Target& device : target.devices()) {
    const bool is_cpu = registry.kind_of(device).spec.role == Role::Cpu;
    owners.push_back(is_cpu ? owners.size() : owners.back());
  }
  return owners;
}

std::vector<size_t> order_of_priority(const TargetSpec& target, const TargetRegistry& registry) {
  const std::vector<size_t> owners = owners_of(target, registry);
  std::vector<size_t> order;
  for (size_t cpu = 0; cpu < owners.size(); ++cpu) {
    if (owners[cpu] != cpu) continue;
    for (size_t device = cpu + 1; device < owners.size() && owners[device] == cpu; ++device)
      order.push_back(device);
    if (cpu != 0) order.push_back(cpu);
  }
  order.push_back(0);
  return order;
}

TargetSpec owned_by(const TargetSpec& target, const TargetRegistry& registry, size_t cpu) {
  const std::vector<size_t> owners = owners_of(target, registry);
  std::vector<Target> devices;
  for (size_t m = 0; m < owners.size(); ++m)
    if (owners[m] == cpu) devices.push_back(target.devices()[m]);
  Result<TargetSpec> owned = make_target(registry.catalogue(), devices);
  INTARSIA_CHECK(owned.ok(), "devices of a checked target make a target");
  return std::move(owned).value();
}

}  // namespace intarsia
