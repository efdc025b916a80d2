#include "intarsia/targets/ethos_u85/isa.h"

#include <bit>

namespace intarsia::simulators::ethos_u85 {
namespace {

constexpr Form Address = Form::Address, Length = Form::Length, Fields = Form::Fields;

constexpr CommandRow kU85Commands[] = {
#define COMMAND0(name, code) {#name, code, Form::OneWord},
#define COMMAND1(name, code, payload) {#name, code, payload},
#include "intarsia/targets/ethos_u/u85_commands.def"
};

constexpr FieldRow kU85Fields[] = {
#define FIELD(command, name, low_bit, bits, sign, values) field::command##_##name,
#define PAYLOAD_FIELD(command, name, low_bit, bits, sign, values) field::command##_##name,
#include "intarsia/targets/ethos_u/u85_commands.def"
};

constexpr Configuration kU85Configurations[] = {
#define U85_CONFIGURATION(tag, macs, sram_ports, other_ports, decoders) \
  {tag, macs, sram_ports, other_ports, decoders},
#include "intarsia/targets/ethos_u/u85_configurations.def"
};

struct U85ConfigField {
  uint32_t low_bit, bits;
  uint32_t of(uint32_t word) const { return word >> low_bit & ((1u << bits) - 1); }
  uint32_t at(uint32_t value) const { return value << low_bit; }
};
#define U85_CONFIG_FIELD(name, low_bit, bits) \
  [[maybe_unused]] constexpr U85ConfigField config_##name{low_bit, bits};
#include "intarsia/targets/ethos_u/u85_configurations.def"

struct U85Architecture {
  uint32_t major, minor, patch, commands;
};
constexpr U85Architecture kU85Architecture =
#define U85_ARCHITECTURE(major, minor, patch, commands) \
  { major, minor, patch, commands }
#include "intarsia/targets/ethos_u/u85_configurations.def"
    ;

constexpr uint32_t kU85Product = 2;

struct MicroBlockRow {
  int32_t macs, value, height, width, depth;
};
constexpr MicroBlockRow kMicroBlocks[] = {
#define U85_MICROBLOCK(macs, shape, height, width, depth) \
  {macs, value::microblock_##shape, height, width, depth},
#include "intarsia/targets/ethos_u/u85_configurations.def"
};

uint32_t logarithm(int32_t value) {
  return static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(value))) - 1;
}

}  // namespace

uint32_t Configuration::config_word() const {
  return config_macs_per_cc.at(logarithm(macs)) |
         config_cmd_stream_version.at(kU85Architecture.commands) |
         config_num_axi_sram.at(logarithm(sram_ports)) |
         config_num_axi_ext.at(logarithm(other_ports)) | config_num_wd.at(logarithm(decoders)) |
         config_product.at(kU85Product);
}

uint32_t Configuration::id_word() const {
  return kU85Architecture.major << 28 | kU85Architecture.minor << 20 | kU85Architecture.patch << 16;
}

std::span<const Configuration> configurations() {
  return kU85Configurations;
}

const Configuration* find_configuration(std::string_view tag) {
  for (const Configuration& configuration : kU85Configurations)
    if (configuration.tag == tag) return &configuration;
  return nullptr;
}

const Configuration* find_configuration(uint32_t config_word) {
  if (!is_u85(config_word)) return nullptr;
  for (const Configuration& configuration : kU85Configurations)
    if (logarithm(configuration.macs) == config_macs_per_cc.of(config_word)) return &configuration;
  return nullptr;
}

bool is_u85(uint32_t config_word) {
  return config_product.of(config_word) == kU85Product;
}

uint32_t command_version_of(uint32_t config_word) {
  return config_cmd_stream_version.of(config_word);
}

uint32_t command_version() {
  return kU85Architecture.commands;
}

uint32_t architecture_major() {
  return kU85Architecture.major;
}

int64_t accumulator_bytes(const Configuration& configuration) {
#define U85_ACCUMULATORS(its_macs, bytes) \
  if (configuration.macs == (its_macs)) return bytes;
#include "intarsia/targets/ethos_u/u85_configurations.def"
  return 0;
}

std::optional<MicroBlock> micro_block(const Configuration& configuration, int32_t value) {
  for (const MicroBlockRow& row : kMicroBlocks)
    if (row.macs == configuration.macs && row.value == value)
      return MicroBlock{row.height, row.width, row.depth};
  return std::nullopt;
}

std::span<const CommandRow> command_table() {
  return kU85Commands;
}

std::span<const FieldRow> field_table() {
  return kU85Fields;
}

}  // namespace intarsia::simulators::ethos_u85
