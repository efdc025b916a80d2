// Runs one command stream.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "intarsia/targets/ethos_u/fault.h"
#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

// Sees everything in the order of the stream. What is before an operation sees memory as the
// operation finds it, after it as it leaves it. Transfers and operations are complete when the next
// command is read; that the device may still be working on them is for an observer to consider.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void command(const DecodedCommand&) {}
  virtual void before(const Operation&, const Memory&) {}
  virtual void after(const Operation&, const Memory&) {}
  virtual void before(const DmaTransfer&, const Memory&) {}
  virtual void after(const DmaTransfer&, const Memory&) {}
  virtual void wait(const Wait&) {}
  virtual void pmu_mask(bool enabled) { (void)enabled; }
  virtual void stop(const DecodedCommand&) {}
};

struct RunOptions {
  bool execute = true;  // false: only decode, for observers that do not look at memory
  // The largest operation that is executed, so that no garbage keeps the machine busy for hours.
  uint64_t max_macs = uint64_t{1} << 34;
};

struct Outcome {
  std::optional<Fault> fault;
  uint32_t read_bytes = 0;   // register QREAD: how far the stream was read
  bool stopped = false;      // OP_STOP was met
  uint16_t irq_history = 0;  // masks of OP_STOP and OP_IRQ
  bool interrupt = false;
};

Outcome run(std::span<const uint8_t> stream, const Configuration& configuration, Memory& memory,
            Observer* observer = nullptr, const RunOptions& options = {});

}  // namespace intarsia::simulators::ethos_u
