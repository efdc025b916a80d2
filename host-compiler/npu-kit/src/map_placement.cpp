#include "intarsia/npu/map_placement.h"

#include <algorithm>
#include <map>

#include "intarsia/plugin/check.h"

namespace intarsia::npu {
namespace {

constexpr size_t kMostStates = 2048;
constexpr int32_t kSlots = 32;  // maps that live at a time; further ones are slow
// Of two equally fast ways the one that takes less fast memory.
constexpr double kCyclesPerByte = 1e-6;

// Dynamic programming over units; a state is the set of living maps that are fast.
class Search {
 public:
  explicit Search(const MapPlacementProblem& problem)
      : problem_(problem),
        slot_of_(problem.maps.size(), -1),
        bytes_of_(kSlots, 0),
        free_(kSlots, true) {}

  std::vector<bool> run() {
    std::vector<State> states = {{0, 0, -1}};
    for (size_t u = 0; u < problem_.units.size(); ++u) {
      for (size_t m = 0; m < problem_.maps.size(); ++m)
        if (problem_.maps[m].first == static_cast<int32_t>(u)) begin(m, states);
      for (State& state : states) state.cycles += cost(problem_.units[u], state.fast);
      history_.push_back(states);
      for (size_t i = 0; i < states.size(); ++i) states[i].before = static_cast<int32_t>(i);
      slots_at_.push_back(slot_of_);
      uint32_t dead = 0;
      for (size_t m = 0; m < problem_.maps.size(); ++m)
        if (problem_.maps[m].last == static_cast<int32_t>(u) && slot_of_[m] >= 0) {
          dead |= uint32_t{1} << slot_of_[m];
          free_[static_cast<size_t>(slot_of_[m])] = true;
          slot_of_[m] = -1;
        }
      forget(dead, states);
    }
    return walk_back();
  }

 private:
  struct State {
    uint32_t fast = 0;  // by slot
    double cycles = 0;
    int32_t before = -1;  // of the unit before, in its history
  };

  void begin(size_t map, std::vector<State>& states) {
    const auto slot = std::find(free_.begin(), free_.end(), true);
    if (slot == free_.end()) return;
    const auto index = static_cast<int32_t>(slot - free_.begin());
    *slot = false;
    slot_of_[map] = index;
    bytes_of_[static_cast<size_t>(index)] = problem_.maps[map].bytes;
    const size_t count = states.size();
    for (size_t i = 0; i < count; ++i) {
      State with = states[i];
      with.fast |= uint32_t{1} << index;
      with.cycles += kCyclesPerByte * static_cast<double>(problem_.maps[map].bytes);
      if (bytes(with.fast) <= problem_.limit) states.push_back(with);
    }
  }

  int64_t bytes(uint32_t fast) const {
    int64_t sum = 0;
    for (size_t s = 0; s < bytes_of_.size(); ++s)
      if ((fast >> s & 1) != 0) sum += bytes_of_[s];
    return sum;
  }

  double cost(const MapPlacementProblem::Unit& unit, uint32_t fast) const {
    size_t which = 0;
    for (size_t i = 0; i < kMapsOfUnit; ++i) {
      const int32_t map = unit.maps[i];
      if (map < 0) continue;
      const int32_t slot = slot_of_[static_cast<size_t>(map)];
      if (slot >= 0 && (fast >> slot & 1) != 0) which |= size_t{1} << i;
    }
    return unit.cycles[which];
  }

  // Of states that differ in the dead maps only, the best; of all, the best few.
  static void forget(uint32_t dead, std::vector<State>& states) {
    std::map<uint32_t, State> kept;
    for (State state : states) {
      state.fast &= ~dead;
      const auto [place, fresh] = kept.try_emplace(state.fast, state);
      if (!fresh && state.cycles < place->second.cycles) place->second = state;
    }
    states.clear();
    for (const auto& [fast, state] : kept) states.push_back(state);
    if (states.size() <= kMostStates) return;
    std::stable_sort(states.begin(), states.end(),
                     [](const State& a, const State& b) { return a.cycles < b.cycles; });
    // Nothing fast is always possible.
    const auto none =
        std::find_if(states.begin(), states.end(), [](const State& s) { return s.fast == 0; });
    if (none - states.begin() >= static_cast<ptrdiff_t>(kMostStates))
      states[kMostStates - 1] = *none;
    states.resize(kMostStates);
  }

  std::vector<bool> walk_back() const {
    std::vector<bool> fast(problem_.maps.size(), false);
    int32_t at = -1;
    for (size_t u = history_.size(); u-- > 0;) {
      const std::vector<State>& states = history_[u];
      if (at < 0) {
        const auto best =
            std::min_element(states.begin(), states.end(),
                             [](const State& a, const State& b) { return a.cycles < b.cycles; });
        at = static_cast<int32_t>(best - states.begin());
      }
      const State& state = states.at(static_cast<size_t>(at));
      for (size_t m = 0; m < fast.size(); ++m) {
        const int32_t slot = slots_at_[u][m];
        if (slot >= 0 && (state.fast >> slot & 1) != 0) fast[m] = true;
      }
      at = state.before;
    }
    return fast;
  }

  const MapPlacementProblem& problem_;
  std::vector<int32_t> slot_of_;  // by map; -1: none
  std::vector<int64_t> bytes_of_;
  std::vector<bool> free_;
  std::vector<std::vector<State>> history_;     // by unit, while it runs
  std::vector<std::vector<int32_t>> slots_at_;  // by unit
};

}  // namespace

std::vector<bool> place_maps(const MapPlacementProblem& problem) {
  return Search(problem).run();
}

}  // namespace intarsia::npu
