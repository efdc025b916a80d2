// The sixteen bytes before a package's flatbuffer, and its checksum.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace intarsia::package_writer {

inline constexpr std::array<uint8_t, 4> kMagic = {'I', 'N', 'T', 'A'};
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kVersionAt = 4, kPayloadBytesAt = 8, kChecksumAt = 12;

// What a byte does to the sum: by itself, and with one to seven bytes of zeros behind it.
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

inline constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) ? (value >> 1) ^ 0xEDB88320u : value >> 1;
    tables[0][byte] = value;
  }
  for (size_t behind = 1; behind < tables.size(); ++behind)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[behind - 1][byte];
      tables[behind][byte] = (before >> 8) ^ tables[0][before & 255];
    }
  return tables;
}

// zlib's CRC-32. Eight bytes at a time: a package has all weights, and each byte would wait for what became of the one before it.
inline uint32_t crc32(std::span<const uint8_t> bytes) {
  static constexpr CrcTables kTables = make_crc_tables();
  uint32_t crc = 0xFFFFFFFFu;
  for (; bytes.size() >= kTables.size(); bytes = bytes.subspan(kTables.size())) {
    uint32_t next = 0;
    for (size_t i = 0; i < kTables.size(); ++i) {
      const uint32_t byte = bytes[i] ^ (i < 4 ? crc >> (8 * i) & 255 : 0);
      next ^= kTables[kTables.size() - 1 - i][byte];
    }
    crc = next;
  }
  for (const uint8_t byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ byte) & 255];
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
