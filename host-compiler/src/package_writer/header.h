// The sixteen bytes before a package's flatbuffer, and its checksum.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace intarsia::package_writer {

inline constexpr std::array<uint8_t, 4> kMagic = {'I', 'N', 'T', 'A'};
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kVersionAt = 4, kPayloadBytesAt = 8, kChecksumAt = 12;

inline constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) ? (value >> 1) ^ 0xEDB88320u : value >> 1;
    table[byte] = value;
  }
  return table;
}

// zlib's CRC-32.
inline uint32_t crc32(std::span<const uint8_t> bytes) {
  static constexpr std::array<uint32_t, 256> kTable = make_crc_table();
  uint32_t crc = 0xFFFFFFFFu;
  for (const uint8_t byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ byte) & 255];
  return ~crc;
}

inline uint32_t get_word(std::span<const uint8_t> bytes, size_t at) {
  return static_cast<uint32_t>(bytes[at]) | static_cast<uint32_t>(bytes[at + 1]) << 8 |
         static_cast<uint32_t>(bytes[at + 2]) << 16 | static_cast<uint32_t>(bytes[at + 3]) << 24;
}

inline void put_word(std::span<uint8_t> bytes, size_t at, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace intarsia::package_writer
