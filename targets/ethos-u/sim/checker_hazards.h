// What may still be under way when an operation or a transfer starts, and whether they then get into
// each other's way.
//
// The device keeps at most a fixed number of operations and transfers outstanding (PRODUCT in
// isa/configurations.def); one more waits for the oldest. OP_KERNEL_WAIT and OP_DMA_WAIT wait until at
// most that number are left. Between operations and transfers nothing else keeps order. An operation
// starts while at most BLOCKDEP jobs of it and of the one before it are incomplete: fetching, which is in
// order, can overtake the writing of the last blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "intarsia/targets/ethos_u/byte_ranges.h"
#include "intarsia/targets/ethos_u/checker_registers.h"

namespace intarsia::simulators::ethos_u {

class Hazards {
 public:
  explicit Hazards(const Configuration& configuration) : configuration_(configuration) {}

  void start(const Operation& operation, const Report& report);
  void start(const DmaTransfer& transfer, const Report& report);
  void wait(const Wait& wait);

 private:
  bool conflict(const Operation& operation, const DmaTransfer& transfer, std::string& what) const;
  void check_block_dependency(const Operation& before, const Operation& operation,
                              const Report& report) const;

  const Configuration& configuration_;
  std::deque<Operation> operations_;  // the oldest first
  std::deque<DmaTransfer> transfers_;
};

// How many jobs the operation may leave incomplete before it starts, of its own and of the one before:
// the largest BLOCKDEP that is right, at most `most`.
int32_t largest_blockdep(const Operation& before, const Operation& operation, int32_t most);

}  // namespace intarsia::simulators::ethos_u
