// How many cycles a stream takes, and what goes over the ports: an observer of a run. What an operation asks for is
// operation_work.h's, what overlaps pipeline.h's. docs/ethos-u-timing.md states the model.
//
// The command processor reads the stream in order, over the port of the constants, and starts work. It stands still at a
// wait, and where the queue of what it wants to start is full.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "intarsia/targets/ethos_u/cycle_model.h"
#include "intarsia/targets/ethos_u/pipeline.h"
#include "intarsia/targets/ethos_u/timing.h"

namespace intarsia::simulators::ethos_u {

enum class TimedKind : uint8_t { Operation, Transfer };

// One operation or transfer on the timeline, in cycles since the stream began.
struct TimedCommand {
  TimedKind kind = TimedKind::Operation;
  uint32_t offset = 0;  // of the OP command in the stream
  Command command = Command::OP_CONV;
  uint16_t parameter = 0;
  double issued = 0;   // when the processor started it
  double started = 0;  // when it was its turn: those of a kind before it were complete
  double ended = 0;
  // Of an operation: busy cycles of the MAC array and of the output unit.
  int64_t macs = 0;
  double mac = 0, output = 0;
  PortCycles port_cycles = {};
  Traffic traffic = {};
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
  PortCycles port_cycles = {};
  Traffic traffic = {};
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
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

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
  double header_cycles(const Operation& operation, const Memory& memory) const;
  void add(TimedCommand command);
  // Until the processor has the commands that it has met.
  void read_commands();
  // Until at most `left` of a kind are under way.
  void make_room(TimedKind kind, size_t left, uint32_t offset);
  void end(size_t number);

  const Configuration* configuration_;
  const isa::ethos_u::NpuTiming* npu_;
  isa::ethos_u::MemorySystem memories_;
  Pipeline pipeline_;
  std::vector<TimedCommand> commands_;
  std::vector<Stall> stalls_;
  CycleTotals totals_;
  DecodedCommand last_;
  uint64_t unread_words_ = 0;
  bool has_read_ = false;             // the first commands have arrived
  std::array<double, 2> ended_ = {};  // when the last of a kind was complete
};

}  // namespace intarsia::simulators::ethos_u
