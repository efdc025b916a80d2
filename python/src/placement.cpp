// The memory planner alone.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "plan/asked_placement.h"
#include "support/watched.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {
namespace {

using plan::PlacementProblem;

struct Solved {
  PlacementProblem problem;
  plan::PlacementSolution solution;
};

Result<Solved> solve(PlacementProblem problem, const std::string& where, int64_t steps) {
  const plan::SearchLimits limits{steps, std::nullopt};
  INTARSIA_TRY(plan::FitOutcome outcome, plan::solve(problem, limits));
  INTARSIA_TRY_VOID(watched::goes_on());
  if (outcome.status != plan::FitStatus::Fits)
    return plan::misfit(problem, limits, outcome, where, "--capacity ");
  const Diagnostics faults = plan::check_placement(problem, outcome.best);
  INTARSIA_CHECK(faults.empty(), "a placement passes the checker: " + faults.to_string());
  return Solved{std::move(problem), std::move(outcome.best)};
}

// name, lower, upper, size, alignment, fixed offset
using Buffer = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t, std::optional<int64_t>>;

Solved place(const std::vector<Buffer>& buffers, std::optional<int64_t> capacity, int64_t steps) {
  PlacementProblem problem;
  for (const auto& [name, lower, upper, size, alignment, fixed] : buffers)
    problem.buffers.push_back({name, lower, upper, size, alignment, fixed});
  problem.capacity = capacity;
  return watched_call(nb::none(),
                      [&](Watcher&) { return solve(std::move(problem), "plan", steps); });
}

Solved place_csv(const std::string& text, const std::string& where, std::optional<int64_t> capacity,
                 int64_t steps) {
  return watched_call(nb::none(), [&](Watcher&) -> Result<Solved> {
    INTARSIA_TRY(PlacementProblem problem, plan::read_problem_csv(text, where));
    problem.capacity = capacity;
    return solve(std::move(problem), where, steps);
  });
}

nb::list buffers_of(const Solved& solved) {
  nb::list list;
  for (size_t i = 0; i < solved.problem.buffers.size(); ++i) {
    const PlacementProblem::Buffer& buffer = solved.problem.buffers[i];
    list.append(nb::make_tuple(buffer.name, buffer.lower, buffer.upper, buffer.size,
                               solved.solution.offsets[i]));
  }
  return list;
}

}  // namespace

void bind_placement(nb::module_& module) {
  nb::class_<Solved>(module, "Solved", "A problem of the memory planner with its solution.")
      .def_prop_ro("peak", [](const Solved& it) { return it.solution.peak; })
      .def_prop_ro("lower_bound", [](const Solved& it) { return it.solution.lower_bound; })
      .def_prop_ro("proven_optimal", [](const Solved& it) { return it.solution.proven_optimal; })
      .def_prop_ro("method", [](const Solved& it) { return it.solution.method; })
      .def_prop_ro("steps", [](const Solved& it) { return it.solution.steps; })
      .def("buffers", buffers_of,
           nb::sig("def buffers(self) -> list[tuple[str, int, int, int, int]]"))
      .def("to_csv",
           [](const Solved& it) { return plan::write_solution_csv(it.problem, it.solution); });
  module.def("place", place, nb::arg("buffers"), nb::arg("capacity").none(), nb::arg("steps"));
  module.def("place_csv", place_csv, nb::arg("text"), nb::arg("where"), nb::arg("capacity").none(),
             nb::arg("steps"));
}

}  // namespace intarsia::python
