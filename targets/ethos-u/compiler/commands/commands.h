// Commands of the stream as names and numbers, from the table in isa/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace intarsia::targets::ethos_u {

enum class Payload : uint8_t { None, Address, Length, Multiplier };

struct CommandRow {
  std::string_view name;
  uint32_t code;  // bits 0..9 and the form in bits 14..15, as in the command word
  Payload payload;
  bool u65_only;
};

std::span<const CommandRow> command_table();
const CommandRow& command_named(std::string_view name);  // checked to exist
const CommandRow& command_of_code(uint32_t code);        // checked to exist

// A value of field `field` of `command` at its place in the parameter; the value is checked to fit.
uint32_t field_bits(std::string_view command, std::string_view field, int64_t value);
int64_t field_value(std::string_view command, std::string_view field, uint32_t parameter);
// Value of an enumerator: enumerator("pooling_mode", "MAX").
int64_t enumerator(std::string_view of, std::string_view name);

// A register's value in one number: the parameter of a one-word command; the payload, and above its 32
// bits the parameter, of others.
constexpr int64_t with_payload(uint32_t parameter, uint32_t payload) {
  return static_cast<int64_t>(uint64_t{parameter} << 32 | payload);
}

}  // namespace intarsia::targets::ethos_u
