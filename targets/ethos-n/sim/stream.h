// The command stream ENCS 8.0.0: agents and four lists of commands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_n/fault.h"
#include "intarsia/targets/ethos_n/isa.h"

namespace intarsia::simulators::ethos_n {

struct AgentRecord {
  Agent type = Agent::IFM_STREAMER;
  std::array<uint8_t, kAgentWords* 4> bytes = {};

  uint32_t get(const AgentFieldRow& field) const {
    uint32_t value = 0;
    for (uint32_t i = 0; i < field.bytes; ++i)
      value |= static_cast<uint32_t>(bytes[field.byte + i]) << (8 * i);
    return value;
  }
};

struct CommandRecord {
  Command command = Command::WaitForCounter;
  std::vector<uint32_t> words;

  uint32_t operator[](uint32_t index) const { return words[index]; }
};

struct Stream {
  std::vector<AgentRecord> agents;
  std::array<std::vector<CommandRecord>, kQueues> queues;
};

// Afterwards every command has its words, stands in a queue that takes it and names an agent of the
// type it needs.
std::optional<Fault> read_stream(std::span<const uint8_t> bytes, Stream& stream);

std::string place_of(Queue queue, size_t index, const CommandRecord& command);

}  // namespace intarsia::simulators::ethos_n
