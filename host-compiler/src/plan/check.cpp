// The independent judge of placements. It looks at every pair of buffers alive together and recomputes every
// claim from the definitions; slow on purpose, and without a line in common with the solvers.
#include <fmt/format.h>

#include <algorithm>
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

// The buffers with bytes, in the order in which they begin.
std::vector<size_t> as_they_begin(const PlacementProblem& problem) {
  std::vector<size_t> order;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].size > 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(problem.buffers[a].lower, a) < std::pair(problem.buffers[b].lower, b);
  });
  return order;
}

// Bytes that must be alive at once: at each step the sizes, plus, when all offsets are multiples of
// some g > 1, the padding behind all buffers but the one with the most padding.
Wide needed_bytes(const PlacementProblem& problem) {
  Wide needed = 0;
  const std::vector<size_t> order = as_they_begin(problem);
  std::vector<std::vector<size_t>> overlaps_of(problem.buffers.size());  // by the later of the two
  for (size_t k = 0; k < problem.overlaps.size(); ++k) {
    const auto low = static_cast<size_t>(problem.overlaps[k].low);
    const auto high = static_cast<size_t>(problem.overlaps[k].high);
    const bool low_first = problem.buffers[low].lower < problem.buffers[high].lower;
    overlaps_of[low_first ? high : low].push_back(k);
  }
  std::vector<size_t> alive;
  for (size_t k = 0; k < order.size(); ++k) {
    const Buffer& begins = problem.buffers[order[k]];
    needed = std::max(needed, Wide{begins.fixed_offset.value_or(0)} + begins.size);
    std::erase_if(alive, [&](size_t i) { return problem.buffers[i].upper <= begins.lower; });
    alive.push_back(order[k]);
    if (k + 1 < order.size() && problem.buffers[order[k + 1]].lower == begins.lower) continue;
    int64_t g = 0;
    for (const size_t i : alive) g = std::gcd(g, problem.buffers[i].alignment);
    Wide total = 0;
    int64_t largest_gap = 0;
    for (const size_t i : alive) {
      const Buffer& buffer = problem.buffers[i];
      const int64_t gap = buffer.size % g == 0 ? 0 : g - buffer.size % g;
      total += buffer.size;
      total += gap;
      largest_gap = std::max(largest_gap, gap);
      // A pair that may overlap needs no more than the larger reach of the two.
      for (const size_t pair : overlaps_of[i]) {
        const PlacementProblem::Overlap& overlap = problem.overlaps[pair];
        const Buffer& low = problem.buffers[static_cast<size_t>(overlap.low)];
        const Buffer& high = problem.buffers[static_cast<size_t>(overlap.high)];
        const bool both = low.size > 0 && high.size > 0 && low.lower <= begins.lower &&
                          begins.lower < low.upper && high.lower <= begins.lower &&
                          begins.lower < high.upper;
        const Wide apart = Wide{low.size} + high.size;
        const Wide together = std::max(Wide{low.size}, Wide{overlap.distance} + high.size);
        if (both && together < apart) total -= apart - together + g;
      }
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
    judge_buffer(problem.buffers[i], solution.offsets[i], found);
    // A buffer of no bytes lies nowhere.
    if (problem.buffers[i].size > 0)
      top = std::max(top, Wide{solution.offsets[i]} + problem.buffers[i].size);
  }
  std::vector<size_t> alive;
  for (const size_t next : as_they_begin(problem)) {
    const Buffer& begins = problem.buffers[next];
    std::erase_if(alive, [&](size_t i) { return problem.buffers[i].upper <= begins.lower; });
    for (const size_t before : alive) {
      const size_t i = std::min(before, next), j = std::max(before, next);
      const Buffer& buffer = problem.buffers[i];
      const Buffer& other = problem.buffers[j];
      if (share_a_byte(buffer, solution.offsets[i], other, solution.offsets[j]) &&
          !may_share(problem, solution.offsets, i, j))
        found.add(fmt::format("buffer '{}'", buffer.name),
                  fmt::format("overlaps buffer '{}': [{}, +{}) and [{}, +{}) while both are alive",
                              other.name, solution.offsets[i], buffer.size, solution.offsets[j],
                              other.size));
    }
    alive.push_back(next);
  }
  judge_claims(problem, solution, top, found);
  return found;
}

}  // namespace intarsia::plan
