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

namespace operation_timing {
struct OperationTiming;
}

// Bytes of an operation's constants, and the cycles that the headers of its weights take to decode.
struct ConstantSizes {
  int64_t weights = 0, scales = 0;
  double header_cycles = 0;
};

// Ports: AXI0, AXI1, and SHRAM as the DMA sees it.
using npu::OperationCost;
using npu::TransferCost;

class CostModel {
 public:
  CostModel(const Hardware& hardware, const isa::ethos_u::MemorySystem& system);

  struct Maps {
    const FeatureMap& ifm;
    const FeatureMap& ofm;
    const FeatureMap* ifm2 = nullptr;
  };
  // Whether a pixel begins where the one before it ends.
  static bool is_packed(const FeatureMap& map);
  // Whether the operation clamps its results more than the type does.
  static bool clamps(const Operation& operation, DataType type);

  struct Places {
    Memory ifm = Memory::Arena, ifm2 = Memory::Arena, ofm = Memory::Arena;
    Memory weights = Memory::Constants;
    std::optional<Memory> scales = std::nullopt;  // where weights are, if not said
    Memory of_scales() const { return scales.value_or(weights); }
    bool operator==(const Places&) const = default;
  };
  OperationCost cost(const Operation& operation, const Maps& maps, const BlockConfig& block,
                     const Places& places, const ConstantSizes& constants) const;
  // Cycles of weights and scales, on the ports of the memories in which they lie.
  void add_constants(OperationCost& cost, const Places& places, double weights,
                     double scales) const;
  // The operation as the estimate asks for it, without blocks and sizes of constants.
  operation_timing::OperationTiming described(const Operation& operation, const Maps& maps,
                                              const Places& places) const;
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

  const isa::ethos_u::NpuTiming& npu() const { return npu_; }
  const isa::ethos_u::MemorySystem& system() const { return system_; }
  const isa::ethos_u::MemoryTiming& memory(Memory which) const;
  size_t port(Memory which) const;

 private:
  const isa::ethos_u::NpuTiming& npu_;
  isa::ethos_u::MemorySystem system_;
};

}  // namespace intarsia::targets::ethos_u
