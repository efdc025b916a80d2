// Reading a flatbuffer in place. A place is an offset from the payload's start. Nothing is checked
// here: package_check.cpp proves every place once, before anything else reads it.
#pragma once

#if __cplusplus < 201709L
#error \
    "drivers of devices are C++20: compile the .cpp files of the package with -std=c++20 (<MODEL>_CXXFLAGS in its .mk)"
#endif

#include <cstdint>

namespace intarsia::rt {

struct FlatVector {
  uint32_t count = 0;
  uint32_t first = 0;  // place of element 0
};

class FlatReader {
 public:
  explicit FlatReader(const uint8_t* payload) : payload_(payload) {}

  uint8_t u8(uint32_t place) const { return payload_[place]; }
  // Places are aligned to what is read there, so that one load does on cores that trap otherwise.
  uint32_t u16(uint32_t place) const { return load<uint16_t>(place); }
  uint32_t u32(uint32_t place) const { return load<uint32_t>(place); }

  // What the offset at `place` points at: a table, vector or string.
  uint32_t follow(uint32_t place) const { return place + u32(place); }
  uint32_t vtable(uint32_t table) const { return table - u32(table); }
  // Place of a table's field, 0 when absent.
  uint32_t field(uint32_t table, uint32_t slot) const {
    const uint32_t entries = vtable(table), at = 4 + 2 * slot;
    if (at >= u16(entries)) return 0;
    const uint32_t offset = u16(entries + at);
    return offset == 0 ? 0 : table + offset;
  }
  // Empty when absent.
  FlatVector vector(uint32_t table, uint32_t slot) const {
    const uint32_t place = field(table, slot);
    if (place == 0) return {};
    const uint32_t vector = follow(place);
    return {u32(vector), vector + 4};
  }
  const uint8_t* at(uint32_t place) const { return payload_ + place; }

 private:
  template <typename Word>
  Word load(uint32_t place) const {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packages are little-endian");
    Word word;
    __builtin_memcpy(&word, __builtin_assume_aligned(payload_ + place, sizeof(Word)), sizeof(Word));
    return word;
  }

  const uint8_t* payload_;
};

}  // namespace intarsia::rt
