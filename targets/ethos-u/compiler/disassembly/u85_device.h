// What a payload says of the Ethos-U85 that its stream was made for, against the table of those that there are.
#pragma once

#include <cstdint>
#include <string>

namespace intarsia::targets::ethos_u {

inline constexpr uint32_t kU85Product = 2;  // CONFIG.product

// "ethos-u85-256, 2 ports to SRAM and 1 to other memories, 1 weight decoder, architecture 2.0.0", and what does not agree
// with isa/u85_configurations.def: of `config`, the register CONFIG, and of `id`, the architecture bits of ID.
std::string u85_device_text(uint32_t config, uint32_t id);

}  // namespace intarsia::targets::ethos_u
