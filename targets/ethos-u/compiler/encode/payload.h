// The driver payload around a command stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hardware/hardware.h"

namespace intarsia::targets::ethos_u {

std::vector<uint8_t> make_payload(const Hardware& hardware, std::span<const uint32_t> stream);

}  // namespace intarsia::targets::ethos_u
