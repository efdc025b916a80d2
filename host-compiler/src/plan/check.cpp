// The independent judge of placements. It looks at every pair of buffers and recomputes every claim
// from the definitions; slow on purpose, and without a line in common with the solvers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {

namespace {

using Buffer = PlacementProblem::Buffer;
__extension__ typedef __int128 Wide;  // claims under judgement may be any 64-bit numbers

void judge_buffer(const Buffer& buffer, int64_t offset, Diagnostics& found) {
  const std::string where = fmt::format("buffer '{}'", buffer.name);
  if (offset < 0) found.add(where, fmt::format("lies at the negative offset {}", offset));
  if (buffer.alignment < 1 || offset % buffer.alignment != 0)
    found.add(where, fmt::format("offset {} is not a multiple of its alignment {}", offset,
                                 buffer.alignment));
  if (buffer.fixed_offset && *buffer.fixed_offset != offset)
    found.add(where,
              fmt::format("lies at offset {} but is fixed at {}", offset, *buffer.fixed_offset));
}

bool share_a_byte(const Buffer& a, int64_t a_at, const Buffer& b, int64_t b_at) {
  const bool in_time = std::max(a.lower, b.lower) < std::min(a.upper, b.upper);
  const Wide a_end = Wide{a_at} + a.size;
  const Wide b_end = Wide{b_at} + b.size;
  return in_time && std::max(a_at, b_at) < std::min(a_end, b_end);
}

// The one of two that may be written behind the other's reading lies far enough below it.
bool may_share(const PlacementProblem& problem, const std::vector<int64_t>& offsets, size_t i,
               size_t j) {
  for (const auto& overlap : problem.overlaps) {
    const auto low = static_cast<size_t>(overlap.low), high = static_cast<size_t>(overlap.high);
    const bool these = (low == i && high == j) || (low == j && high == i);
    if (these && Wide{offsets[low]} + overlap.distance <= Wide{offsets[high]}) return true;
  }
  return false;
}

// Bytes that must be alive at once: at each step the sizes, plus, when all offsets are multiples of
// some g > 1, the padding behind all buffers but the one with the most padding.
Wide needed_bytes(const PlacementProblem& problem) {
  Wide needed = 0;
  std::map<int64_t, int> steps;  // something begins here
  for (const Buffer& buffer : problem.buffers) {
    ++steps[buffer.lower];
    needed = std::max(needed, Wide{buffer.size});  // whatever it overlaps
    if (buffer.fixed_offset && buffer.size > 0)
      needed = std::max(needed, Wide{*buffer.fixed_offset} + buffer.size);
  }
  for (const auto& [step, count] : steps) {
    int64_t g = 0;
    for (const Buffer& buffer : problem.buffers)
      if (buffer.size > 0 && buffer.lower <= step && step < buffer.upper)
        g = std::gcd(g, buffer.alignment);
    Wide total = 0;
    int64_t largest_gap = 0;
    for (const Buffer& buffer : problem.buffers) {
      if (buffer.size == 0 || step < buffer.lower || buffer.upper <= step) continue;
      const int64_t gap = buffer.size % g == 0 ? 0 : g - buffer.size % g;
      total += buffer.size;
      total += gap;
      largest_gap = std::max(largest_gap, gap);
    }
    // A pair that may overlap needs no more than the larger reach of the two.
    for (const auto& overlap : problem.overlaps) {
      const Buffer& low = problem.buffers[static_cast<size_t>(overlap.low)];
      const Buffer& high = problem.buffers[static_cast<size_t>(overlap.high)];
      const bool both =
          low.lower <= step && step < low.upper && high.lower <= step && step < high.upper;
      const Wide apart = Wide{low.size} + high.size;
      const Wide together = std::max(Wide{low.size}, Wide{overlap.distance} + high.size);
      if (both && together < apart) total -= apart - together + g;
    }
    needed = std::max(needed, total - largest_gap);
  }
  return needed;
}

void judge_claims(const PlacementProblem& problem, const PlacementSolution& solution, Wide top,
                  Diagnostics& found) {
  if (top != solution.peak)
    found.add("peak", fmt::format("is claimed to be {}, but the highest buffer ends at {}",
                                  solution.peak, static_cast<int64_t>(top)));
  if (solution.lower_bound > solution.peak)
    found.add("lower bound", fmt::format("is claimed to be {}, above the peak of {}",
                                         solution.lower_bound, solution.peak));
  const Wide needed = needed_bytes(problem);
  if (!solution.bound_from_search && solution.lower_bound > needed)
    found.add("lower bound",
              fmt::format("is claimed to be {}, but only {} bytes must be alive at once",
                          solution.lower_bound, static_cast<int64_t>(needed)));
  if (solution.proven_optimal && solution.lower_bound != solution.peak)
    found.add("optimality", fmt::format("is claimed with peak {} and lower bound {}", solution.peak,
                                        solution.lower_bound));
  if (problem.capacity && top > *problem.capacity)
    found.add("capacity", fmt::format("the highest buffer ends at {}, above the capacity of {}",
                                      static_cast<int64_t>(top), *problem.capacity));
}

}  // namespace

Diagnostics check_placement(const PlacementProblem& problem, const PlacementSolution& solution) {
  Diagnostics found;
  const size_t count = problem.buffers.size();
  if (solution.offsets.size() != count) {
    found.add("offsets",
              fmt::format("there are {} for {} buffers", solution.offsets.size(), count));
    return found;
  }
  Wide top = 0;
  for (size_t i = 0; i < count; ++i) {
    const Buffer& buffer = problem.buffers[i];
    judge_buffer(buffer, solution.offsets[i], found);
    // A buffer of no bytes lies nowhere.
    if (buffer.size > 0) top = std::max(top, Wide{solution.offsets[i]} + buffer.size);
    for (size_t j = i + 1; j < count; ++j) {
      const Buffer& other = problem.buffers[j];
      if (buffer.size == 0 || other.size == 0) continue;
      if (share_a_byte(buffer, solution.offsets[i], other, solution.offsets[j]) &&
          !may_share(problem, solution.offsets, i, j))
        found.add(fmt::format("buffer '{}'", buffer.name),
                  fmt::format("overlaps buffer '{}': [{}, +{}) and [{}, +{}) while both are alive",
                              other.name, solution.offsets[i], buffer.size, solution.offsets[j],
                              other.size));
    }
  }
  judge_claims(problem, solution, top, found);
  return found;
}

}  // namespace intarsia::plan
