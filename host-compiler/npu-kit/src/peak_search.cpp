#include "intarsia/npu/peak_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace intarsia::npu {
namespace {

struct Peak {
  int64_t bytes = 0;
  int64_t operations = 0;  // that need as much
  bool operator<(const Peak& other) const {
    return bytes != other.bytes ? bytes < other.bytes : operations < other.operations;
  }
};

Peak peak_of(const std::vector<CascadeDraft::Unit>& units) {
  Peak peak;
  int32_t last = -1;
  for (const CascadeDraft::Unit& unit : units) {
    if (unit.live_bytes > peak.bytes) peak = {unit.live_bytes, 0}, last = -1;
    if (unit.live_bytes == peak.bytes && unit.operation != last)
      ++peak.operations, last = unit.operation;
  }
  return peak;
}

struct Turns {
  int32_t first = 0, last = 0;
  int64_t rows = 0;
  bool operator==(const Turns&) const = default;
};

class TurnsSearch {
 public:
  TurnsSearch(CascadeDraft& draft, const PeakSearch& search)
      : draft_(draft), search_(search), used_(static_cast<size_t>(draft.operations()), false) {}

  void run() {
    std::vector<Turns> best;  // of those with which the peak was lowered
    double least = std::numeric_limits<double>::infinity();
    bool has_replaced = false;
    for (Peak peak = peak_of(draft_.units()); peak.bytes > search_.wanted;) {
      if (const std::optional<Turns> turns = best_turns(peak, fullest())) {
        take(*turns);
      } else {
        if (!replace(peak)) break;
        has_replaced = true;
      }
      const Peak now = peak_of(draft_.units());
      const double score = score_of(now.bytes, draft_.cycles());
      // What takes the place of others is to be worth what it takes, where time counts.
      const bool is_wanted = now.bytes <= search_.wanted || std::isinf(search_.most_cycles);
      if (now.bytes < peak.bytes && (!has_replaced || is_wanted || score < least)) {
        best = taken_;
        least = score;
      }
      peak = now;
    }
    take_these(best);
  }

 private:
  std::optional<Turns> best_turns(const Peak& peak, int32_t middle) {
    std::optional<Turns> best;
    double best_score = std::numeric_limits<double>::infinity();
    for (int32_t first = std::max(0, middle - search_.longest_cascade); first <= middle; ++first)
      for (int32_t last = std::max(first + 1, middle - 1);
           last < first + search_.longest_cascade && can_take_turns(first, last); ++last)
        for (int64_t rows = draft_.rows(last) / 2; rows >= 1; rows /= 2) {
          if (!draft_.take_turns(first, last, rows)) break;
          const double score = score_of(first, last, peak);
          if (score < best_score) {
            best_score = score;
            best = {first, last, rows};
          }
          draft_.undo();
        }
    return best;
  }

  // Where the peak is in a cascade or beside it, and no other can be had: another one in its place. It was as good as that while
  // other operations needed more.
  bool replace(const Peak& peak) {
    const int32_t middle = fullest();
    const std::vector<Turns> before = taken_;
    for (const Turns& old : before) {
      if (middle < old.first - 1 || middle > old.last + 1) continue;
      std::vector<Turns> others = before;
      std::erase(others, old);
      take_these(others);
      if (const std::optional<Turns> best = best_turns(peak, middle)) {
        take(*best);
        return true;
      }
      take_these(before);
    }
    return false;
  }

  // The first operation that runs while feature maps take most.
  int32_t fullest() const {
    const std::vector<CascadeDraft::Unit> units = draft_.units();
    return std::max_element(units.begin(), units.end(),
                            [](const CascadeDraft::Unit& a, const CascadeDraft::Unit& b) {
                              return a.live_bytes < b.live_bytes;
                            })
        ->operation;
  }

  void take(const Turns& turns) {
    draft_.take_turns(turns.first, turns.last, turns.rows);
    taken_.push_back(turns);
    set_used(turns, true);
  }
  // In place of those that there are, of which what both begin with stays.
  void take_these(const std::vector<Turns>& turns) {
    const auto same = static_cast<size_t>(
        std::mismatch(taken_.begin(), taken_.end(), turns.begin(), turns.end()).first -
        taken_.begin());
    for (; taken_.size() > same; taken_.pop_back()) {
      draft_.undo();
      set_used(taken_.back(), false);
    }
    for (size_t i = same; i < turns.size(); ++i) take(turns[i]);
  }
  void set_used(const Turns& turns, bool used) {
    for (int32_t i = turns.first; i <= turns.last; ++i) used_[static_cast<size_t>(i)] = used;
  }

  // Of the draft as it is, with these operations in turns.
  double score_of(int32_t first, int32_t last, const Peak& before) const {
    const std::vector<CascadeDraft::Unit> units = draft_.units();
    const Peak now = peak_of(units);
    const double cycles = draft_.cycles();
    if (!(now < before) || cycles > search_.most_cycles)
      return std::numeric_limits<double>::infinity();
    int64_t bytes = now.bytes;
    // Where others need as much still, what these need by themselves counts.
    if (now.bytes == before.bytes) {
      bytes = 0;
      for (const CascadeDraft::Unit& unit : units)
        if (unit.operation >= first && unit.operation <= last)
          bytes = std::max(bytes, unit.live_bytes);
    }
    return score_of(bytes, cycles);
  }
  double score_of(int64_t bytes, double cycles) const {
    return static_cast<double>(std::max(bytes, search_.wanted)) *
           std::pow(cycles, search_.time_weight);
  }

  bool can_take_turns(int32_t first, int32_t last) const {
    if (last >= draft_.operations()) return false;
    for (int32_t i = first; i <= last; ++i)
      if (used_[static_cast<size_t>(i)] || (i < last && !draft_.feeds_next(i))) return false;
    return true;
  }

  CascadeDraft& draft_;
  const PeakSearch& search_;
  std::vector<Turns> taken_;
  std::vector<bool> used_;  // by operation: it is in a cascade
};

}  // namespace

void lower_peak(CascadeDraft& draft, const PeakSearch& search) {
  TurnsSearch(draft, search).run();
}

}  // namespace intarsia::npu
