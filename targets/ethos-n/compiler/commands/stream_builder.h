// Writes a command stream. Commands come in an order in which they could run one after another; the
// builder puts a WaitForCounter before each that must not overtake an earlier one, from the memory
// that they read and write. Since every wait is for an earlier command, no stream can deadlock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "intarsia/npu/hazards.h"
#include "program/tables.h"

namespace intarsia::targets::ethos_n {

class AgentRecord {
 public:
  explicit AgentRecord(AgentType type) : bytes_{} { bytes_[0] = static_cast<uint8_t>(type); }
  AgentRecord& set(const AgentField& field, uint32_t value);
  const std::array<uint8_t, kAgentWords * 4>& bytes() const { return bytes_; }

 private:
  std::array<uint8_t, kAgentWords * 4> bytes_;
};

class CommandWords {
 public:
  explicit CommandWords(CommandType type);
  CommandWords& set(size_t word, uint32_t value) {
    words_.at(word) = value;
    return *this;
  }
  CommandWords& add(size_t word, uint32_t field) {
    words_.at(word) |= field;
    return *this;
  }
  const std::vector<uint32_t>& words() const { return words_; }
  CommandType type() const { return static_cast<CommandType>(words_[0]); }

 private:
  std::vector<uint32_t> words_;
};

// Bytes of one memory: SRAM (the same bytes of every bank), or a DRAM that buffers share.
using Access = npu::MemoryAccess;
inline constexpr int32_t kSramMemory = -1;

struct Event {
  Counter counter = Counter::DmaRd;
  uint32_t value = 0;
};

class StreamBuilder {
 public:
  uint32_t add_agent(const AgentRecord& agent);

  // Commands that complete later and count then.
  Event transfer(Queue queue, const CommandWords& command, const std::vector<Access>& accesses);
  Event start_mce(const CommandWords& command, const std::vector<Access>& accesses);
  Event start_ple(const CommandWords& command, const std::vector<Access>& accesses);
  Event load_kernel_into_ple(const CommandWords& command, const std::vector<Access>& accesses);
  // Those that are done when they are reached.
  void append(Queue queue, const CommandWords& command);
  Event config_mceif(const CommandWords& command);

  void wait(Queue queue, const Event& event);
  uint32_t count(Counter counter) const {
    return static_cast<uint32_t>(hazards_.issued(static_cast<int32_t>(counter)));
  }

  std::vector<uint8_t> finish() const;  // "ENCS"

 private:
  void append_wait(Queue queue, const Event& event);
  Event issue(Queue queue, const CommandWords& command, Counter counter,
              const std::vector<Access>& accesses);

  std::vector<AgentRecord> agents_;
  std::array<std::vector<CommandWords>, kQueues> queues_;
  npu::HazardTracker hazards_{std::vector<int32_t>(kCounters, 0), static_cast<int32_t>(kQueues)};
};

}  // namespace intarsia::targets::ethos_n
