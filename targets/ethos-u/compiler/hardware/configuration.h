// The members of the family, Arm Ethos-U55 and Ethos-U65 (isa/configurations.def).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "intarsia/target.h"

namespace intarsia::targets::ethos_u {

// A member of the family: a row of isa/configurations.def.
struct Configuration {
  std::string_view tag;      // "ethos-u55-128"
  std::string_view product;  // "u55"
  int64_t macs;              // of all cores
  int64_t cores;
  int64_t shram_kib;  // of one core
};

std::span<const Configuration> configurations();
// Null for attributes that no member of the family has.
const Configuration* find_configuration(const Attributes& attributes);
// The one that the device is. The kind admits no others.
const Configuration& configuration_of(const Target& device);
// Whether sums may be rounded as the NPU does (-sums=npu); with confirmed encodings alone they are exact.
bool rounds_sums(const Target& device);

}  // namespace intarsia::targets::ethos_u
