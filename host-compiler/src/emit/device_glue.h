// <model>_devices.c: opens the drivers of a model's devices for the boards' generic main program.
#pragma once

#include <string>

#include "intarsia/emit.h"

namespace intarsia::emission {

// `simulated`: a device that has a simulator is attached to a fresh one; otherwise its registers
// are where the board says. `model` has at least one member with streams.
std::string device_glue_text(const EmittedModel& model, const TargetRegistry& registry,
                             const TargetSpec& target, bool simulated);

}  // namespace intarsia::emission
