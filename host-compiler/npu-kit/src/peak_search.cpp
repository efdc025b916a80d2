#include "intarsia/npu/peak_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

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
};

class TurnsSearch {
 public:
  TurnsSearch(CascadeDraft& draft, const PeakSearch& search)
      : draft_(draft), search_(search), used_(static_cast<size_t>(draft.operations()), false) {}

  void run() {
    int unproven = 0;  // turns that have not lowered the peak yet
    for (Peak peak = peak_of(draft_.units()); peak.bytes > search_.wanted;) {
      const std::optional<Turns> best = best_turns(peak);
      if (!best) break;
      draft_.take_turns(best->first, best->last, best->rows);
      ++unproven;
      for (int32_t i = best->first; i <= best->last; ++i) used_[static_cast<size_t>(i)] = true;
      const Peak now = peak_of(draft_.units());
      if (now.bytes < peak.bytes) unproven = 0;
      peak = now;
    }
    for (; unproven > 0; --unproven) draft_.undo();
  }

 private:
  std::optional<Turns> best_turns(const Peak& peak) {
    const std::vector<CascadeDraft::Unit> units = draft_.units();
    const int32_t middle =
        std::max_element(units.begin(), units.end(),
                         [](const CascadeDraft::Unit& a, const CascadeDraft::Unit& b) {
                           return a.live_bytes < b.live_bytes;
                         })
            ->operation;
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
  std::vector<bool> used_;  // by operation: it is in a cascade
};

}  // namespace

void lower_peak(CascadeDraft& draft, const PeakSearch& search) {
  TurnsSearch(draft, search).run();
}

}  // namespace intarsia::npu
