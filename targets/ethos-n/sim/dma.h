// The DMA engine: one transfer from its registers.
#pragma once

#include <cstdint>
#include <optional>

#include "intarsia/targets/ethos_n/fault.h"
#include "intarsia/targets/ethos_n/memory.h"
#include "intarsia/targets/ethos_n/stream.h"

namespace intarsia::simulators::ethos_n {

// The code of PLE kernels is not ours to have. What the DMA brings in its place is bytes that
// depend on the kernel's number, so that a kernel that was overwritten before it was used is
// noticed.
uint8_t kernel_byte(uint32_t kernel, uint32_t at);

// `command` is one of the four that move data, `agent` the one it names.
std::optional<Fault> transfer(const Variant& variant, const AgentRecord& agent,
                              const CommandRecord& command, Sram& sram, Dram& dram);

}  // namespace intarsia::simulators::ethos_n
