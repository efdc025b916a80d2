#include "disassembly/u85_device.h"

#include <string_view>

#include <fmt/format.h>

namespace intarsia::targets::ethos_u {
namespace {

struct ConfigField {
  uint32_t low_bit, bits;
  uint32_t of(uint32_t config) const { return (config >> low_bit) & ((uint32_t{1} << bits) - 1); }
};
#define U85_ARCHITECTURE(...)
#define U85_CONFIG_FIELD(name, low_bit, bits) \
  [[maybe_unused]] constexpr ConfigField k_##name = {low_bit, bits};
#define U85_CONFIGURATION(...)
#include "intarsia/targets/ethos_u/u85_configurations.def"
#undef U85_ARCHITECTURE
#undef U85_CONFIG_FIELD
#undef U85_CONFIGURATION

struct U85Configuration {
  std::string_view tag;
  uint32_t macs, sram_ports, other_ports, decoders;
};
constexpr U85Configuration kU85Configurations[] = {
#define U85_ARCHITECTURE(...)
#define U85_CONFIG_FIELD(...)
#define U85_CONFIGURATION(tag, macs, sram_ports, other_ports, decoders) \
  {tag, macs, sram_ports, other_ports, decoders},
#include "intarsia/targets/ethos_u/u85_configurations.def"
#undef U85_ARCHITECTURE
#undef U85_CONFIG_FIELD
#undef U85_CONFIGURATION
};

struct U85Architecture {
  uint32_t major, minor, patch, commands;
  bool operator==(const U85Architecture&) const = default;
};
constexpr U85Architecture kU85Architecture =
#define U85_ARCHITECTURE(major, minor, patch, commands) \
  { major, minor, patch, commands }
#define U85_CONFIG_FIELD(...)
#define U85_CONFIGURATION(...)
#include "intarsia/targets/ethos_u/u85_configurations.def"
#undef U85_ARCHITECTURE
#undef U85_CONFIG_FIELD
#undef U85_CONFIGURATION
    ;

}  // namespace

std::string u85_device_text(uint32_t config, uint32_t id) {
  const uint32_t macs = uint32_t{1} << k_macs_per_cc.of(config),
                 sram_ports = uint32_t{1} << k_num_axi_sram.of(config),
                 other_ports = uint32_t{1} << k_num_axi_ext.of(config),
                 decoders = uint32_t{1} << k_num_wd.of(config);
  const U85Architecture architecture = {id >> 28, id >> 20 & 255, id >> 16 & 15,
                                        k_cmd_stream_version.of(config)};
  std::string text = fmt::format(
      "ethos-u85-{}, {} to SRAM and {} to other memories, {}, architecture {}.{}.{}", macs,
      sram_ports == 1 ? "1 port" : fmt::format("{} ports", sram_ports), other_ports,
      decoders == 1 ? "1 weight decoder" : fmt::format("{} weight decoders", decoders),
      architecture.major, architecture.minor, architecture.patch);
  const U85Configuration* known = nullptr;
  for (const U85Configuration& row : kU85Configurations)
    if (row.macs == macs) known = &row;
  if (known == nullptr)
    text += "; there is no Ethos-U85 of so many MACs";
  else if (known->sram_ports != sram_ports || known->other_ports != other_ports ||
           known->decoders != decoders)
    text += fmt::format("; an {} has {}, {} and {} of these", known->tag, known->sram_ports,
                        known->other_ports, known->decoders);
  if (architecture.commands != kU85Architecture.commands)
    text += fmt::format("; commands of version {}, read as version {}", architecture.commands,
                        kU85Architecture.commands);
  else if (architecture.major != kU85Architecture.major)
    text += fmt::format("; read as architecture {}", kU85Architecture.major);
  return text;
}

}  // namespace intarsia::targets::ethos_u
