// Reading a stream of the Ethos-U85: words into commands, and the registers that commands set. Registers keep their values:
// an operation is what all of them say when its OP command is met.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "intarsia/targets/ethos_u/fault.h"
#include "intarsia/targets/ethos_u85/isa.h"

namespace intarsia::simulators::ethos_u85 {

using ethos_u::Cause;
using ethos_u::Fault;

struct DecodedCommand {
  Command command = Command::OP_STOP;
  uint32_t offset = 0;  // in the stream, bytes
  uint32_t words = 1;
  uint16_t parameter = 0;
  uint32_t payload = 0;

  int32_t get(const FieldRow& row) const {
    return static_cast<int32_t>(row.get(row.of_payload ? payload : parameter));
  }
  // Of the form Address: 40 bits.
  uint64_t address() const { return uint64_t{parameter & 0xFFu} << 32 | payload; }
};

// The command at byte `offset` of the stream. Every bit is looked at: what no table names is a fault.
std::optional<Fault> decode(std::span<const uint8_t> stream, uint32_t offset,
                            DecodedCommand& decoded);

class CommandState {
 public:
  void apply(const DecodedCommand& command) {
    values_[index(command.command)] = {true, command.parameter, command.payload};
  }

  bool known(Command command) const { return values_[index(command)].known; }
  int64_t get(const FieldRow& row) const {
    const Value& value = values_[index(row.command)];
    return row.get(row.of_payload ? value.payload : value.parameter);
  }
  uint64_t address(Command command) const {
    const Value& value = values_[index(command)];
    return uint64_t{value.parameter & 0xFFu} << 32 | value.payload;
  }
  // Forty bits in two's complement.
  int64_t stride(Command command) const {
    return static_cast<int64_t>(address(command) << 24) >> 24;
  }
  uint32_t payload(Command command) const { return values_[index(command)].payload; }

 private:
  struct Value {
    bool known = false;
    uint16_t parameter = 0;
    uint32_t payload = 0;
  };
  static size_t index(Command command) { return static_cast<size_t>(command); }

  std::array<Value, kCommandCount> values_;
};

}  // namespace intarsia::simulators::ethos_u85
