#include "estimate.h"

#include <limits>

#include "foreign/compiled_stream.h"
#include "hardware/memory_systems.h"

namespace intarsia::targets::ethos_u {

CostEstimate estimate(FunctionSchedules& schedules, const Target& device,
                      const graph::Module& module, const graph::Function& function,
                      const LoweringOptions& options) {
  CostEstimate cost{0, memory_system_of(device).clock_mhz};
  // A stream of another compiler runs here or nowhere.
  if (is_compiled_stream(function)) return cost;
  // Where there is no schedule within the SRAM, everything else is better; the lowering says why there is none.
  const auto made = schedules.of(device, module, function, options);
  cost.cycles = made.ok() ? (*made)->schedule.cycles : std::numeric_limits<double>::infinity();
  return cost;
}

}  // namespace intarsia::targets::ethos_u
