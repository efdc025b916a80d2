// How much fast memory the constants of a program get, which of them are fetched ahead, and which operations are cut into
// slices for it: slices of the output's depth have constants of their own, which take less memory at a time and arrive
// earlier, and cost the ends of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "intarsia/npu/prefetch_windows.h"

namespace intarsia::npu {

// A piece of work in another number of slices.
struct SlicedPiece {
  // Their costs and constants, and what they wait for. Tables and what lives beside them are those of the piece now.
  std::vector<PrefetchUnit> units;
  bool next_waits = false;  // PrefetchUnit::waits of the unit behind them
};

// A schedule that is being changed. The target's own; the search changes it by these functions alone.
class ConstantDraft {
 public:
  virtual ~ConstantDraft() = default;

  // What runs, as the prefetch sees it now: the units of each piece behind those of the piece before.
  virtual std::vector<PrefetchUnit> prefetch_units() = 0;
  // What the constants take with the slices that there are now, as a multiple of what they take without; at least 1.
  virtual double constants_growth() const = 0;
  // The same if that piece, and nothing else, had this number of slices.
  virtual double constants_growth(size_t piece, size_t slices) const = 0;

  // Pieces of work that there are without slices; each is cut by itself.
  virtual size_t pieces() const = 0;
  virtual bool can_slice(size_t piece) const = 0;
  // Of a piece that can be cut: its slices now, and how many come of asking for `count`, since slices are whole units of
  // the hardware.
  virtual size_t slices(size_t piece) const = 0;
  virtual size_t slices_for(size_t piece, int32_t count) = 0;
  // That piece in this number of slices, as prefetch_units would say it.
  virtual SlicedPiece sliced(size_t piece, int32_t count) = 0;
  // The draft with that piece in this number of slices; all that can be cut, and the others whole.
  virtual void slice(size_t piece, int32_t count) = 0;
  virtual void slice_all(int32_t count) = 0;

  // The schedule as it is, to come back to.
  virtual std::shared_ptr<const void> save() const = 0;
  virtual void restore(const std::shared_ptr<const void>& saved) = 0;
};

// What is worth what.
struct ConstantSearch {
  int64_t least_bytes = 0;     // of fast memory, which feature maps take in any case
  double memory_per_time = 2;  // percent more fast memory that are worth one percent of time
  int slice_rounds = 2;        // times that all pieces are gone through; 0: nothing is cut
  // plan_score of a plan that there is already: what is behind it is not looked at any closer.
  double score_to_beat = std::numeric_limits<double>::infinity();
  // Whether the best is looked at more closely: not where it is to be compared with other plans first.
  bool looks_closer = true;
};

// What is fetched ahead, and within how many bytes of fast memory.
struct ConstantPlan {
  PrefetchPlan prefetch;
  int64_t budget = 0;  // one of those that were offered
};

// Time and what its memory is worth: less is better.
double plan_score(const PrefetchPlan& plan, const ConstantSearch& search);

// The best for these budgets (at least one; fast_memory_sizes.h), in the order of bytes. A percent of constants is worth a
// percent of time. Greedy: all pieces in two or four, then each otherwise, as long as it helps where it runs: a stretch
// of the program around it is measured, so that the work grows with the program's length. The draft is left with the slices of
// the plan.
ConstantPlan plan_constants(ConstantDraft& draft, PrefetchWindows& prefetch,
                            std::span<const int64_t> budgets, const ConstantSearch& search);

// The plan that the draft has, with slices that are looked at more closely than plan_constants can do for several: the last thing that
// it does, unless `looks_closer` leaves that to the caller.
ConstantPlan looked_at_closer(ConstantDraft& draft, PrefetchWindows& prefetch, ConstantPlan plan,
                              const ConstantSearch& search);

}  // namespace intarsia::npu
