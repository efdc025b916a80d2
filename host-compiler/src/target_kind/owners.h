// Whose a device is where a target has several CPUs: it belongs to the CPU before it, as written.
//
//   low_power_cpu: c -mcpu=small; inference_cpu: c -mcpu=large + my-npu -macs=128
//
// The NPU is inference_cpu's: what it runs is part of that CPU's firmware, which drives it.
#pragma once

#include <cstddef>
#include <vector>

#include "intarsia/plugin/target_kind.h"

namespace intarsia {

// For each of the target's devices the index of its CPU, which for a CPU is itself.
std::vector<size_t> owners_of(const TargetSpec& target, const TargetRegistry& registry);

// The devices in the order in which policy `priority` asks them: every CPU after the devices that are its own, and the
// host with its devices around all others: the host's devices first, the host last.
std::vector<size_t> order_of_priority(const TargetSpec& target, const TargetRegistry& registry);

// A CPU of the target and its devices as a target of their own; devices keep their names.
TargetSpec owned_by(const TargetSpec& target, const TargetRegistry& registry, size_t cpu);

}  // namespace intarsia
