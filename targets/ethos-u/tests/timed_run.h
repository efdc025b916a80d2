// Streams on the simulator with its clock, and what their bytes alone need, counted apart from the clock.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_u/timeline.h"

namespace intarsia::test::ethos_u {

// Bytes that a stream moves in any case, whatever the blocks: transfers, weights and scales once for each operation,
// every result, the stream itself; by port.
class LeastBytes final : public simulators::ethos_u::Observer {
 public:
  LeastBytes(const isa::ethos_u::MemorySystem& memories, Observer& next,
             Observer* watcher = nullptr)
      : memories_(memories), next_(next), watcher_(watcher) {}

  void command(const simulators::ethos_u::DecodedCommand& command) override;
  void before(const simulators::ethos_u::Operation& op,
              const simulators::ethos_u::Memory& memory) override;
  void before(const simulators::ethos_u::DmaTransfer& dma,
              const simulators::ethos_u::Memory& memory) override;
  void wait(const simulators::ethos_u::Wait& wait) override {
    if (watcher_ != nullptr) watcher_->wait(wait);
    next_.wait(wait);
  }
  void stop(const simulators::ethos_u::DecodedCommand& command) override { next_.stop(command); }

  // The cycles that they keep each port busy.
  std::array<double, simulators::ethos_u::kPorts> port_cycles() const;

 private:
  void add(uint32_t region, uint64_t bytes) {
    bytes_[static_cast<size_t>(memories_.port_of_region(region))] += static_cast<double>(bytes);
  }

  const isa::ethos_u::MemorySystem& memories_;
  Observer& next_;
  Observer* watcher_;
  std::array<double, simulators::ethos_u::kPorts> bytes_ = {};
};

struct TimedRun {
  std::string problem;  // empty: it ran to its end
  simulators::ethos_u::CycleTotals totals;
  std::vector<simulators::ethos_u::TimedCommand> commands;
  std::array<double, simulators::ethos_u::kPorts> least_port_cycles = {};
};

// A region's memory; one without bytes takes that of the region `alias`.
struct TimedRegion {
  std::vector<uint8_t> bytes;
  int alias = -1;
};
// Runs the payload on these regions, by their numbers. Inputs are what the regions hold. `watcher` sees operations and
// transfers as well.
TimedRun run_timed(std::span<const uint8_t> payload, std::vector<TimedRegion> regions,
                   const std::string& memory_mode, simulators::ethos_u::Observer* watcher = nullptr,
                   const std::string& system = "");

}  // namespace intarsia::test::ethos_u
