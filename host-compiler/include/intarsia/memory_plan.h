// Static memory placement: buffers with known lifetimes and sizes get fixed offsets in one pool.
// Deterministic: budgets count search steps, so the same problem gives the same plan everywhere.
// check_placement() judges any solution without trusting (or sharing code with) the solvers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/diagnostics.h"
#include "intarsia/plugin/progress.h"
#include "intarsia/result.h"

namespace intarsia::plan {

// Buffers to be placed in one memory. Sizes and offsets are bytes.
struct PlacementProblem {
  // One of them.
  struct Buffer {
    std::string name;
    int64_t lower = 0;  // alive during the steps [lower, upper)
    int64_t upper = 0;
    int64_t size = 0;
    int64_t alignment = 1;                // the offset is a multiple of it; any positive number
    std::optional<int64_t> fixed_offset;  // given: the buffer stays exactly there
  };
  // Two buffers may share bytes while both are alive if `low` begins at least `distance` >= 0 bytes
  // before `high`: an output that is written behind the place where its input is being read.
  struct Overlap {
    int32_t low = 0, high = 0;  // indices into buffers
    int64_t distance = 0;
  };
  std::vector<Buffer> buffers;
  std::vector<Overlap> overlaps;
  std::optional<int64_t> capacity;
};

// Where they were placed, and what is known of it. Offsets and bounds are bytes.
struct PlacementSolution {
  std::vector<int64_t> offsets;  // one for each buffer of the problem, in its order
  int64_t peak = 0;              // the highest end of a buffer
  int64_t lower_bound = 0;       // no placement has a smaller peak
  bool bound_from_search =
      false;                    // lower_bound exceeds live_bound(): an exhausted search proved it
  bool proven_optimal = false;  // peak == lower_bound
  std::string method;           // what found the offsets, for the report
  int64_t steps = 0;            // of the limits, taken to get here
};

// Whether a placement within the capacity was found, was proven not to exist, or neither until the limits were reached.
enum class FitStatus { Fits, ProvenNotToFit, BudgetEnded };

// The answer of fit_in_capacity.
struct FitOutcome {
  FitStatus status = FitStatus::BudgetEnded;
  // The best placement known. Within the capacity exactly when the status is Fits.
  PlacementSolution best;
};

// How long a search may go on.
struct SearchLimits {
  int64_t steps = 20'000'000;  // buffers placed during the search, over all its attempts
  // Wall time, for people at a terminal only: it makes results depend on the machine.
  std::optional<double> seconds;
  // Told now and then of the steps, which the limit is the total of: a search may end before.
  ProgressListener on_progress = {};
};

// Problems with the numbers themselves: negative sizes, empty lifetimes, sums beyond 64 bits,
// fixed offsets that are misaligned or overlap each other. The solvers call it first.
Result<void> validate_problem(const PlacementProblem& problem);

// A peak no placement can beat: the most bytes alive at one step, with the padding that alignment
// forces between neighbours, less what overlaps can save, and the ends of fixed buffers. Needs a valid
// problem.
int64_t live_bound(const PlacementProblem& problem);

// The best of several greedy orders: quick, and often optimal on feed-forward networks.
Result<PlacementSolution> place_greedily(const PlacementProblem& problem);

// The smallest peak that the limits allow to find. Ignores the capacity.
Result<PlacementSolution> minimise_peak(const PlacementProblem& problem,
                                        const SearchLimits& limits);

// A placement within the capacity (which must be given), or a proof that there is none, or neither
// when the budget ends. Stops at the first placement that fits.
Result<FitOutcome> fit_in_capacity(const PlacementProblem& problem, const SearchLimits& limits);

// Everything wrong with a solution: its length, bounds, alignment, overlaps, fixed offsets, and
// what it claims about peak, lower bound and optimality. `capacity` of the problem counts when
// given.
Diagnostics check_placement(const PlacementProblem& problem, const PlacementSolution& solution);

// MiniMalloc's format: a header id,lower,upper,size[,alignment][,offset] with the columns in any
// order, one buffer per line. A filled offset column pins buffers. `source` names the text in
// diagnostics ("problem.csv").
Result<PlacementProblem> read_problem_csv(std::string_view text, const std::string& source);

// The problem with its offsets: the input's columns and `offset`.
std::string write_solution_csv(const PlacementProblem& problem, const PlacementSolution& solution);

}  // namespace intarsia::plan
