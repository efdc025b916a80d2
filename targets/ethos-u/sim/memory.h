// What the device reaches: the regions behind its base pointers, and its SHRAM.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "intarsia/targets/ethos_u/isa.h"

namespace intarsia::simulators::ethos_u {

struct Region {
  uint8_t* data = nullptr;
  uint64_t bytes = 0;
  bool writable = true;
};

class Memory {
 public:
  explicit Memory(const Configuration& configuration)
      : Memory(static_cast<size_t>(configuration.shram_bytes())) {}
  explicit Memory(size_t shram_bytes) : shram_(shram_bytes) {}

  std::array<Region, kRegions> regions;

  // Null where no memory answers: a bus error.
  const uint8_t* read(uint32_t region, uint64_t offset, uint64_t bytes) const {
    return find(region, offset, bytes);
  }
  uint8_t* write(uint32_t region, uint64_t offset, uint64_t bytes) const {
    return region < kRegions && !regions[region].writable ? nullptr : find(region, offset, bytes);
  }

  std::vector<uint8_t>& shram() { return shram_; }
  const std::vector<uint8_t>& shram() const { return shram_; }
  uint8_t* shram_at(uint64_t offset, uint64_t bytes) {
    return bytes <= shram_.size() && offset <= shram_.size() - bytes ? shram_.data() + offset
                                                                     : nullptr;
  }

 private:
  uint8_t* find(uint32_t region, uint64_t offset, uint64_t bytes) const {
    if (region >= kRegions) return nullptr;
    const Region& place = regions[region];
    if (place.data == nullptr || bytes > place.bytes || offset > place.bytes - bytes)
      return nullptr;
    return place.data + offset;
  }

  std::vector<uint8_t> shram_;
};

}  // namespace intarsia::simulators::ethos_u
