#include "intarsia/targets/ethos_n/stream.h"

#include <algorithm>
#include <cstring>

namespace intarsia::simulators::ethos_n {
namespace {

// The words of struct CommandStream behind the magic number.
enum Header : uint32_t { TotalSize, AgentsOffset, AgentCount, FirstQueueOffset, FirstQueueCount };
constexpr uint32_t kHeaderWords = kStreamHeaderBytes / 4;

uint32_t word_at(std::span<const uint8_t> bytes, size_t at) {
  return static_cast<uint32_t>(bytes[at]) | static_cast<uint32_t>(bytes[at + 1]) << 8 |
         static_cast<uint32_t>(bytes[at + 2]) << 16 | static_cast<uint32_t>(bytes[at + 3]) << 24;
}

Fault damaged(std::string what, std::string where = "") {
  return {Cause::Stream, std::move(where), std::move(what)};
}

// Index of the word that names an agent: 1 in all commands but WaitForCounter.
bool fits(Command command, Agent agent) {
  switch (command) {
    case Command::WaitForCounter:
      return true;
    case Command::LoadIfmStripe:
      return agent == Agent::IFM_STREAMER;
    case Command::LoadWgtStripe:
      return agent == Agent::WGT_STREAMER;
    case Command::ProgramMceStripe:
    case Command::ConfigMceif:
    case Command::StartMceStripe:
      return agent == Agent::MCE_SCHEDULER;
    case Command::LoadPleCodeIntoSram:
      return agent == Agent::PLE_LOADER;
    case Command::LoadPleCodeIntoPleSram:
    case Command::StartPleStripe:
      return agent == Agent::PLE_SCHEDULER;
    case Command::StoreOfmStripe:
      return agent == Agent::OFM_STREAMER;
  }
  return false;
}

std::optional<Fault> read_queue(std::span<const uint8_t> body, uint32_t offset, uint32_t count,
                                Queue queue, const std::vector<AgentRecord>& agents,
                                std::vector<CommandRecord>& commands) {
  size_t at = offset;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string where =
        "command " + std::to_string(i) + " of queue " + std::string(name_of(queue));
    if (at % 4 != 0 || at > body.size() || body.size() - at < 4)
      return damaged("it lies outside of the stream", where);
    const uint32_t number = word_at(body, at);
    if (number >= command_table().size())
      return damaged("there is no command " + std::to_string(number), where);
    const CommandRow& row = command_table()[number];
    if (row.queue != Queue::AnyQueue && row.queue != queue)
      return damaged(std::string(row.name) + " belongs to queue " + std::string(name_of(row.queue)),
                     where);
    if (body.size() - at < size_t{row.words} * 4)
      return damaged(std::string(row.name) + " is longer than the stream", where);
    CommandRecord record{static_cast<Command>(number), {}};
    for (uint32_t w = 0; w < row.words; ++w) record.words.push_back(word_at(body, at + w * 4));
    if (record.command == Command::WaitForCounter) {
      if (record[word::Wait_counter] >= kCounters)
        return damaged("there is no counter " + std::to_string(record[word::Wait_counter]), where);
    } else if (record[word::Dma_agent] >= agents.size() ||
               !fits(record.command, agents[record[word::Dma_agent]].type)) {
      return damaged(std::string(row.name) + " names agent " +
                         std::to_string(record[word::Dma_agent]) + ", which is none for it",
                     where);
    }
    commands.push_back(std::move(record));
    at += size_t{row.words} * 4;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> read_stream(std::span<const uint8_t> bytes, Stream& stream) {
  if (bytes.size() < kStreamMagicBytes + kStreamHeaderBytes ||
      std::memcmp(bytes.data(), "ENCS", 4) != 0)
    return damaged("this is no command stream: it does not begin with ENCS");
  if (word_at(bytes, 4) != kStreamMajor)
    return damaged("ENCS version " + std::to_string(word_at(bytes, 4)) + " is not " +
                   std::to_string(kStreamMajor));
  std::span<const uint8_t> body = bytes.subspan(kStreamMagicBytes);
  std::array<uint32_t, kHeaderWords> header = {};
  for (uint32_t i = 0; i < kHeaderWords; ++i) header[i] = word_at(body, i * 4);
  if (header[TotalSize] > body.size()) return damaged("the command stream ends early");
  body = body.first(header[TotalSize]);

  const size_t agent_bytes = kAgentWords * 4;
  if (header[AgentsOffset] > body.size() ||
      (body.size() - header[AgentsOffset]) / agent_bytes < header[AgentCount])
    return damaged("the agents lie outside of the stream");
  for (uint32_t i = 0; i < header[AgentCount]; ++i) {
    const auto record = body.subspan(header[AgentsOffset] + i * agent_bytes, agent_bytes);
    const uint32_t type = word_at(record, 0);
    if (type > static_cast<uint32_t>(Agent::OFM_STREAMER))
      return damaged("agent " + std::to_string(i) + " is of the unknown type " +
                     std::to_string(type));
    AgentRecord agent{static_cast<Agent>(type), {}};
    std::copy(record.begin(), record.end(), agent.bytes.begin());
    stream.agents.push_back(agent);
  }
  for (uint32_t q = 0; q < kQueues; ++q)
    if (auto fault =
            read_queue(body, header[FirstQueueOffset + 2 * q], header[FirstQueueCount + 2 * q],
                       static_cast<Queue>(q), stream.agents, stream.queues[q]))
      return fault;
  return std::nullopt;
}

std::string place_of(Queue queue, size_t index, const CommandRecord& command) {
  return "command " + std::to_string(index) + " of queue " + std::string(name_of(queue)) + ", " +
         std::string(command_table()[static_cast<size_t>(command.command)].name);
}

}  // namespace intarsia::simulators::ethos_n
