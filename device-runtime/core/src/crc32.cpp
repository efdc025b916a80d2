#include "crc32.h"

namespace intarsia::rt {
namespace {

struct NibbleTable {
  uint32_t remainder[16];
};

constexpr NibbleTable make_table() {
  NibbleTable table{};
  for (uint32_t nibble = 0; nibble < 16; ++nibble) {
    uint32_t value = nibble;
    for (int bit = 0; bit < 4; ++bit)
      value = (value & 1) != 0 ? (value >> 1) ^ 0xEDB88320u : value >> 1;
    table.remainder[nibble] = value;
  }
  return table;
}

constexpr NibbleTable kTable = make_table();

}  // namespace

uint32_t crc32(const uint8_t* bytes, uint32_t size) {
  uint32_t crc = 0xFFFFFFFFu;
  for (uint32_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    crc = (crc >> 4) ^ kTable.remainder[crc & 15];
    crc = (crc >> 4) ^ kTable.remainder[crc & 15];
  }
  return ~crc;
}

}  // namespace intarsia::rt
