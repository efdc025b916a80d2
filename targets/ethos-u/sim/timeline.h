// How many cycles a stream takes, and what goes over the ports: an observer of a run. The rates are
// those of isa/timing.h; what overlaps is what the stream's waits let overlap. docs/ethos-u-timing.md
// states the model.
//
// Three parties: the command processor reads the stream in order, over the port of the constants, and starts work;
// operations run one after the other, and so do transfers, beside each other. The processor stands still at a wait, and where
// the queue of what it wants to start is full. Two that need the same port at once share it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "intarsia/targets/ethos_u/cycle_model.h"
#include "intarsia/targets/ethos_u/timing.h"

namespace intarsia::simulators::ethos_u {

inline constexpr size_t kPorts = 3;  // AXI0, AXI1, SHRAM as the DMA sees it

struct RegionTraffic {
  uint64_t read_bytes = 0, written_bytes = 0;
};

enum class TimedKind : uint8_t { Operation, Transfer };

// One operation or transfer on the timeline, in cycles since the stream began.
struct TimedCommand {
  TimedKind kind = TimedKind::Operation;
  uint32_t offset = 0;  // of the OP command in the stream
  Command command = Command::OP_CONV;
  uint16_t parameter = 0;
  double issued = 0;   // when the processor started it
  double started = 0;  // when it was its turn
  double ended = 0;
  double alone = 0;                    // how long it takes with the ports to itself
  isa::ethos_u::OperationCycles work;  // operations
  std::array<double, kPorts> port_cycles = {};
  std::array<RegionTraffic, kRegions> traffic = {};
  double cycles() const { return ended - started; }
};

struct Stall {          // of the command processor
  uint32_t offset = 0;  // of the command at which it stood
  double from = 0, to = 0;
};

struct CycleTotals {
  double cycles = 0;            // from the first command to the end of the last work
  double operation_cycles = 0;  // while an operation ran
  double transfer_cycles = 0;   // while a transfer ran
  double transfer_only =
      0;  // while a transfer ran and no operation did: transfers that are not hidden
  double mac_cycles = 0, output_cycles = 0;
  int64_t macs = 0;
  std::array<double, kPorts> port_cycles = {};
  std::array<RegionTraffic, kRegions> traffic = {};
  uint64_t stream_bytes = 0;
  // Of what the MAC array could have done.
  double utilisation(int64_t macs_per_cycle) const {
    return cycles > 0 ? static_cast<double>(macs) / (cycles * static_cast<double>(macs_per_cycle))
                      : 0;
  }
};

class Timeline final : public CycleModel {
 public:
  Timeline(const Configuration& configuration, const isa::ethos_u::MemorySystem& memories);

  void command(const DecodedCommand& command) override;
  void before(const Operation& operation, const Memory& memory) override;
  void before(const DmaTransfer& transfer, const Memory& memory) override;
  void wait(const Wait& wait) override;
  void stop(const DecodedCommand&) override {
    read_commands();
    finish();
  }
  // What is still under way comes to its end. After a run without OP_STOP it has to be asked for.
  void finish();
  std::optional<Fault> finish(const Outcome&) override { return finish(), std::nullopt; }

  uint64_t cycles() const override;
  uint64_t events(uint32_t number) const override;

  const std::vector<TimedCommand>& commands() const { return commands_; }
  const std::vector<Stall>& stalls() const { return stalls_; }
  const CycleTotals& totals() const { return totals_; }
  const isa::ethos_u::NpuTiming& npu() const { return *npu_; }
  const isa::ethos_u::MemorySystem& memories() const { return memories_; }

 private:
  struct Queued {
    size_t command;  // index in commands_
    double left;     // cycles of `alone` that are still to be done
  };
  using Queue = std::deque<Queued>;

  isa::ethos_u::OperationTiming timing_of(const Operation& operation, const Memory& memory) const;
  double header_cycles(const Operation& operation, const Memory& memory) const;
  void enqueue(Queue& queue, TimedCommand command, int64_t most);
  // Until the processor has the commands that it has met.
  void read_commands();
  // Lets time pass until at most `left` of the queue are under way.
  void drain(Queue& queue, size_t left, uint32_t offset);
  void pass();
  void complete(Queue& queue);

  const isa::ethos_u::NpuTiming* npu_;
  isa::ethos_u::MemorySystem memories_;
  std::vector<TimedCommand> commands_;
  std::vector<Stall> stalls_;
  CycleTotals totals_;
  DecodedCommand last_;
  Queue operations_, transfers_;
  struct {
    double left = 0, port_share = 0;
  } reading_;
  uint64_t unread_words_ = 0;
  bool has_read_ = false;  // the first commands have arrived
  double now_ = 0;
  double last_drain_ = 0;  // of the operation that was started last
};

}  // namespace intarsia::simulators::ethos_u
