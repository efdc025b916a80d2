// What the performance estimate of Vela 3.10 says of a stream, done over again from what is known of it: every block a
// full one, one operation after the other, and of transfers only what the operation before does not hide. A second opinion
// beside our own clock, which shares no code with it and nothing but the tables of isa/.
//
// Vela estimates its graph, not its stream. Operations of a stream that are slices of the depth of one operation are put
// together again; stripes of a cascade are not, each counts as an operation.
#pragma once

#include <cstddef>
#include <vector>

#include "intarsia/targets/ethos_u/run.h"
#include "intarsia/targets/ethos_u/timing.h"

namespace intarsia::bench {

class LiteralEstimate final : public simulators::ethos_u::Observer {
 public:
  // `memories` outlives it.
  LiteralEstimate(const isa::ethos_u::NpuTiming& npu, const isa::ethos_u::MemorySystem& memories)
      : npu_(npu), memories_(memories) {}

  void before(const simulators::ethos_u::Operation& op,
              const simulators::ethos_u::Memory& memory) override;
  void before(const simulators::ethos_u::DmaTransfer& dma,
              const simulators::ethos_u::Memory& memory) override;

  double cycles() const;
  // Of each operation that was seen; of one that was put together from several, the first has all of it.
  std::vector<double> each() const;

 private:
  // One operation of the graph, in slices.
  struct Whole {
    simulators::ethos_u::Operation op;  // with the depth of all
    int32_t last_depth = 0;             // of the last slice
    double first_transfer = 0;          // of constants that were copied for it
    double transfer_bytes = 0, weight_bytes = 0, scale_bytes = 0;
    bool copies_weights = false;
    uint32_t from = 0, to = 0;  // regions of the copies
    double table = 0;           // of a table
    int slices = 0;
    size_t first = 0;  // of all operations
  };
  // Cycles of the NPU for so many channels, and of each port.
  double npu_cycles(const simulators::ethos_u::Operation& op, int32_t depth) const;
  double port_cycles(const Whole& whole) const;
  const isa::ethos_u::MemoryTiming& memory(uint32_t region) const {
    return memories_.memory_of_region(region);
  }

  const isa::ethos_u::NpuTiming& npu_;
  const isa::ethos_u::MemorySystem& memories_;
  std::vector<Whole> wholes_;
  size_t seen_ = 0;
  std::vector<simulators::ethos_u::DmaTransfer> transfers_;  // not yet known what for
};

}  // namespace intarsia::bench
