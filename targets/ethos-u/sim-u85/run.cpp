#include "intarsia/targets/ethos_u85/run.h"

#include "intarsia/targets/ethos_u85/execute.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

class U85Runner {
 public:
  U85Runner(const Configuration& configuration, Memory& memory, Observer& observer,
            uint64_t max_macs)
      : configuration_(configuration), memory_(memory), observer_(observer), max_macs_(max_macs) {}

  Outcome run(std::span<const uint8_t> stream) {
    while (!outcome_.stopped && !outcome_.fault) {
      DecodedCommand command;
      outcome_.fault = decode(stream, outcome_.read_bytes, command);
      if (outcome_.fault) break;
      outcome_.read_bytes += 4 * command.words;
      outcome_.fault = step(command);
      if (outcome_.fault && outcome_.fault->command.empty()) {
        outcome_.fault->offset = command.offset;
        outcome_.fault->command = row_of(command.command).name;
      }
    }
    return outcome_;
  }

 private:
  std::optional<Fault> step(const DecodedCommand& command) {
    switch (command.command) {
      case Command::OP_STOP:
        outcome_.irq_history |= static_cast<uint16_t>(command.get(field::OP_STOP_mask));
        outcome_.interrupt = outcome_.stopped = true;
        observer_.stop(command);
        return std::nullopt;
      case Command::OP_IRQ:
        outcome_.irq_history |= static_cast<uint16_t>(command.get(field::OP_IRQ_mask));
        outcome_.interrupt = true;
        return std::nullopt;
      case Command::OP_CONV:
      case Command::OP_DEPTHWISE:
      case Command::OP_POOL:
      case Command::OP_ELEMENTWISE:
      case Command::OP_RESIZE:
        return operation(command);
      case Command::OP_DMA_START:
        return transfer(command);
      case Command::OP_DMA_WAIT:
        observer_.wait({command.offset, WaitKind::Dma, command.get(field::OP_DMA_WAIT_k)});
        return std::nullopt;
      case Command::OP_KERNEL_WAIT:
        observer_.wait({command.offset, WaitKind::Kernel, command.get(field::OP_KERNEL_WAIT_n)});
        return std::nullopt;
      case Command::OP_PMU_MASK:
        return std::nullopt;
      case Command::OP_BRANCH:
        return branch(command);
      default:
        state_.apply(command);
        return std::nullopt;
    }
  }

  // Without knowledge of the flag there is nothing to end a loop: branches go forwards, and always.
  std::optional<Fault> branch(const DecodedCommand& command) {
    const auto target = static_cast<uint32_t>(command.payload);
    if (command.get(field::OP_BRANCH_branch_cond) != value::branch_cond_ALWAYS)
      return Fault{Cause::Stream, 0, "",
                   "what sets the flag that this branch depends on is not known"};
    if (target < outcome_.read_bytes)
      return Fault{Cause::Stream, 0, "", "a branch backwards that is always taken never ends"};
    outcome_.read_bytes = target;
    return std::nullopt;
  }

  std::optional<Fault> operation(const DecodedCommand& command) {
    Operation op;
    if (auto fault = make_operation(state_, command, configuration_, op)) return fault;
    op.index = operations_++;
    observer_.before(op, memory_);
    if (auto fault = execute(op, configuration_, memory_, machine_, max_macs_)) return fault;
    observer_.after(op, memory_);
    return std::nullopt;
  }

  std::optional<Fault> transfer(const DecodedCommand& command) {
    DmaTransfer dma;
    if (auto fault = make_transfer(state_, command, dma)) return fault;
    dma.index = transfers_++;
    observer_.before(dma, memory_);
    if (auto fault = execute(dma, memory_)) return fault;
    observer_.after(dma, memory_);
    return std::nullopt;
  }

  const Configuration& configuration_;
  Memory& memory_;
  Observer& observer_;
  uint64_t max_macs_;
  CommandState state_;
  Machine machine_;
  Outcome outcome_;
  uint32_t operations_ = 0, transfers_ = 0;
};

}  // namespace

Outcome run(std::span<const uint8_t> stream, const Configuration& configuration, Memory& memory,
            Observer* observer, uint64_t max_macs) {
  Observer nobody;
  return U85Runner(configuration, memory, observer != nullptr ? *observer : nobody, max_macs)
      .run(stream);
}

}  // namespace intarsia::simulators::ethos_u85
