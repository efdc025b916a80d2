// Runs a command stream as the control unit does: four queues, six counters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "intarsia/targets/ethos_n/container.h"
#include "intarsia/targets/ethos_n/fault.h"
#include "intarsia/targets/ethos_n/memory.h"
#include "intarsia/targets/ethos_n/stream.h"

namespace intarsia::simulators::ethos_n {

struct RunOptions {
  uint64_t max_macs = uint64_t{1} << 34;  // so that no garbage keeps the machine busy for hours
};

struct Outcome {
  std::optional<Fault> fault;
  std::array<uint32_t, kCounters> counters = {};
  uint64_t dma_read_bytes = 0, dma_written_bytes = 0;
};

Outcome run(const Variant& variant, const Stream& stream, Dram& dram,
            const RunOptions& options = {});

// A whole compiled network: the buffers of inputs and outputs in the order of the container.
Outcome run_network(const Variant& variant, std::span<const uint8_t> network,
                    std::span<const std::vector<uint8_t>> inputs,
                    std::vector<std::vector<uint8_t>>& outputs, const RunOptions& options = {});

}  // namespace intarsia::simulators::ethos_n
