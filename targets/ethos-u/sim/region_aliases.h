// Regions whose base pointers lead into one memory: Vela's regions 1 and 2 are the same arena unless the
// SRAM is dedicated. Bytes of such regions get one name, so that what shares them is found.
#pragma once

#include <array>
#include <cstdint>

#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

class RegionAliases {
 public:
  explicit RegionAliases(const Memory& memory);

  // The same with all that lies in an overlapping region counted from the first of them.
  Operation unified(Operation operation) const;
  DmaTransfer unified(DmaTransfer transfer) const;

 private:
  struct Place {
    uint32_t region = 0;
    uint64_t offset = 0;
  };

  void unify(uint32_t& region, uint64_t& base) const;
  void unify(FeatureMap& map) const;

  std::array<Place, kRegions> places_;
};

}  // namespace intarsia::simulators::ethos_u
