// Reading compiled networks (ENCN), ours and Arm's: for the importer and `disasm`, and to know for which variant one was
// made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/result.h"
#include "program/tables.h"

namespace intarsia::targets::ethos_n {

struct FileBuffer {
  uint32_t id = 0, offset = 0, bytes = 0;
  std::string name;
};

struct NetworkFile {
  std::span<const uint8_t> dma_constants, control_constants;  // of the bytes that were read
  std::vector<FileBuffer> inputs, outputs, in_control_constants, in_dma_constants, intermediates;

  int64_t intermediate_bytes() const;
  int64_t buffers() const;  // one more than the largest number of one
};
bool is_network(std::span<const uint8_t> bytes);
Result<NetworkFile> read_network(std::span<const uint8_t> bytes);

struct StreamFile {
  struct Command {
    size_t offset = 0;  // in the stream
    CommandType type = CommandType::WaitForCounter;
    std::vector<uint32_t> words;
  };
  std::vector<std::vector<uint8_t>> agents;
  std::array<std::vector<Command>, kQueues> queues;
};
// Buffer 0 of the network.
Result<StreamFile> read_stream(const NetworkFile& network);

// Number of the variant whose kernels the stream names; -1: it names none.
int64_t variant_number(const StreamFile& stream);

// The bytes at `byte` of an agent's record.
uint32_t agent_value(std::span<const uint8_t> agent, const AgentField& field);

}  // namespace intarsia::targets::ethos_n
