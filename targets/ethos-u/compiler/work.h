// What a function makes the NPU do, operation by operation: the steps of its schedule as cycles and bytes.
#pragma once

#include "function_schedules.h"
#include "intarsia/plugin/device_work.h"

namespace intarsia::targets::ethos_u {

// Nothing of a stream of another compiler, and where there is no schedule.
DeviceWork work_of(FunctionSchedules& schedules, const Target& device, const graph::Module& module,
                   const graph::Function& function, const LoweringOptions& options);

}  // namespace intarsia::targets::ethos_u
