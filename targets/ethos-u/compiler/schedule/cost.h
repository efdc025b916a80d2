// Cycles of operations and transfers, estimated (operation_timing.h).
#pragma once

#include <cstdint>
#include <optional>

#include "hardware/hardware.h"
#include "intarsia/npu/timeline.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

// Which of the memory system's roles a piece of memory plays.
enum class Memory : uint8_t { Constants, Arena, Cache };

// Ports: AXI0, AXI1, and SHRAM as the DMA sees it.
using npu::OperationCost;
using npu::TransferCost;

class CostModel {
 public:
  CostModel(const Hardware& hardware, const isa::ethos_u::MemorySystem& system);

  struct Places {
    Memory ifm = Memory::Arena, ifm2 = Memory::Arena, ofm = Memory::Arena;
    Memory weights = Memory::Constants;
  };
  // `step` has maps and block; weights count with `weight_bytes` and the cycles that their headers take to decode.
  OperationCost cost(const Operation& operation, const Step& step, const Places& places,
                     int64_t weight_bytes, int64_t scale_bytes, double weight_headers) const;
  // The same operation as bytes: of its maps once for every block that reads them, of its weights once for every block of the plane.
  struct Traffic {
    struct Way {
      double bytes = 0, cycles = 0;  // cycles: that the port is busy
    };
    Way ifm, ifm2, ofm, weights, scales;
    double pipeline = 0;
    int64_t macs = 0;
  };
  Traffic traffic(const Operation& operation, const Step& step, const Places& places,
                  int64_t weight_bytes, int64_t scale_bytes) const;
  // Of the commands of one operation or transfer.
  npu::CommandCosts commands() const;
  // Into SHRAM when `to` is empty.
  TransferCost transfer(Memory from, std::optional<Memory> to, int64_t bytes) const;

  const isa::ethos_u::MemorySystem& system() const { return system_; }
  const isa::ethos_u::MemoryTiming& memory(Memory which) const;
  size_t port(Memory which) const;

 private:
  const isa::ethos_u::NpuTiming& npu_;
  isa::ethos_u::MemorySystem system_;
};

}  // namespace intarsia::targets::ethos_u
