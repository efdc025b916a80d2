// <model>_devices.c: opens the drivers of a model's devices for the boards' generic main program.
#pragma once

#include <cstdint>
#include <string>

#include "emission/emit.h"

namespace intarsia::emission {

// Where a device that has a simulator is. Others have registers where the board says, always.
enum class DevicePlace : uint8_t {
  Board,      // its registers are the board's
  InProgram,  // a fresh simulated one
  Remote,     // a simulated one in another program (remote_device.h)
};

// `model` has at least one device with streams.
std::string device_glue_text(const EmittedModel& model, const TargetRegistry& registry,
                             const TargetSpec& target, DevicePlace place);

// <model>_simulators.cpp: the other program, which serves the model's devices.
std::string device_server_text(const EmittedModel& model, const TargetRegistry& registry,
                               const TargetSpec& target);

}  // namespace intarsia::emission
