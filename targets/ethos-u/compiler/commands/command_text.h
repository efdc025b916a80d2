// Commands of the stream as text, one line each, read with the tables of isa/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace intarsia::targets::ethos_u {

// A command as it stands in the stream.
struct RawCommand {
  uint32_t word = 0;
  uint32_t payload = 0;
  bool has_payload = false;
  std::string_view name;  // of isa/commands.def, without a prefix; empty: none has this code
  // Parameter and payload as one number: the address, or the parameter where there is no payload.
  uint64_t value() const;
  uint32_t parameter() const { return word >> 16; }
  size_t words() const { return has_payload ? 2 : 1; }
};

// The command at the beginning of `words`, which is not empty. A payload that is cut off reads as
// zero and leaves `words()` larger than what is there.
RawCommand read_command(std::span<const uint32_t> words);

// The value of a field of isa/commands.def; signs extended. 0 when the command has no such field.
int64_t field_of(const RawCommand& command, std::string_view field);
// How the enumeration of a field calls its value; empty when it has no name for it.
std::string_view enumerator_of(const RawCommand& command, std::string_view field);

// Bits set that no field names: the device calls that a command it does not understand.
uint32_t stray_bits(const RawCommand& command);

// "SET_OFM_PRECISION       SIGNED B8 NHCWB16 PER_CHANNEL TFL".
std::string command_text(const RawCommand& command);

}  // namespace intarsia::targets::ethos_u
