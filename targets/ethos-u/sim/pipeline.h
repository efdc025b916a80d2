// The units of the NPU at work, event by event: what reads the IFM, the decoder of weights, the MAC array, the output unit,
// what writes the OFM, the DMA, and the processor of commands. Each does one thing at a time; what they want of a port
// together is shared out evenly, and no port gives more than it has. docs/ethos-u-timing.md states the rules.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "intarsia/targets/ethos_u/operation_work.h"

namespace intarsia::simulators::ethos_u {

class Pipeline {
 public:
  // `ended` is told the number of an operation or transfer when it is complete, at now().
  explicit Pipeline(std::function<void(size_t number)> ended) : ended_(std::move(ended)) {}

  double now() const { return now_; }
  size_t operations() const { return operations_.size(); }
  size_t transfers() const { return transfers_.size(); }

  void issue(OperationWork work, size_t number);
  // `latency` before the first byte; both sides move at once.
  void transfer(const PortCycles& ports, double latency, size_t number);
  // The processor takes `cycles` for commands that keep ports busy; time passes until it has them.
  void read_commands(double latency, double cycles, const PortCycles& ports);
  // Time passes until at most so many are under way.
  void finish_operations(size_t left);
  void finish_transfers(size_t left);

  // Time with an operation, with a transfer, and with a transfer alone.
  struct Times {
    double operations = 0, transfers = 0, transfers_alone = 0;
  };
  const Times& times() const { return times_; }

 private:
  // Work that one unit does: cycles at full speed, and what it then takes of each port.
  struct Activity {
    bool active = false;
    double wait = 0;  // before it begins, and asks for nothing
    double left = 0;
    PortCycles demand = {};
    void start(double wait_first, double least, const PortCycles& ports);
  };
  enum Unit { Fetch, Decode, Mac, Output, Write, Dma, Commands, Units };

  struct Running {
    OperationWork work;
    size_t number = 0;
    bool is_set_up = false;
    // Jobs that each unit has done, and blocks.
    size_t fetched = 0, decoded = 0, accumulated = 0;
    size_t block_of_mac = 0,
           jobs_of_block = 0;  // the block that the MAC array is at, and its jobs that are done
    size_t blocks_begun = 0;   // by the MAC array
    size_t output = 0, written = 0, landed = 0;
    size_t output_begun = 0;
    std::deque<double> landing;  // when blocks that have left will be in memory
    bool is_complete() const { return landed == work.blocks.size(); }
  };
  struct Transfer {
    PortCycles ports;
    double latency;
    size_t number;
  };

  void settle();
  void ask_for_next();
  bool start_fetch();
  bool start_decode();
  bool start_mac();
  bool start_output();
  bool start_write();
  bool start_dma();
  bool may_read(size_t operation, size_t job) const;
  bool complete(Unit unit);
  // Until the next thing happens; false: nothing is under way.
  bool step();
  void retire();

  std::function<void(size_t)> ended_;
  double now_ = 0;
  Times times_;
  std::deque<Running> operations_;
  std::deque<Transfer> transfers_;
  std::array<Activity, Units> units_;
  // Which operation each unit works for, as a place in operations_.
  std::array<size_t, Units> at_ = {};
  bool asked_ = false;  // for the next block of an IFM, at this time
  double asked_at_ = 0;
  // Of all operations: what is in the buffers between the units.
  size_t ifm_blocks_ = 0, weight_jobs_ = 0, accumulators_ = 0, output_blocks_ = 0;
};

}  // namespace intarsia::simulators::ethos_u
