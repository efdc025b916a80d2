#include "schedule/striping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "schedule/cascade.h"

namespace intarsia::targets::ethos_u {
namespace {

// Cascades that are looked at: operations at most, stripes at most. What bounds the work of the search.
constexpr int32_t kLongestCascade = 4;
constexpr size_t kMostStripes = 100;
// Preferences, and no facts of the hardware. Where no limit on memory is given, all operations may take half as
// long again; four percent of time are worth one percent of memory.
constexpr double kMostCascadeCost = 1.5;
constexpr double kCascadeTimeWeight = 0.25;

class Striping {
 public:
  explicit Striping(ScheduleDraft& draft) : draft_(draft) {}

  // While feature maps need more than is wished for, the operations around the peak run in turns. Several
  // may need as much: stripes are kept once all of these have them.
  void run(int64_t wished) {
    const std::vector<bool> rolls = rolls_into_next(draft_.program);
    std::vector<bool> used(draft_.program.operations.size(), false);
    const double most_cycles = draft_.options.sram_limit ? std::numeric_limits<double>::infinity()
                                                         : total_cycles() * kMostCascadeCost;
    std::vector<Unit> kept_units = draft_.units;
    std::vector<int32_t> rolling_since;  // that time
    for (Peak peak = peak_now(); peak.bytes > wished;) {
      const std::vector<int64_t> live = draft_.live_bytes();
      const auto at =
          static_cast<size_t>(std::max_element(live.begin(), live.end()) - live.begin());
      const int32_t middle = draft_.units[at].operation;
      std::vector<Unit> best;
      std::map<int32_t, int32_t> best_rolling;
      int32_t best_first = 0, best_last = 0;
      double best_score = std::numeric_limits<double>::infinity();
      const std::vector<Unit> before = draft_.units;
      for (int32_t first = std::max(0, middle - kLongestCascade); first <= middle; ++first)
        for (int32_t last = std::max(first + 1, middle - 1); last < first + kLongestCascade;
             ++last) {
          if (!can_cascade(rolls, used, first, last) || last < middle - 1) break;
          const int32_t height =
              draft_.program.operations[static_cast<size_t>(last)].ofm.extent.height;
          for (int32_t rows = height / 2; rows >= 1; rows /= 2) {
            const std::optional<Cascade> plan =
                plan_cascade(draft_.program, first, last, rows, kMostStripes);
            if (!plan) break;
            draft_.units = striped(*plan, first, last);
            const Peak now = peak_now();
            const double cycles = total_cycles();
            // Where others need as much still, what these need by themselves counts.
            const int64_t bytes = now.bytes < peak.bytes ? now.bytes : most_of(first, last);
            const double memory = static_cast<double>(std::max(bytes, wished));
            const double score = memory * std::pow(cycles, kCascadeTimeWeight);
            if (now < peak && cycles <= most_cycles && score < best_score) {
              best_score = score;
              best = draft_.units;
              best_rolling = plan->rolling;
              best_first = first;
              best_last = last;
            }
            for (const auto& [id, kept] : plan->rolling) set_rolling(id, 0);
            draft_.units = before;
          }
        }
      if (best.empty()) break;
      draft_.units = std::move(best);
      for (const auto& [id, kept] : best_rolling) {
        set_rolling(id, kept);
        rolling_since.push_back(id);
      }
      for (int32_t i = best_first; i <= best_last; ++i) used[static_cast<size_t>(i)] = true;
      const Peak now = peak_now();
      if (now.bytes < peak.bytes) {
        kept_units = draft_.units;
        rolling_since.clear();
      }
      peak = now;
    }
    for (const int32_t id : rolling_since) set_rolling(id, 0);
    draft_.units = std::move(kept_units);
  }

 private:
  struct Peak {
    int64_t bytes = 0;
    int64_t operations = 0;  // that need as much
    bool operator<(const Peak& other) const {
      return bytes != other.bytes ? bytes < other.bytes : operations < other.operations;
    }
  };
  int64_t most_of(int32_t first, int32_t last) const {
    const std::vector<int64_t> live = draft_.live_bytes();
    int64_t most = 0;
    for (size_t i = 0; i < live.size(); ++i)
      if (draft_.units[i].operation >= first && draft_.units[i].operation <= last)
        most = std::max(most, live[i]);
    return most;
  }
  Peak peak_now() const {
    const std::vector<int64_t> live = draft_.live_bytes();
    Peak peak;
    int32_t last = -1;
    for (size_t i = 0; i < live.size(); ++i) {
      const int32_t operation = draft_.units[i].operation;
      if (live[i] > peak.bytes) peak = {live[i], 0}, last = -1;
      if (live[i] == peak.bytes && operation != last) ++peak.operations, last = operation;
    }
    return peak;
  }

  double total_cycles() const {
    double total = 0;
    for (const Unit& unit : draft_.units) total += unit.fetched.alone();
    return total;
  }

  void set_rolling(int32_t id, int32_t rows) {
    TensorPlace& place = draft_.places.at(static_cast<size_t>(id));
    const NpuTensor& t = draft_.tensor(id);
    Extent kept = t.extent;
    if (rows > 0) kept.height = rows;
    place.rolling_rows = rows > 0 && rows < t.extent.height ? rows : 0;
    draft_.schedule.storages[static_cast<size_t>(place.storage)].bytes =
        stored_bytes(kept, t.type, place.layout);
  }

  // Replaces the units of operations first .. last by stripes.
  std::vector<Unit> striped(const Cascade& cascade, int32_t first, int32_t last) {
    for (const auto& [id, rows] : cascade.rolling) set_rolling(id, rows);
    std::vector<Unit> units;
    bool placed = false;
    for (const Unit& unit : draft_.units) {
      if (unit.operation < first || unit.operation > last) {
        units.push_back(unit);
        continue;
      }
      if (placed) continue;
      placed = true;
      std::map<int32_t, size_t> owners;
      for (const Stripe& stripe : cascade.stripes) {
        const auto owner = owners.find(stripe.operation);
        const Unit* like = owner == owners.end() ? nullptr : &units[owner->second];
        Unit made = draft_.maker.make_stripe(stripe.operation, stripe.rows, like);
        owners.try_emplace(stripe.operation, units.size());
        units.push_back(std::move(made));
      }
    }
    return units;
  }

  static bool can_cascade(const std::vector<bool>& rolls, const std::vector<bool>& used,
                          int32_t first, int32_t last) {
    if (static_cast<size_t>(last) >= rolls.size()) return false;
    for (int32_t i = first; i <= last; ++i)
      if (used[static_cast<size_t>(i)] || (i < last && !rolls[static_cast<size_t>(i)]))
        return false;
    return true;
  }

  ScheduleDraft& draft_;
};

}  // namespace

void stripe_operations(ScheduleDraft& draft, int64_t wished) {
  Striping(draft).run(wished);
}

}  // namespace intarsia::targets::ethos_u
