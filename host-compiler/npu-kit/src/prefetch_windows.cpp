#include "intarsia/npu/prefetch_windows.h"

#include <algorithm>
#include <utility>

namespace intarsia::npu {
namespace {

// Operations of a window, and units where operations have many. A transfer rarely begins more than a few operations
// ahead of its own; what windows lose is what is fetched across their bounds.
constexpr int32_t kMostOperations = 64;
constexpr size_t kMostUnits = 512;

// Transfers that begin earlier take room for longer: they are to bring more than the estimate leaves open.
constexpr double kLessTime = 0.995;

// The first units of the windows, and the end of the last. Counted in operations, so that an operation that is cut into
// more units changes its own window only.
std::vector<size_t> window_bounds(const std::vector<PrefetchUnit>& units) {
  std::vector<size_t> bounds = {0};
  int32_t operations = 0, last = -1;
  for (size_t i = 0; i < units.size(); ++i) {
    if (units[i].operation > last) {
      last = units[i].operation;
      ++operations;
    }
    if (operations <= kMostOperations && i - bounds.back() < kMostUnits) continue;
    bounds.push_back(i);
    operations = 1;
  }
  bounds.push_back(units.size());
  return bounds;
}

}  // namespace

std::vector<PrefetchUnit> prefetch_window(const std::vector<PrefetchUnit>& units, size_t first,
                                          size_t end, const std::vector<bool>& fetched) {
  std::vector<PrefetchUnit> window(units.begin() + static_cast<ptrdiff_t>(first),
                                   units.begin() + static_cast<ptrdiff_t>(end));
  const auto offset = static_cast<int32_t>(first), count = static_cast<int32_t>(end - first);
  for (PrefetchUnit& unit : window) {
    if (unit.owner >= offset) {
      unit.owner -= offset;
    } else if (unit.owner >= 0) {
      const auto owner = static_cast<size_t>(unit.owner);
      unit.direct = unit.fetched = fetched[owner] ? unit.fetched : unit.direct;
      unit.owner = -1;
    }
    if (unit.last_user >= 0) unit.last_user = std::min(unit.last_user - offset, count - 1);
    unit.table_earliest = std::max(unit.table_earliest - offset, 0);
    unit.operation = 0;
  }
  for (size_t owner = 0; owner < first; ++owner)
    if (fetched[owner] && units[owner].last_user >= offset)
      for (size_t i = first; i < end && static_cast<int32_t>(i) <= units[owner].last_user; ++i)
        window[i - first].live_bytes += units[owner].bytes;
  return window;
}

const PrefetchPlan& PrefetchWindows::plan_of(std::array<Known, 2>& known,
                                             std::vector<PrefetchUnit> units, int64_t budget,
                                             PortUse use) {
  const auto same = [&](const Known& one) {
    return one.plan.budgets.holds(budget) && one.units == units;
  };
  if (same(known[0])) return known[0].plan;
  std::swap(known[0], known[1]);
  if (!same(known[0])) {
    known[0].plan = plan_prefetch(queues_, units, budget, use);
    known[0].units = std::move(units);
  }
  return known[0].plan;
}

PrefetchPlan PrefetchWindows::plan(const std::vector<PrefetchUnit>& units, int64_t budget,
                                   PortUse use) {
  const std::vector<size_t> bounds = window_bounds(units);
  Windows& known = known_[static_cast<size_t>(use)];
  known.resize(bounds.size() - 1);
  if (bounds.size() <= 2) return plan_of(known[0], units, budget, use);
  std::vector<bool> fetched(units.size());
  for (size_t w = 0; w + 1 < bounds.size(); ++w) {
    const size_t first = bounds[w], end = bounds[w + 1];
    const std::vector<bool>& chosen =
        plan_of(known[w], prefetch_window(units, first, end, fetched), budget, use).fetched;
    for (size_t i = first; i < end; ++i) fetched[i] = chosen[i - first];
  }
  PrefetchPlan best = place_prefetch(queues_, units, std::move(fetched), budget, use);
  for (std::vector<bool> simple : {std::vector<bool>(units.size(), false), all_constants(units)}) {
    PrefetchPlan plan = place_prefetch(queues_, units, std::move(simple), budget, use);
    if (plan.cycles < best.cycles) best = std::move(plan);
  }
  return best;
}

PrefetchPlan PrefetchWindows::best_plan(const std::vector<PrefetchUnit>& units, int64_t budget) {
  PrefetchPlan one = plan(units, budget), other = plan(units, budget, PortUse::OfAll);
  return other.cycles < kLessTime * one.cycles ? other : one;
}

}  // namespace intarsia::npu
