// Which pieces of work are cut into slices of which number, within one budget of fast memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/npu/constant_plan.h"
#include "intarsia/npu/prefetch.h"
#include "intarsia/npu/prefetch_windows.h"

namespace intarsia::npu {

class SliceSearch {
 public:
  SliceSearch(ConstantDraft& draft, PrefetchWindows& prefetch, int64_t budget)
      : draft_(draft), prefetch_(prefetch), budget_(budget) {}

  // Each leaves the draft with the slices of the plan that it returns.

  // As the draft is.
  PrefetchPlan of_whole();
  // From the plan of the draft as it is: all pieces in two or in four.
  PrefetchPlan all_alike(PrefetchPlan whole);
  // From that: each piece otherwise, once.
  PrefetchPlan each_once(PrefetchPlan plan);
  // From a plan of the draft: each piece otherwise, at most `rounds` times.
  PrefetchPlan improved(PrefetchPlan plan, int rounds);

 private:
  // A stretch of the program that is measured alone: some pieces around one that is tried.
  struct Stretch {
    size_t first_piece = 0, end_piece = 0;  // measured
    size_t first_free = 0, end_free = 0;    // whose constants may be fetched otherwise
    std::vector<PrefetchUnit> units;        // as they are now
    std::vector<bool> fetched;              // of these, now
    std::optional<KnownPrefetch> known;     // the plan of that, where it has been asked for
    KnownSlices::Key key = {};              // of all of these
  };

  void try_all(int32_t count);
  bool try_round();
  bool try_slices(size_t piece);
  bool try_count(size_t piece, int32_t count, Stretch& now);

  void read_draft();
  void take(size_t piece, const SlicedPiece& made);
  Stretch stretch_around(size_t piece) const;
  const KnownSlices::Plans& plans_of(size_t piece, const SlicedPiece& made, Stretch& now) const;
  KnownSlices::Plans planned(size_t piece, const SlicedPiece& made, Stretch& now) const;
  size_t units_between(size_t piece, size_t end) const { return first_[end] - first_[piece]; }

  ConstantDraft& draft_;
  PrefetchWindows& prefetch_;
  int64_t budget_;
  PrefetchPlan plan_;                // of the draft as a whole
  std::vector<PrefetchUnit> units_;  // of the draft as it is
  std::vector<size_t> first_;        // of each piece, and the number of all units
  std::vector<bool> fetched_;        // by unit, followed from change to change
  double cycles_ = 0;                // the same
  size_t free_ = 0;         // pieces on either side whose constants may be fetched otherwise
  std::vector<bool> open_;  // pieces around which something has changed since they were tried
};

}  // namespace intarsia::npu
