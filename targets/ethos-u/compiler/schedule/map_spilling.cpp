#include "schedule/map_spilling.h"

#include <array>

#include "intarsia/npu/map_placement.h"

namespace intarsia::targets::ethos_u {
namespace {

using npu::kMapsOfUnit;
using npu::MapPlacementProblem;

class Spilling {
 public:
  explicit Spilling(ScheduleDraft& draft) : draft_(draft) {}

  // Keeps those maps in fast memory that save most time there; the others go to the arena's.
  void run(int64_t limit) {
    MapPlacementProblem problem;
    problem.limit = limit;
    std::vector<int32_t> map_of(draft_.schedule.storages.size(), -1), storages;
    const std::vector<MapLife> lives = draft_.map_lives();
    for (size_t s = 0; s < lives.size(); ++s) {
      const Storage& storage = draft_.schedule.storages[s];
      if (storage.kind != Storage::Kind::Inner || !storage.fast || lives[s].first > lives[s].last)
        continue;
      map_of[s] = static_cast<int32_t>(storages.size());
      storages.push_back(static_cast<int32_t>(s));
      problem.maps.push_back({aligned_to_stream(storage.bytes),
                              static_cast<int32_t>(lives[s].first),
                              static_cast<int32_t>(lives[s].last)});
    }
    for (const Unit& unit : draft_.units)
      problem.units.push_back(placement_costs(unit, map_of, limit));
    const std::vector<bool> fast = npu::place_maps(problem);
    for (size_t m = 0; m < storages.size(); ++m)
      if (!fast[m]) {
        draft_.schedule.storages[static_cast<size_t>(storages[m])].fast = false;
        draft_.memories[static_cast<size_t>(storages[m])] = Memory::Arena;
      }
    for (Unit& unit : draft_.units) draft_.maker.reconsider(unit);
  }

 private:
  // Storages of a unit's maps, each once.
  static std::array<int32_t, kMapsOfUnit> storages_of(const Unit& unit) {
    std::array<int32_t, kMapsOfUnit> storages = {unit.ifm.span.storage, unit.ofm.span.storage,
                                                 unit.ifm2 ? unit.ifm2->span.storage : -1};
    if (storages[1] == storages[0]) storages[1] = -1;
    if (storages[2] == storages[0] || storages[2] == storages[1]) storages[2] = -1;
    return storages;
  }

  MapPlacementProblem::Unit placement_costs(const Unit& unit, const std::vector<int32_t>& map_of,
                                            int64_t limit) {
    MapPlacementProblem::Unit result;
    const std::array<int32_t, kMapsOfUnit> storages = storages_of(unit);
    for (size_t i = 0; i < kMapsOfUnit; ++i)
      if (storages[i] >= 0) result.maps[i] = map_of[static_cast<size_t>(storages[i])];
    for (size_t which = 0; which < result.cycles.size(); ++which) {
      bool possible = true;
      for (size_t i = 0; i < kMapsOfUnit; ++i) {
        const bool fast = (which >> i & 1) != 0;
        possible = possible && (!fast || result.maps[i] >= 0);
        if (result.maps[i] >= 0)
          draft_.memories[static_cast<size_t>(storages[i])] = fast ? Memory::Cache : Memory::Arena;
      }
      if (!possible) continue;
      Unit other = unit;
      draft_.maker.reconsider(other);
      result.cycles[which] = (unit.estimated_bytes <= limit ? other.fetched : other.direct).alone();
    }
    for (size_t i = 0; i < kMapsOfUnit; ++i)
      if (result.maps[i] >= 0) draft_.memories[static_cast<size_t>(storages[i])] = Memory::Cache;
    return result;
  }

  ScheduleDraft& draft_;
};

}  // namespace

void spill_maps(ScheduleDraft& draft, int64_t limit) {
  Spilling(draft).run(limit);
}

}  // namespace intarsia::targets::ethos_u
