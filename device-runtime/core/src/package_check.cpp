// Our own reading rather than flatbuffers' Verifier: for this schema at -Os for Armv6-M that one
// is 1061 bytes and pulls in 64-bit division, against the 790 of this file, and it looks at neither
// the alignment of the streams nor the regions.
#include "package_check.h"

#include "flat_reader.h"
#include "intarsia/contract/package.h"
#include "package_layout.h"

namespace intarsia::rt {
namespace {

enum class Presence : uint8_t { Optional, Required };

class PayloadCheck {
 public:
  PayloadCheck(const uint8_t* payload, uint32_t size) : reader_(payload), size_(size) {}

  bool run() const {
    // Root offset, identifier. Offsets are signed in flatbuffers: half the range is all there is.
    if (size_ < 8 || size_ > 0x7FFFFFFF || reader_.u32(4) != kMagic) return false;
    uint32_t package = 0;
    FlatVector pools;
    return follow(0, &package) && table(package, kPackageAlignment + 1) &&
           string(package, kPackageModel) &&
           vector(package, kPackagePoolBytes, 2, 4, Presence::Optional, &pools) &&
           functions(package);
  }

 private:
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

  bool functions(uint32_t package) const {
    FlatVector list;
    if (!vector(package, kPackageFunctions, 2, 4, Presence::Required, &list)) return false;
    for (uint32_t i = 0; i < list.count; ++i) {
      uint32_t function = 0;
      if (!follow(list.first + 4 * i, &function) || !this->function(function)) return false;
    }
    return true;
  }

  bool function(uint32_t place) const {
    FlatVector commands, constants;
    return table(place, kFunctionResults + 1) && string(place, kFunctionName) &&
           string(place, kFunctionDevice) && string(place, kFunctionTarget) &&
           vector(place, kFunctionCommands, 0, kBlobAlignment, Presence::Required, &commands) &&
           vector(place, kFunctionConstants, 0, kBlobAlignment, Presence::Optional, &constants) &&
           regions(place) && operators(place) && ranges(place, kFunctionAccessed) &&
           ranges(place, kFunctionResults);
  }

  bool regions(uint32_t function) const {
    FlatVector list;
    if (!vector(function, kFunctionRegions, kRegionShift, 2, Presence::Optional, &list))
      return false;
    if (list.count > INTARSIA_PACKAGE_MAX_REGIONS) return false;
    for (uint32_t i = 0; i < list.count; ++i)
      if (reader_.u8(list.first + kRegionBytes * i + kRegionKindAt) > kRegionPool) return false;
    FlatVector offsets, bytes, memories;
    const auto of_each = [&](const FlatVector& vector) {
      return vector.count == 0 || vector.count == list.count;
    };
    return vector(function, kFunctionRegionOffsets, 2, 4, Presence::Optional, &offsets) &&
           vector(function, kFunctionRegionBytes, 2, 4, Presence::Optional, &bytes) &&
           vector(function, kFunctionRegionMemories, 0, 1, Presence::Optional, &memories) &&
           of_each(offsets) && of_each(bytes) && of_each(memories);
  }

  // The count is in bounds of words first, so that three times as many can be counted.
  bool ranges(uint32_t function, uint32_t slot) const {
    FlatVector list;
    return vector(function, slot, 2, 4, Presence::Optional, &list) &&
           list.count * (kRangeBytes / 4) <= (size_ - list.first) / 4;
  }

  bool operators(uint32_t function) const {
    FlatVector list;
    if (!vector(function, kFunctionOperators, 2, 4, Presence::Optional, &list)) return false;
    for (uint32_t i = 0; i < list.count; ++i)
      if (!string_at(list.first + 4 * i)) return false;
    return true;
  }

  FlatReader reader_;
  uint32_t size_;
};

}  // namespace

bool payload_is_sound(const uint8_t* payload, uint32_t size) {
  return PayloadCheck(payload, size).run();
}

}  // namespace intarsia::rt
