// Is a problem well formed, and what can no placement beat?
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "intarsia/memory_plan.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::plan {

namespace {

using Buffer = PlacementProblem::Buffer;

// Sums of sizes with all padding stay below this, so no later arithmetic on offsets overflows.
constexpr int64_t kLargestSum = int64_t{1} << 60;

std::string where_is(const Buffer& buffer) {
  return fmt::format("buffer '{}'", buffer.name);
}

void check_buffer(const Buffer& buffer, Diagnostics& problems) {
  if (buffer.lower < 0)
    problems.add(where_is(buffer), fmt::format("begins at step {}, before step 0", buffer.lower));
  if (buffer.upper <= buffer.lower)
    problems.add(where_is(buffer),
                 fmt::format("is alive in [{}, {}), which is empty", buffer.lower, buffer.upper),
                 "upper is the first step at which it is no longer needed");
  if (buffer.size < 0)
    problems.add(where_is(buffer), fmt::format("has the negative size {}", buffer.size));
  if (buffer.alignment <= 0)
    problems.add(where_is(buffer), fmt::format("has the alignment {}", buffer.alignment),
                 "an alignment is at least 1");
  if (!buffer.fixed_offset) return;
  if (*buffer.fixed_offset < 0)
    problems.add(where_is(buffer), fmt::format("is fixed at offset {}", *buffer.fixed_offset));
  else if (buffer.alignment > 0 && *buffer.fixed_offset % buffer.alignment != 0)
    problems.add(where_is(buffer),
                 fmt::format("is fixed at offset {}, not a multiple of its alignment {}",
                             *buffer.fixed_offset, buffer.alignment));
}

void check_sum(const PlacementProblem& problem, Diagnostics& problems) {
  int64_t sum = 0;
  int64_t fixed_end = 0;
  const auto add = [](int64_t& total, int64_t value) {
    total = value > kLargestSum - total ? kLargestSum : total + value;
  };
  for (const Buffer& buffer : problem.buffers) {
    add(sum, buffer.size);
    add(sum, buffer.alignment);
    int64_t end = buffer.fixed_offset.value_or(0);
    add(end, buffer.size);
    fixed_end = std::max(fixed_end, end);
  }
  add(sum, fixed_end);
  if (sum >= kLargestSum)
    problems.add("buffers", "the sizes and alignments add up to 2^60 or more",
                 "is a size wrong by a large factor?");
}

void check_overlaps(const PlacementProblem& problem, Diagnostics& problems) {
  const auto count = static_cast<int32_t>(problem.buffers.size());
  for (const PlacementProblem::Overlap& overlap : problem.overlaps) {
    const bool known = overlap.low >= 0 && overlap.low < count && overlap.high >= 0 &&
                       overlap.high < count && overlap.low != overlap.high;
    if (!known || overlap.distance < 0 || overlap.distance > kLargestSum)
      problems.add("overlaps", fmt::format("{} and {} at {} names no two buffers at a distance",
                                           overlap.low, overlap.high, overlap.distance));
  }
}

// The most bytes that two buffers can share.
int64_t saving(const PlacementProblem& problem, const PlacementProblem::Overlap& overlap) {
  const int64_t low = problem.buffers[static_cast<size_t>(overlap.low)].size;
  const int64_t high = problem.buffers[static_cast<size_t>(overlap.high)].size;
  return std::max<int64_t>(0, low + high - std::max(low, overlap.distance + high));
}

bool alive_together(const Buffer& a, const Buffer& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

void check_fixed(const PlacementProblem& problem, Diagnostics& problems) {
  std::vector<const Buffer*> fixed;
  for (const Buffer& buffer : problem.buffers)
    if (buffer.fixed_offset && buffer.size > 0) fixed.push_back(&buffer);
  for (size_t i = 0; i < fixed.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Buffer& a = *fixed[i];
      const Buffer& b = *fixed[j];
      if (alive_together(a, b) && *a.fixed_offset < *b.fixed_offset + b.size &&
          *b.fixed_offset < *a.fixed_offset + a.size)
        problems.add(where_is(a),
                     fmt::format("is fixed at offset {}, where '{}' is fixed while both "
                                 "are alive",
                                 *a.fixed_offset, b.name));
    }
  }
}

}  // namespace

