#include "intarsia/targets/ethos_u/run.h"

#include "intarsia/targets/ethos_u/execute.h"

namespace intarsia::simulators::ethos_u {
namespace {

class Runner {
 public:
  Runner(const Configuration& configuration, Memory& memory, Observer* observer,
         const RunOptions& options)
      : configuration_(configuration),
        memory_(memory),
        observer_(observer),
        options_(options),
        state_(configuration.product) {}

  Outcome run(std::span<const uint8_t> stream) {
    while (!outcome_.stopped && !outcome_.fault) {
      DecodedCommand command;
      outcome_.fault = decode(stream, outcome_.read_bytes, configuration_.product, command);
      if (outcome_.fault) break;
      outcome_.read_bytes += 4 * command.words;
      if (observer_ != nullptr) observer_->command(command);
      outcome_.fault = step(command);
    }
    return outcome_;
  }

 private:
  std::optional<Fault> step(const DecodedCommand& command) {
    switch (command.command) {
      case Command::OP_STOP:
        outcome_.irq_history |= static_cast<uint16_t>(command.get(field::OP_STOP_mask));
        outcome_.interrupt = outcome_.stopped = true;
        if (observer_ != nullptr) observer_->stop(command);
        return std::nullopt;
      case Command::OP_IRQ:
        outcome_.irq_history |= static_cast<uint16_t>(command.get(field::OP_IRQ_mask));
        outcome_.interrupt = true;
        return std::nullopt;
      case Command::OP_CONV:
      case Command::OP_DEPTHWISE:
      case Command::OP_POOL:
      case Command::OP_ELEMENTWISE:
        return operation(command);
      case Command::OP_DMA_START:
        return transfer(command);
      case Command::OP_DMA_WAIT:
        wait({command.offset, WaitKind::Dma, command.get(field::OP_DMA_WAIT_k)});
        return std::nullopt;
      case Command::OP_KERNEL_WAIT:
        wait({command.offset, WaitKind::Kernel, command.get(field::OP_KERNEL_WAIT_n)});
        return std::nullopt;
      case Command::OP_PMU_MASK:
        if (observer_ != nullptr) observer_->pmu_mask(command.get(field::OP_PMU_MASK_enable) != 0);
        return std::nullopt;
      default:
        state_.apply(command);
        return std::nullopt;
    }
  }

  void wait(const Wait& wait) {
    if (observer_ != nullptr) observer_->wait(wait);
  }

  std::optional<Fault> operation(const DecodedCommand& command) {
    Operation op;
    if (auto fault = make_operation(state_, command, configuration_, op)) return fault;
    op.index = operations_++;
    if (observer_ != nullptr) observer_->before(op, memory_);
    if (options_.execute)
      if (auto fault = execute(op, configuration_, memory_, options_.max_macs)) {
        fault->offset = command.offset;
        fault->command = row_of(command.command).name;
        return fault;
      }
    if (observer_ != nullptr) observer_->after(op, memory_);
    return std::nullopt;
  }

  std::optional<Fault> transfer(const DecodedCommand& command) {
    DmaTransfer dma;
    if (auto fault = make_transfer(state_, command, dma)) return fault;
    dma.index = transfers_++;
    if (observer_ != nullptr) observer_->before(dma, memory_);
    if (options_.execute)
      if (auto fault = execute(dma, memory_)) {
        fault->offset = command.offset;
        fault->command = row_of(command.command).name;
        return fault;
      }
    if (observer_ != nullptr) observer_->after(dma, memory_);
    return std::nullopt;
  }

  const Configuration& configuration_;
  Memory& memory_;
  Observer* observer_;
  const RunOptions& options_;
  CommandState state_;
  Outcome outcome_;
  uint32_t operations_ = 0, transfers_ = 0;
};

}  // namespace

Outcome run(std::span<const uint8_t> stream, const Configuration& configuration, Memory& memory,
            Observer* observer, const RunOptions& options) {
  return Runner(configuration, memory, observer, options).run(stream);
}

}  // namespace intarsia::simulators::ethos_u
