// zlib's CRC-32, four bits at a time: 64 bytes of table instead of 1024.
#pragma once

#include <cstdint>

namespace intarsia::rt {

uint32_t crc32(const uint8_t* bytes, uint32_t size);

}  // namespace intarsia::rt
