#include "commands/stream_builder.h"

namespace intarsia::targets::ethos_n {
namespace {

void append_word(std::vector<uint8_t>& bytes, size_t value) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

}  // namespace

AgentRecord& AgentRecord::set(const AgentField& field, uint32_t value) {
  INTARSIA_CHECK(bytes_[0] == static_cast<uint8_t>(field.agent),
                 "fields are those of the agent's type");
  INTARSIA_CHECK(field.bytes == 4 || value >> (8 * field.bytes) == 0,
                 "values of agents fit their field");
  for (size_t i = 0; i < field.bytes; ++i)
    bytes_[field.byte + i] = static_cast<uint8_t>(value >> (8 * i));
  return *this;
}

CommandWords::CommandWords(CommandType type)
    : words_(words_of(command_rows()[static_cast<size_t>(type)].shape), 0) {
  words_[0] = static_cast<uint32_t>(type);
}

uint32_t StreamBuilder::add_agent(const AgentRecord& agent) {
  agents_.push_back(agent);
  return static_cast<uint32_t>(agents_.size() - 1);
}

void StreamBuilder::wait(Queue queue, const Event& event) {
  if (hazards_.wait(static_cast<int32_t>(queue), static_cast<int32_t>(event.counter), event.value))
    append_wait(queue, event);
}

void StreamBuilder::append_wait(Queue queue, const Event& event) {
  append(queue, CommandWords(CommandType::WaitForCounter)
                    .set(word::Wait_counter, static_cast<uint32_t>(event.counter))
                    .set(word::Wait_value, event.value));
}

void StreamBuilder::append(Queue queue, const CommandWords& command) {
  queues_[static_cast<size_t>(queue)].push_back(command);
}

Event StreamBuilder::issue(Queue queue, const CommandWords& command, Counter counter,
                           const std::vector<Access>& accesses) {
  const std::vector<int64_t> ended = hazards_.waits_before(static_cast<int32_t>(queue), accesses);
  for (size_t i = 0; i < kCounters; ++i)
    if (ended[i] > 0)
      append_wait(queue, {static_cast<Counter>(i), static_cast<uint32_t>(ended[i])});
  append(queue, command);
  return {counter, static_cast<uint32_t>(hazards_.issue(static_cast<int32_t>(counter), accesses))};
}

Event StreamBuilder::transfer(Queue queue, const CommandWords& command,
                              const std::vector<Access>& accesses) {
  return issue(queue, command, queue == Queue::DmaRd ? Counter::DmaRd : Counter::DmaWr, accesses);
}
Event StreamBuilder::start_mce(const CommandWords& command, const std::vector<Access>& accesses) {
  return issue(Queue::Mce, command, Counter::MceStripe, accesses);
}
Event StreamBuilder::start_ple(const CommandWords& command, const std::vector<Access>& accesses) {
  return issue(Queue::Ple, command, Counter::PleStripe, accesses);
}
Event StreamBuilder::load_kernel_into_ple(const CommandWords& command,
                                          const std::vector<Access>& accesses) {
  const Event event = issue(Queue::Ple, command, Counter::PleCodeLoadedIntoPleSram, accesses);
  wait(Queue::Ple, event);
  return event;
}
Event StreamBuilder::config_mceif(const CommandWords& command) {
  append(Queue::Mce, command);
  const auto number = hazards_.issue(static_cast<int32_t>(Counter::Mceif), {});
  return {Counter::Mceif, static_cast<uint32_t>(number)};
}

// The four words of the magic, then what the offsets are relative to: a header, agents, and one list
// of commands for each queue.
std::vector<uint8_t> StreamBuilder::finish() const {
  std::array<size_t, kQueues> list_at = {};
  const auto header = static_cast<size_t>(kStreamHeaderBytes);
  size_t at = header + agents_.size() * static_cast<size_t>(kAgentWords) * 4;
  for (size_t q = 0; q < kQueues; ++q) {
    list_at[q] = at;
    for (const CommandWords& command : queues_[q]) at += 4 * command.words().size();
  }
  std::vector<uint8_t> bytes;
  for (const int64_t value : {kStreamMagic, kStreamMajor, int64_t{0}, int64_t{0}})
    append_word(bytes, static_cast<size_t>(value));
  append_word(bytes, at);
  append_word(bytes, header);
  append_word(bytes, agents_.size());
  for (size_t q = 0; q < kQueues; ++q)
    append_word(bytes, list_at[q]), append_word(bytes, queues_[q].size());
  for (const AgentRecord& agent : agents_)
    bytes.insert(bytes.end(), agent.bytes().begin(), agent.bytes().end());
  for (const std::vector<CommandWords>& queue : queues_)
    for (const CommandWords& command : queue)
      for (const uint32_t value : command.words()) append_word(bytes, value);
  return bytes;
}

}  // namespace intarsia::targets::ethos_n
