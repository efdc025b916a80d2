// Cascades that make the most memory that feature maps take at once smaller: around the operation that runs while they
// take most, consecutive operations are tried in turns, in stripes from long to short, and those are kept that serve
// best; then around the next peak, until the wanted size is reached or nothing helps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace intarsia::npu {

// A schedule that is being changed: units of work in order, each of one operation, of which there may be several units
// (stripes). The target's own; the search changes it by these functions alone.
class CascadeDraft {
 public:
  virtual ~CascadeDraft() = default;

  struct Unit {
    int32_t operation = 0;   // rising
    int64_t live_bytes = 0;  // that feature maps take while it runs
  };
  virtual std::vector<Unit> units() const = 0;
  // What all units together take, in any unit.
  virtual double cycles() const = 0;
  virtual int32_t operations() const = 0;
  // Rows of what the operation makes.
  virtual int64_t rows(int32_t operation) const = 0;
  // Whether the next operation may consume what it makes while it is made.
  virtual bool feeds_next(int32_t operation) const = 0;

  // Replaces the units of operations first .. last by a cascade, `rows` of what the last one makes at a time. False, and
  // nothing has changed: there would be more stripes than are worth their commands.
  virtual bool take_turns(int32_t first, int32_t last, int64_t rows) = 0;
  // Takes back the last turns.
  virtual void undo() = 0;
};

// What a lower peak is worth.
struct PeakSearch {
  int64_t wanted = 0;           // bytes; at or below it nothing is done
  double most_cycles = 0;       // no turns with which all take longer
  double time_weight = 0.25;    // a percent of memory is worth 1 / time_weight percent of time
  int32_t longest_cascade = 4;  // operations at most; the work grows with its square
};

// No operation gets into two cascades. Several operations may need as much as the peak: turns that help only some of
// them are kept once all have theirs, and undone where that does not come.
void lower_peak(CascadeDraft& draft, const PeakSearch& search);

}  // namespace intarsia::npu
