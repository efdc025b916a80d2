#include "budgets/compare.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace intarsia::budgets {
namespace {

// Whole bytes or cycles that `before` may grow to; a double would round large figures. As much as there is where that
// is more.
int64_t allowed(int64_t before, Growth growth) {
  constexpr int64_t kWhole = 100'000;  // thousandths of a per cent
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (before <= 0 || growth <= 0) return before;
  const int64_t quotient = before / kWhole, remainder = before % kWhole;
  const auto fits = [growth](int64_t factor) { return factor == 0 || growth <= kMost / factor; };
  if (!fits(quotient) || !fits(remainder)) return kMost;
  const int64_t whole = quotient * growth, more = remainder * growth / kWhole;
  return whole > kMost - before || more > kMost - before - whole ? kMost : before + whole + more;
}

class Comparer {
 public:
  Comparer(const Figures& before, const Figures& now, Comparison& result)
      : before_(before), now_(now), result_(result) {}

  void memories() {
    std::vector<std::string> names;
    for (const Figures* figures : {&before_, &now_})
      for (const MemoryFigures& memory : figures->memories)
        if (std::find(names.begin(), names.end(), memory.name) == names.end())
          names.push_back(memory.name);
    const auto peak = [](const Figures& figures, const std::string& name) {
      for (const MemoryFigures& memory : figures.memories)
        if (memory.name == name) return memory.peak;
      return int64_t{0};
    };
    for (const std::string& name : names)
      add("ram of " + name, Unit::Bytes, peak(before_, name), peak(now_, name));
    if (names.size() > 1) add("ram", Unit::Bytes, before_.ram(), now_.ram());
  }

  void flash() {
    if (!before_.flash || !now_.flash) return;
    const FlashFigures &before = *before_.flash, &now = *now_.flash;
    add("flash", Unit::Bytes, before.total, now.total);
    detail("code in flash", before.code, now.code);
    detail("constants in flash", before.constants, now.constants);
    detail("streams in flash", before.streams, now.streams);
  }

  void stack() {
    if (before_.stack && now_.stack) add("stack", Unit::Bytes, *before_.stack, *now_.stack);
  }

  void cycles() {
    std::map<std::string, std::pair<int64_t, int64_t>> devices;
    for (const DeviceFigures& device : before_.cycles) devices[device.device].first = device.cycles;
    for (const DeviceFigures& device : now_.cycles) devices[device.device].second = device.cycles;
    for (const auto& [name, of_device] : devices)
      add("cycles of " + name, Unit::Cycles, of_device.first, of_device.second);
    if (devices.size() > 1)
      add("cycles", Unit::Cycles, before_.total_cycles(), now_.total_cycles());
  }

  void operators() {
    std::map<std::string, std::string> before, now;
    for (const PlacedOperator& row : before_.operators) before.emplace(row.name, row.device);
    for (const PlacedOperator& row : now_.operators) now.emplace(row.name, row.device);
    for (const PlacedOperator& row : before_.operators)
      if (!now.contains(row.name)) result_.moved.push_back({row.name, row.device, ""});
    for (const PlacedOperator& row : now_.operators) {
      const auto found = before.find(row.name);
      if (found == before.end())
        result_.moved.push_back({row.name, "", row.device});
      else if (found->second != row.device)
        result_.moved.push_back({row.name, found->second, row.device});
    }
  }

 private:
  void add(std::string figure, Unit unit, int64_t before, int64_t now) {
    result_.changes.push_back(
        {std::move(figure), unit, before, now, allowed(before, result_.growth)});
  }
  void detail(std::string figure, int64_t before, int64_t now) {
    if (before != now)
      result_.changes.push_back({std::move(figure), Unit::Bytes, before, now, now, true});
  }

  const Figures &before_, &now_;
  Comparison& result_;
};

}  // namespace

bool Comparison::passed() const {
  return std::none_of(changes.begin(), changes.end(),
                      [](const Change& change) { return change.too_much(); });
}

Result<Comparison> compare(const Figures& baseline, const std::string& file, const Figures& now,
                           Growth growth) {
  Diagnostics problems;
  if (baseline.board != now.board)
    problems.add(file, fmt::format("is of board {}, not {}", baseline.board, now.board),
                 "name the report of a compilation for the same board");
  if (baseline.target != now.target)
    problems.add(file, fmt::format("is of target {}, not {}", baseline.target, now.target),
                 "name the report of a compilation for the same target");
  if (baseline.flash && !now.flash)
    problems.add(file, "has flash and stack, which cannot be measured now: " + now.not_measured,
                 "make that possible, or compare with a report without them");
  if (!problems.empty()) return problems;

  Comparison result{file, growth, {}, {}, {}};
  if (baseline.model != now.model)
    result.notes.push_back(
        fmt::format("the baseline is of a model called {}, not {}", baseline.model, now.model));
  if (now.flash && !baseline.flash)
    result.notes.push_back("the baseline has neither flash nor stack: " + baseline.not_measured);
  if (now.flash && baseline.flash && baseline.compiler != now.compiler)
    result.notes.push_back(fmt::format("the baseline's code was compiled by {}, this by {}",
                                       baseline.compiler, now.compiler));
  Comparer comparer(baseline, now, result);
  comparer.memories();
  comparer.flash();
  comparer.stack();
  comparer.cycles();
  comparer.operators();
  return result;
}

}  // namespace intarsia::budgets
