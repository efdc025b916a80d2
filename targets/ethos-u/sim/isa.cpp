#include "intarsia/targets/ethos_u/isa.h"

#include <bit>
#include <cstdio>

#include "intarsia/targets/ethos_u/fault.h"

namespace intarsia::simulators::ethos_u {
namespace {

constexpr bool Any = false, U65 = true;
constexpr Form Address = Form::Address, Length = Form::Length, Multiplier = Form::Multiplier;

constexpr CommandRow kCommands[] = {
#define COMMAND0(name, code, products) {#name, code, Form::OneWord, products},
#define COMMAND1(name, code, payload, products) {#name, code, payload, products},
#define FIELD(...)
#define ENUMERATOR(...)
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
};

constexpr FieldRow kFields[] = {
#define COMMAND0(...)
#define COMMAND1(...)
#define FIELD(command, name, low_bit, bits, sign, values) field::command##_##name,
#include "intarsia/targets/ethos_u/commands.def"
#undef COMMAND0
#undef COMMAND1
#undef FIELD
#undef ENUMERATOR
};

constexpr ProductRow kProducts[] = {
#define PRODUCT(name, number, text, address_bits, axi_bits, dma, kernels, id) \
  {Product::name, number, address_bits, axi_bits, dma, kernels, id},
#define CONFIGURATION(...)
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
};

namespace granules {
#define PRODUCT(...)
#define CONFIGURATION(...)
#define GRANULES(name, ...) constexpr Granules name{__VA_ARGS__};
#include "intarsia/targets/ethos_u/configurations.def"
#undef CONFIGURATION
#undef GRANULES
}  // namespace granules

constexpr Configuration kConfigurations[] = {
#define CONFIGURATION(name, tag, product, macs, cores, ofm_w, ofm_h, ofm_c, ifm_w, ifm_h, ifm_c, \
                      elementwise_units, shram_kib)                                              \
  {tag,                                                                                          \
   Product::product,                                                                             \
   macs,                                                                                         \
   cores,                                                                                        \
   {ofm_w, ofm_h, ofm_c},                                                                        \
   {ifm_w, ifm_h, ifm_c},                                                                        \
   elementwise_units,                                                                            \
   shram_kib,                                                                                    \
   granules::name},
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
};

}  // namespace

const ProductRow& Configuration::row() const {
  return kProducts[static_cast<size_t>(product)];
}

uint32_t Configuration::config_word() const {
  return static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(macs)) - 1) |
         static_cast<uint32_t>(shram_kib * cores) << 8 | row().number << 28;
}

uint32_t Configuration::id_word() const {
  return row().id_word;
}

std::span<const Configuration> configurations() {
  return kConfigurations;
}

const Configuration* find_configuration(std::string_view tag) {
  for (const Configuration& configuration : kConfigurations)
    if (configuration.tag == tag) return &configuration;
  return nullptr;
}

const Configuration* find_configuration(uint32_t config_word) {
  const uint32_t identity = bits::CONFIG_macs_per_cc | bits::CONFIG_product;
  for (const Configuration& configuration : kConfigurations)
    if ((configuration.config_word() & identity) == (config_word & identity)) return &configuration;
  return nullptr;
}

std::span<const CommandRow> command_table() {
  return kCommands;
}

std::span<const FieldRow> field_table() {
  return kFields;
}

std::string Fault::to_string() const {
  char place[16];
  std::snprintf(place, sizeof place, "0x%x", offset);
  return "command " + (command.empty() ? "" : command + " ") + "at " + place + ": " + what;
}

}  // namespace intarsia::simulators::ethos_u
