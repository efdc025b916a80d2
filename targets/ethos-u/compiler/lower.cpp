#include "lower.h"

#include "encode/to_tir.h"
#include "hardware/hardware.h"
#include "hardware/memory_systems.h"

namespace intarsia::targets::ethos_u {

Result<tir::LoweredFunction> lower(FunctionSchedules& schedules, const Target& device,
                                   const graph::Module& module, const graph::Function& function,
                                   const LoweringOptions& options) {
  INTARSIA_TRY(const auto made, schedules.of(device, module, function, options));
  // Feature maps that are not to take the fast memory say so, or the planner would put them there.
  std::string slow;
  if (is_dedicated(device) && options.memory != nullptr)
    if (const int32_t pool = slow_pool(device, *options.memory); pool >= 0)
      slow = options.memory->pools[static_cast<size_t>(pool)].name;
  return to_tir(hardware_of(device), module, function, made->program, made->schedule, slow);
}

}  // namespace intarsia::targets::ethos_u
