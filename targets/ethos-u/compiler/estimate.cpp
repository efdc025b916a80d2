#include "estimate.h"

#include <limits>

#include "foreign/compiled_stream.h"
#include "hardware/configuration.h"
#include "intarsia/plugin/check.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "lower.h"

namespace intarsia::targets::ethos_u {

CostEstimate estimate(const Target& device, const graph::Module& module,
                      const graph::Function& function, const LoweringOptions& options) {
  const isa::ethos_u::NpuTiming* npu = isa::ethos_u::find_npu_timing(configuration_of(device).tag);
  INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
  const auto memory = isa::ethos_u::memory_system(*npu, "", device.get_string("memory-mode"));
  INTARSIA_CHECK(memory.has_value(), "the kind admits only memory modes of the table");
  CostEstimate cost{0, memory->clock_mhz};
  // A stream of another compiler runs here or nowhere.
  if (is_compiled_stream(function)) return cost;
  // Where there is no schedule within the SRAM, everything else is better; the lowering says why there is none.
  const Result<double> cycles = scheduled_cycles(device, module, function, options);
  cost.cycles = cycles.ok() ? *cycles : std::numeric_limits<double>::infinity();
  return cost;
}

}  // namespace intarsia::targets::ethos_u
