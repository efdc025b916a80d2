// Two buffers that never live together share their bytes.
#include <cstdio>

#include "intarsia/memory_plan.h"

int main() {
  intarsia::plan::PlacementProblem problem;
  problem.buffers = {{.name = "a", .lower = 0, .upper = 1, .size = 100},
                     {.name = "b", .lower = 1, .upper = 2, .size = 60}};
  const auto solution = intarsia::plan::minimise_peak(problem, {});
  if (!solution.ok()) return 1;
  std::printf("peak %d\n", static_cast<int>(solution->peak));
  return 0;
}
