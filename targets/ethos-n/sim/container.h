// The compiled network ENCN 2.0.0: constants, and the table of buffers that streams name by number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_n/fault.h"

namespace intarsia::simulators::ethos_n {

struct Buffer {
  uint32_t id = 0;
  uint32_t offset = 0, bytes = 0;  // in the memory of its kind
  std::string name;
};

struct Network {
  std::vector<uint8_t> dma_constants;      // weights
  std::vector<uint8_t> control_constants;  // the command stream
  std::vector<Buffer> inputs, outputs, in_control_constants, in_dma_constants, intermediates;

  // Buffer 0; empty when the network names none.
  std::span<const uint8_t> command_stream() const;
};

std::optional<Fault> read_network(std::span<const uint8_t> bytes, Network& network);

}  // namespace intarsia::simulators::ethos_n
