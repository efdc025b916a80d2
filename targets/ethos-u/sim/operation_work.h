// What an operation asks of the units and the ports, job by job: the simulator's own reading of the tables of isa/, which
// its clock (pipeline.h) plays through. A job is one IFM block of one OFM block (blocks.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "intarsia/targets/ethos_u/operation.h"
#include "intarsia/targets/ethos_u/timing.h"

namespace intarsia::simulators::ethos_u {

inline constexpr size_t kPorts = 3;  // AXI0, AXI1, SHRAM as the DMA sees it

// Cycles that bytes keep each port busy.
using PortCycles = std::array<double, kPorts>;

struct RegionTraffic {
  uint64_t read_bytes = 0, written_bytes = 0;
};
using Traffic = std::array<RegionTraffic, kRegions>;

struct JobWork {
  PortCycles fetch = {};    // of the IFM, and of the IFM2
  PortCycles weights = {};  // with scales
  double decoding = 0;      // of the weights
  double accumulation = 0;  // of the MAC array
};

struct BlockWork {
  size_t jobs = 0;
  double output = 0;  // of the output unit
  PortCycles write = {};
};

struct OperationWork {
  std::vector<JobWork> jobs;
  std::vector<BlockWork> blocks;
  bool accumulates = true;  // not element-wise
  bool has_weights = false;
  int32_t blockdep = 0;
  double read_latency = 0, write_latency = 0, weight_latency = 0;
  // Of all jobs.
  int64_t macs = 0;
  double mac = 0, output = 0;
  PortCycles ports = {};
  Traffic traffic = {};
};

// `headers`: cycles of the decoder for the headers of the weights, each time that it decodes all of them.
OperationWork work_of(const Operation& operation, const Configuration& configuration,
                      const isa::ethos_u::NpuTiming& npu,
                      const isa::ethos_u::MemorySystem& memories, double headers);

}  // namespace intarsia::simulators::ethos_u
