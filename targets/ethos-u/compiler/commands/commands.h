// Commands of the stream as names and numbers, from the table in isa/.
#pragma once

#include <array>
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

// Names of what the commands of IFM, IFM2 and OFM have alike.
struct MapCommands {
  std::array<std::string_view, 4> bases;  // of the tiles
  std::string_view width0_m1, height0_m1, height1_m1, stride_c, stride_y, stride_x, zero_point,
      precision;
};
#define INTARSIA_MAP_COMMANDS(map)                                                        \
  {                                                                                       \
    {"SET_" map "_BASE0", "SET_" map "_BASE1", "SET_" map "_BASE2", "SET_" map "_BASE3"}, \
        "SET_" map "_WIDTH0_M1", "SET_" map "_HEIGHT0_M1", "SET_" map "_HEIGHT1_M1",      \
        "SET_" map "_STRIDE_C", "SET_" map "_STRIDE_Y", "SET_" map "_STRIDE_X",           \
        "SET_" map "_ZERO_POINT", "SET_" map "_PRECISION"                                 \
  }
inline constexpr MapCommands kIfm = INTARSIA_MAP_COMMANDS("IFM"),
                             kIfm2 = INTARSIA_MAP_COMMANDS("IFM2"),
                             kOfm = INTARSIA_MAP_COMMANDS("OFM");
#undef INTARSIA_MAP_COMMANDS

// A register's value in one number: the parameter of a one-word command; the payload, and above its 32
// bits the parameter, of others.
constexpr int64_t with_payload(uint32_t parameter, uint32_t payload) {
  return static_cast<int64_t>(uint64_t{parameter} << 32 | payload);
}

}  // namespace intarsia::targets::ethos_u
