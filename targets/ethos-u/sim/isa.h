// The tables of isa/ as the simulator reads them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace intarsia::simulators::ethos_u {

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/ethos_u/constants.def"
#undef CONSTANT

enum class Product : uint8_t {
#define PRODUCT(name, ...) name,
#define CONFIGURATION(...)
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
};

struct ProductRow {
  Product product;
  uint32_t number;  // in CONFIG
  uint32_t address_bits, axi_bits;
  uint32_t outstanding_dma, outstanding_kernels;
  uint32_t id_word;
};

struct Block {
  int32_t width = 0, height = 0, depth = 0;
  bool operator==(const Block&) const = default;
};

struct Granules {  // SHRAM banks
  int32_t ifm8, ifm16, ifm8_elementwise, ifm16_elementwise, ifm32, acc16, acc32, acc40;
};

struct Configuration {
  std::string_view tag;
  Product product;
  int32_t macs;  // of all cores
  int32_t cores;
  Block ofm_ublock, ifm_ublock;
  int32_t elementwise_units;
  int32_t shram_kib;  // of one core
  Granules granules;

  const ProductRow& row() const;
  uint32_t config_word() const;  // register CONFIG
  uint32_t id_word() const;      // register ID
  int64_t shram_bytes() const { return int64_t{shram_kib} * 1024; }
  int64_t lut_base() const { return shram_bytes() - kLutBytes; }
};

std::span<const Configuration> configurations();
const Configuration* find_configuration(std::string_view tag);  // "ethos-u55-128"; null: none
const Configuration* find_configuration(uint32_t config_word);  // by MACs and product; null: none

// ---- Commands ----
enum class Command : uint8_t {
#define COMMAND0(name, ...) name,
#define COMMAND1(name, ...) name,
#define FIELD(...)
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
};

enum class Form : uint8_t { OneWord, Address, Length, Multiplier };

struct CommandRow {
  const char* name;
  uint16_t code;
  Form form;
  bool u65_only;
};

// In the order of the enum.
std::span<const CommandRow> command_table();
inline const CommandRow& row_of(Command command) {
  return command_table()[static_cast<size_t>(command)];
}
inline constexpr size_t kCommandCount = 0
#define COMMAND0(...) +1
#define COMMAND1(...) +1
#include "intarsia/targets/ethos_u/commands.def"
    ;
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR

struct FieldRow {
  Command command;
  const char* name;
  uint8_t low_bit, bits;
  bool is_signed;

  constexpr uint32_t mask() const { return ((1u << bits) - 1) << low_bit; }
  // From the parameter of the command.
  constexpr int32_t get(uint16_t parameter) const {
    const auto value = static_cast<int32_t>((parameter & mask()) >> low_bit);
    return is_signed && (value >> (bits - 1)) != 0 ? value - (1 << bits) : value;
  }
};

std::span<const FieldRow> field_table();

namespace field {  // field::SET_IFM_PRECISION_activation_type
inline constexpr bool Signed = true, Unsigned = false;
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(command, name, low_bit, bits, sign, values) \
  inline constexpr FieldRow command##_##name{Command::command, #name, low_bit, bits, sign};
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef FIELD
#undef ENUMERATOR
}  // namespace field

namespace value {  // value::round_mode_TFL
#define FIELD(...)
#define ENUMERATOR(group, name, number) inline constexpr int32_t group##_##name = number;
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
}  // namespace value

// ---- Registers ----
namespace reg {  // byte offsets: reg::QBASE_LO
#define REGISTER(name, offset, access, reset) inline constexpr uint32_t name = offset;
#define REGISTER_FIELD(...)
#define PMU_EVENT(...)
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
}  // namespace reg

namespace bits {  // masks: bits::STATUS_irq_raised
#define REGISTER(...)
#define REGISTER_FIELD(name, field, low_bit, count) \
  inline constexpr uint32_t name##_##field =        \
      static_cast<uint32_t>(((uint64_t{1} << (count)) - 1) << (low_bit));
#include "intarsia/targets/ethos_u/registers.def"
#undef REGISTER
#undef REGISTER_FIELD
#undef PMU_EVENT
}  // namespace bits

}  // namespace intarsia::simulators::ethos_u
