// What the scheduler and the stream writer know of a member of the family.
#pragma once

#include <cstdint>
#include <string_view>

#include "intarsia/target.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

struct Granules {
  int32_t ifm8, ifm16, elementwise8, elementwise16, ifm32, acc16, acc32, acc40;  // SHRAM banks
};

struct Hardware {
  std::string_view tag;
  bool is_u65 = false;
  int32_t macs = 0;  // of all cores
  int32_t cores = 1;
  Extent ofm_ublock, ifm_ublock;
  int32_t elementwise_units = 1;
  int32_t banks = 0;  // SHRAM of a core, of kShramBankBytes each
  Granules granules = {};
  int32_t outstanding_dma = 1, outstanding_kernels = 2;

  // Banks at the end that operations may not use; they hold the look-up tables.
  int32_t reserved_banks() const;
  // The first byte of the look-up tables in SHRAM.
  int64_t lut_address() const;
};

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/ethos_u/constants.def"
#undef CONSTANT

inline int64_t element_bytes(DataType type) {
  return bits(type) / 8;
}

const Hardware& hardware_of(const Target& device);
// By tag ("ethos-u55-128"); checked to exist.
const Hardware& hardware_named(std::string_view tag);

}  // namespace intarsia::targets::ethos_u
