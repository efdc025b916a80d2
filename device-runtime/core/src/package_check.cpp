// Our own reading rather than flatbuffers' Verifier: for this schema at -Os for Armv6-M that one
// is 1061 bytes and pulls in 64-bit division, against the 790 of this file, and it looks at neither
// the alignment of the streams nor the regions.
#include "package_check.h"

#include "intarsia/contract/package.h"
#include "intarsia/core/flat_check.h"
#include "intarsia/core/package_layout.h"

namespace intarsia::rt {
namespace {

class PayloadCheck : private FlatCheck {
 public:
  using FlatCheck::FlatCheck;

  bool run() const {
    // Root offset, identifier. Offsets are signed in flatbuffers: half the range is all there is.
    if (size() < 8 || size() > 0x7FFFFFFF || reader().u32(4) != kMagic) return false;
    uint32_t package = 0;
    FlatVector pools;
    return follow(0, &package) && table(package, kPackageAlignment + 1) &&
           string(package, kPackageModel) &&
           vector(package, kPackagePoolBytes, 2, 4, Presence::Optional, &pools) &&
           functions(package);
  }

 private:
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
      if (reader().u8(list.first + kRegionBytes * i + kRegionKindAt) > kRegionPool) return false;
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
           list.count * (kRangeBytes / 4) <= (size() - list.first) / 4;
  }

  bool operators(uint32_t function) const {
    FlatVector list;
    if (!vector(function, kFunctionOperators, 2, 4, Presence::Optional, &list)) return false;
    for (uint32_t i = 0; i < list.count; ++i)
      if (!string_at(list.first + 4 * i)) return false;
    return true;
  }
};

}  // namespace

bool payload_is_sound(const uint8_t* payload, uint32_t size) {
  return PayloadCheck(payload, size).run();
}

}  // namespace intarsia::rt
