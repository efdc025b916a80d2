// Devices that work on the host's own processor, which must be of their machine: libraries of kernels. Such a kind has an
// attribute "machine", as the triples of compilers begin: "aarch64". A host whose machine can be chosen has "mtriple".
#pragma once

#include "intarsia/plugin/target_kind.h"
#include "intarsia/result.h"

namespace intarsia {

// Where the host leaves its machine open and this one is another than a device wants, the device's is derived: Linux on
// it. Refuses a host of another machine.
Result<void> choose_host_machine(const TargetRegistry& registry, TargetSpec& target);

}  // namespace intarsia
