// The tables of isa/ for the Ethos-U85 as the simulator reads them. Its commands, fields and values are in namespaces of their
// own: codes that the U55 has, too, may mean something else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace intarsia::simulators::ethos_u85 {

// ---- Configurations ----
struct Configuration {
  std::string_view tag;  // "ethos-u85-256"
  int32_t macs;
  int32_t sram_ports, other_ports;
  int32_t decoders;  // of weights

  uint32_t config_word() const;  // register CONFIG
  uint32_t id_word() const;      // register ID, without the product's revision
};

std::span<const Configuration> configurations();
const Configuration* find_configuration(std::string_view tag);  // null: none
const Configuration* find_configuration(uint32_t config_word);  // by MACs and product; null: none
// Of the register CONFIG: whether it is an Ethos-U85's.
bool is_u85(uint32_t config_word);
uint32_t command_version_of(uint32_t config_word);
uint32_t command_version();  // that is simulated
uint32_t architecture_major();

// Rows, columns and channels of the OFM that are made at once.
struct MicroBlock {
  int32_t height = 0, width = 0, depth = 0;
};
// Of a value of ACC_FORMAT.microblock; nothing where the configuration has none.
std::optional<MicroBlock> micro_block(const Configuration& configuration, int32_t value);

// Bytes for the sums of a block.
int64_t accumulator_bytes(const Configuration& configuration);

// The memory of tables.
inline constexpr uint32_t kTableMemoryBytes = 2048;
inline constexpr uint32_t kScaleRecordBytes = 10;

// ---- Commands ----
enum class Command : uint8_t {
#define COMMAND0(name, ...) name,
#define COMMAND1(name, ...) name,
#include "intarsia/targets/ethos_u/u85_commands.def"
};

enum class Form : uint8_t { OneWord, Address, Length, Fields };

struct CommandRow {
  const char* name;
  uint16_t code;
  Form form;
};

// In the order of the enum.
std::span<const CommandRow> command_table();
inline const CommandRow& row_of(Command command) {
  return command_table()[static_cast<size_t>(command)];
}
inline constexpr size_t kCommandCount = 0
#define COMMAND0(...) +1
#define COMMAND1(...) +1
#include "intarsia/targets/ethos_u/u85_commands.def"
    ;

struct FieldRow {
  Command command;
  bool of_payload;  // the second word
  uint8_t low_bit, bits;
  bool is_signed;

  constexpr uint32_t mask() const {
    return static_cast<uint32_t>(((uint64_t{1} << bits) - 1) << low_bit);
  }
  constexpr int64_t get(uint32_t word) const {
    const int64_t value = (word & mask()) >> low_bit;
    return is_signed && (value >> (bits - 1)) != 0 ? value - (int64_t{1} << bits) : value;
  }
};

std::span<const FieldRow> field_table();

namespace field {  // field::SET_IFM_PRECISION_activation_type
inline constexpr bool Signed = true, Unsigned = false;
#define FIELD(command, name, low_bit, bits, sign, values) \
  inline constexpr FieldRow command##_##name{Command::command, false, low_bit, bits, sign};
#define PAYLOAD_FIELD(command, name, low_bit, bits, sign, values) \
  inline constexpr FieldRow command##_##name{Command::command, true, low_bit, bits, sign};
#include "intarsia/targets/ethos_u/u85_commands.def"
}  // namespace field

namespace value {  // value::round_mode_NATURAL
#define ENUMERATOR(group, name, number) inline constexpr int32_t group##_##name = number;
#include "intarsia/targets/ethos_u/u85_commands.def"
}  // namespace value

}  // namespace intarsia::simulators::ethos_u85
