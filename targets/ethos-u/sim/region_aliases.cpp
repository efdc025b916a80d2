#include "intarsia/targets/ethos_u/region_aliases.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace intarsia::simulators::ethos_u {

RegionAliases::RegionAliases(const Memory& memory) {
  std::vector<uint32_t> order(kRegions);
  std::iota(order.begin(), order.end(), 0u);
  const auto begin_of = [&](uint32_t region) {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory.regions[region].data));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return begin_of(a) < begin_of(b); });
  uint32_t first = order[0];
  uint64_t end = 0;  // of the regions that overlap so far
  for (const uint32_t region : order) {
    const uint64_t begin = begin_of(region), bytes = memory.regions[region].bytes;
    if (memory.regions[region].data == nullptr || begin >= end) first = region;
    places_[region] = {first, begin - begin_of(first)};
    if (memory.regions[region].data != nullptr) end = std::max(end, begin + bytes);
  }
}

void RegionAliases::unify(uint32_t& region, uint64_t& base) const {
  if (region >= kRegions) return;
  base += places_[region].offset;
  region = places_[region].region;
}

void RegionAliases::unify(FeatureMap& map) const {
  for (size_t tile = 1; tile < map.base.size(); ++tile) {
    uint32_t region = map.region;
    unify(region, map.base[tile]);
  }
  unify(map.region, map.base[0]);
}

Operation RegionAliases::unified(Operation op) const {
  unify(op.ifm);
  unify(op.ifm2);
  unify(op.ofm);
  for (size_t core = 0; core < op.weights.size(); ++core) {
    uint32_t weights = op.weight_region, scales = op.scale_region;
    unify(weights, op.weights[core].base);
    unify(scales, op.scales[core].base);
  }
  uint64_t none = 0;
  unify(op.weight_region, none);
  unify(op.scale_region, none);
  return op;
}

DmaTransfer RegionAliases::unified(DmaTransfer dma) const {
  if (!dma.source_internal) unify(dma.source_region, dma.source);
  if (!dma.target_internal) unify(dma.target_region, dma.target);
  return dma;
}

}  // namespace intarsia::simulators::ethos_u