Result<void> validate_problem(const PlacementProblem& problem) {
  Diagnostics problems;
  for (const Buffer& buffer : problem.buffers) check_buffer(buffer, problems);
  check_overlaps(problem, problems);
  if (problem.capacity && *problem.capacity < 0)
    problems.add("capacity", fmt::format("is negative: {}", *problem.capacity));
  // Sums mean something only when their parts do.
  if (problems.empty()) check_sum(problem, problems);
  if (problems.empty()) check_fixed(problem, problems);
  return Result<void>::from(std::move(problems));
}

namespace {

// What is alive while steps pass. All its offsets are multiples of `grain_`, so each buffer but the topmost
// is followed by padding.
class Alive {
 public:
  void begin(const Buffer& buffer) {
    by_end_.emplace(buffer.upper, &buffer);
    if (++alignments_[buffer.alignment] == 1) changed_ = true;
    if (!changed_) count(buffer);
  }
  // Those that end at `step` or before.
  void end_until(int64_t step) {
    while (!by_end_.empty() && by_end_.begin()->first <= step) {
      const Buffer& buffer = *by_end_.begin()->second;
      by_end_.erase(by_end_.begin());
      const auto found = alignments_.find(buffer.alignment);
      if (--found->second == 0) {
        alignments_.erase(found);
        changed_ = true;
      }
      if (changed_) continue;
      sum_ -= padded(buffer);
      paddings_.erase(paddings_.find(padded(buffer) - buffer.size));
    }
  }
  int64_t grain() {
    settle();
    return grain_;
  }
  // Their bytes and the padding between them.
  int64_t bytes() {
    settle();
    return paddings_.empty() ? 0 : sum_ - *paddings_.rbegin();
  }

 private:
  int64_t padded(const Buffer& buffer) const { return round_up(buffer.size, grain_); }
  void count(const Buffer& buffer) {
    sum_ += padded(buffer);
    paddings_.insert(padded(buffer) - buffer.size);
  }
  void settle() {
    if (!changed_) return;
    changed_ = false;
    int64_t grain = 0;
    for (const auto& [alignment, buffers] : alignments_) grain = std::gcd(grain, alignment);
    grain_ = std::max<int64_t>(1, grain);
    sum_ = 0;
    paddings_.clear();
    for (const auto& [upper, buffer] : by_end_) count(*buffer);
  }

  std::multimap<int64_t, const Buffer*> by_end_;
  std::map<int64_t, int64_t> alignments_;  // and how many have them
  bool changed_ = false;
  int64_t grain_ = 1, sum_ = 0;
  std::multiset<int64_t> paddings_;
};

// The steps at which two buffers that may overlap are both alive.
struct SharedSteps {
  int64_t first = 0, end = 0, bytes = 0;
};

}  // namespace

int64_t live_bound(const PlacementProblem& problem) {
  std::vector<const Buffer*> by_start;
  int64_t bound = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.size == 0) continue;
    by_start.push_back(&buffer);
    bound = std::max(bound, buffer.fixed_offset.value_or(0) + buffer.size);
  }
  std::stable_sort(by_start.begin(), by_start.end(),
                   [](const Buffer* a, const Buffer* b) { return a->lower < b->lower; });
  std::vector<SharedSteps> shared;
  for (const PlacementProblem::Overlap& overlap : problem.overlaps) {
    const Buffer& low = problem.buffers[static_cast<size_t>(overlap.low)];
    const Buffer& high = problem.buffers[static_cast<size_t>(overlap.high)];
    if (low.size > 0 && high.size > 0 && alive_together(low, high))
      shared.push_back({std::max(low.lower, high.lower), std::min(low.upper, high.upper),
                        saving(problem, overlap)});
  }
  std::sort(shared.begin(), shared.end(),
            [](const SharedSteps& a, const SharedSteps& b) { return a.first < b.first; });
  Alive alive;
  size_t next_shared = 0;
  std::vector<const SharedSteps*> sharing;
  for (size_t i = 0; i < by_start.size(); ++i) {
    const int64_t step = by_start[i]->lower;
    alive.end_until(step);
    alive.begin(*by_start[i]);
    if (i + 1 < by_start.size() && by_start[i + 1]->lower == step) continue;
    for (; next_shared < shared.size() && shared[next_shared].first <= step; ++next_shared)
      sharing.push_back(&shared[next_shared]);
    std::erase_if(sharing, [&](const SharedSteps* pair) { return pair->end <= step; });
    int64_t saved = 0;  // were every pair to share all it can
    for (const SharedSteps* pair : sharing) saved += pair->bytes + alive.grain();
    bound = std::max(bound, alive.bytes() - saved);
  }
  return bound;
}

}  // namespace intarsia::plan
