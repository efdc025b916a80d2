// Why a run stopped, or why a stream cannot be read.
#pragma once

#include <cstdint>
#include <string>

namespace intarsia::simulators::ethos_u {

enum class Cause {
  Stream,         // no command, or one that the device does not have: STATUS.cmd_parse_error
  Operand,        // registers that make no operation together: likewise
  Bus,            // an access outside of a region or of SHRAM: STATUS.bus_status
  WeightDecoder,  // a broken weight stream: STATUS.wd_fault
};

struct Fault {
  Cause cause = Cause::Stream;
  uint32_t offset = 0;  // of the command in the stream, bytes
  std::string command;  // its name; may be empty
  std::string what;     // one sentence, lower case

  // "command OP_CONV at 0x148: ..."
  std::string to_string() const;
};

}  // namespace intarsia::simulators::ethos_u
