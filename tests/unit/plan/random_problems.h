// Small random placement problems, and their best peak by trying everything.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {

struct ProblemShape {
  int buffers = 6;
  int steps = 6;
  int64_t largest = 9;
  bool aligned = false;
  bool fixed = false;
};

// std::uniform_int_distribution differs between libraries; these problems are the same everywhere.
inline int64_t pick(std::mt19937_64& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

inline PlacementProblem random_problem(std::mt19937_64& random, const ProblemShape& shape) {
  PlacementProblem problem;
  for (int i = 0; i < shape.buffers; ++i) {
    PlacementProblem::Buffer buffer;
    buffer.name = std::to_string(i);
    buffer.lower = pick(random, 0, shape.steps - 1);
    buffer.upper = pick(random, buffer.lower + 1, shape.steps);
    buffer.size = pick(random, shape.fixed ? 1 : 0, shape.largest);
    if (shape.aligned) buffer.alignment = int64_t{1} << pick(random, 0, 3);
    problem.buffers.push_back(buffer);
  }
  if (shape.fixed)
    problem.buffers[0].fixed_offset = problem.buffers[0].alignment * pick(random, 0, 3);
  return problem;
}

// A rectangle of time and memory cut into `pieces` without waste: the best peak is `height`, and
// greedy orders seldom find it.
inline PlacementProblem cut_problem(std::mt19937_64& random, int pieces, int64_t steps,
                                    int64_t height) {
  PlacementProblem problem;
  problem.buffers.push_back({"0", 0, steps, height});
  for (int tries = 0; tries < 100 * pieces && std::ssize(problem.buffers) < pieces; ++tries) {
    const auto victim = static_cast<size_t>(pick(random, 0, std::ssize(problem.buffers) - 1));
    auto& piece = problem.buffers[victim];
    auto other = piece;
    other.name = std::to_string(problem.buffers.size());
    if (pick(random, 0, 1) == 0) {
      if (piece.upper - piece.lower < 2) continue;
      other.lower = piece.upper = pick(random, piece.lower + 1, piece.upper - 1);
    } else {
      if (piece.size < 2) continue;
      piece.size = pick(random, 1, piece.size - 1);
      other.size -= piece.size;
    }
    problem.buffers.push_back(other);
  }
  return problem;
}

// Every placement in which each buffer lies as low as those beneath it allow has the shape "in some
// order, each on top of its predecessors": so trying all orders finds the best peak.
inline int64_t best_peak_by_trying_everything(const PlacementProblem& problem) {
  const size_t count = problem.buffers.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> at(count);
  do {
    int64_t peak = 0;
    bool possible = true;
    for (size_t k = 0; k < count && possible; ++k) {
      const auto& buffer = problem.buffers[order[k]];
      if (buffer.size == 0) continue;
      int64_t rest = 0;
      for (size_t j = 0; j < k; ++j) {
        const auto& below = problem.buffers[order[j]];
        if (below.size > 0 && below.lower < buffer.upper && buffer.lower < below.upper)
          rest = std::max(rest, at[order[j]] + below.size);
      }
      while (rest % buffer.alignment != 0) ++rest;
      if (buffer.fixed_offset) {
        possible = rest <= *buffer.fixed_offset;
        rest = *buffer.fixed_offset;
      }
      at[order[k]] = rest;
      peak = std::max(peak, rest + buffer.size);
    }
    if (possible) best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace intarsia::plan
