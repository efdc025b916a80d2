// Checking a flatbuffer in place: what FlatReader reads has to be proven once. Any bytes may be handed in.
#pragma once

#include <cstdint>

#include "intarsia/core/flat_reader.h"

namespace intarsia::rt {

enum class Presence : uint8_t { Optional, Required };

class FlatCheck {
 public:
  // `payload` is 16-byte aligned and `size` bytes long.
  FlatCheck(const uint8_t* payload, uint32_t size) : reader_(payload), size_(size) {}

  uint32_t size() const { return size_; }
  const FlatReader& reader() const { return reader_; }

  bool holds(uint32_t place, uint32_t bytes) const {
    return place <= size_ && bytes <= size_ - place;
  }

  // `place` holds an offset (known to be in bounds and aligned) that leads to an aligned word.
  bool follow(uint32_t place, uint32_t* target) const {
    const uint32_t offset = reader_.u32(place);
    if (offset == 0 || offset > size_) return false;
    *target = place + offset;
    return *target % 4 == 0 && holds(*target, 4);
  }

  // `place` is what `follow` led to. Afterwards the first `slots` fields are known to lie in the
  // table; all of ours are offsets or words, four bytes. Fields of later compilers are left alone.
  bool table(uint32_t place, uint32_t slots) const {
    const uint32_t vtable = reader_.vtable(place);
    if (vtable % 2 != 0 || !holds(vtable, 4)) return false;
    const uint32_t vtable_bytes = reader_.u16(vtable), table_bytes = reader_.u16(vtable + 2);
    if (vtable_bytes < 4 || vtable_bytes % 2 != 0 || !holds(vtable, vtable_bytes)) return false;
    if (table_bytes < 4 || !holds(place, table_bytes)) return false;
    for (uint32_t at = 4; at < vtable_bytes && at < 4 + 2 * slots; at += 2) {
      const uint32_t offset = reader_.u16(vtable + at);
      if (offset != 0 && (offset < 4 || offset % 4 != 0 || offset + 4 > table_bytes)) return false;
    }
    return true;
  }

  // Elements of 1 << element_shift bytes: M0 has no division.
  bool vector(uint32_t table, uint32_t slot, uint32_t element_shift, uint32_t alignment,
              Presence presence, FlatVector* result) const {
    *result = {};
    const uint32_t place = reader_.field(table, slot);
    if (place == 0) return presence == Presence::Optional;
    uint32_t vector = 0;
    if (!follow(place, &vector)) return false;
    *result = {reader_.u32(vector), vector + 4};
    // An empty vector has no element to be aligned, and builders do not pad for it.
    return (result->count == 0 || (result->first & (alignment - 1)) == 0) &&
           result->count <= (size_ - result->first) >> element_shift;
  }

  bool string_at(uint32_t place) const {
    uint32_t string = 0;
    if (!follow(place, &string)) return false;
    const uint32_t length = reader_.u32(string);
    // One more for the zero that ends it.
    return length < size_ - (string + 4) && reader_.u8(string + 4 + length) == 0;
  }

  bool string(uint32_t table, uint32_t slot) const {
    const uint32_t place = reader_.field(table, slot);
    return place != 0 && string_at(place);
  }

 private:
  FlatReader reader_;
  uint32_t size_;
};

}  // namespace intarsia::rt
