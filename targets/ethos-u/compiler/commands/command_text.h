// Commands of the stream as text, one line each, read with the tables of isa/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace intarsia::targets::ethos_u {

// Whose commands a stream has: their codes overlap and mean other things.
enum class CommandSet : uint8_t { U55, U85 };  // the U55's are the U65's too

// A command as it stands in the stream.
struct RawCommand {
  CommandSet set = CommandSet::U55;
  uint32_t word = 0;
  uint32_t payload = 0;
  bool has_payload = false;
  std::string_view name;  // of isa/commands.def or isa/u85_commands.def; empty: none has this code
  // Parameter and payload as one number: the address, or the parameter where there is no payload.
  uint64_t value() const;
  uint32_t parameter() const { return word >> 16; }
  size_t words() const { return has_payload ? 2 : 1; }
};

// The command at the beginning of `words`, which is not empty. A payload that is cut off reads as
// zero and leaves `words()` larger than what is there.
RawCommand read_command(std::span<const uint32_t> words, CommandSet set = CommandSet::U55);

// The value of a field of the command's table; signs extended. 0 when the command has no such field.
int64_t field_of(const RawCommand& command, std::string_view field);
// How the enumeration of a field calls its value; empty when it has no name for it.
std::string_view enumerator_of(const RawCommand& command, std::string_view field);

// Bits set that no field names: the device calls that a command it does not understand. Of the first word, and of the second
// where that has fields.
uint32_t stray_bits(const RawCommand& command);
uint32_t stray_payload_bits(const RawCommand& command);

// "SET_OFM_PRECISION       SIGNED B8 NHCWB16 PER_CHANNEL TFL".
std::string command_text(const RawCommand& command);

}  // namespace intarsia::targets::ethos_u
