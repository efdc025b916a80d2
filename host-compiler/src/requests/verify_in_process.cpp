#include "requests/verify_in_process.h"

#include <algorithm>

#include <fmt/format.h>

#include "intarsia/graph/tensor_values.h"

namespace intarsia::requests {
namespace {

struct Ran {
  std::vector<Values> results;  // by sample, then by output
  Explanation explanation;
};

// State goes on from one sample to the next.
Result<Ran> run(const Environment& environment, const EngineRegistry& engines,
                const Selection& selection, const graph::Module& module,
                const std::vector<Values>& samples) {
  INTARSIA_TRY(CompiledModel model,
               compile_on(environment, selection, imported_model(module), Stage::Emit));
  INTARSIA_TRY(Engine engine, Engine::make(model, engines));
  Ran ran;
  for (const Values& sample : samples) {
    const std::vector<std::span<const uint8_t>> inputs(sample.begin(), sample.end());
    INTARSIA_TRY(Values results, engine.run(inputs));
    ran.results.push_back(std::move(results));
  }
  ran.explanation = std::move(model.partitioned.explanation);
  return ran;
}

std::string first_difference(const graph::Function& entry, const std::vector<Values>& expected,
                             const std::vector<Values>& results) {
  for (size_t s = 0; s < expected.size(); ++s)
    for (size_t i = 0; i < entry.outputs.size(); ++i) {
      const graph::Tensor& tensor = entry.tensor(entry.outputs[i]);
      if (const auto found = graph::first_difference(tensor, expected[s][i], results[s][i]))
        return fmt::format("output {} '{}', sample {}, {}", i, tensor.name, s,
                           found->text(tensor.shape));
    }
  return "";
}

}  // namespace

Result<ProcessCheck> verify_in_process(const Environment& environment,
                                       const EngineRegistry& engines, const Selection& selection,
                                       const graph::Module& module,
                                       const std::vector<Values>& samples, bool layers) {
  INTARSIA_TRY(const std::vector<Values> expected, evaluate(module, samples));
  INTARSIA_TRY(const Ran closed, run(environment, engines, selection, module, samples));
  ProcessCheck check;
  check.difference = first_difference(module.entry_function(), expected, closed.results);

  INTARSIA_TRY(const ReducedModule reduced, reduced_as_asked(module, selection.options));
  const graph::Module opened = with_all_outputs(pinned_as(reduced.module, closed.explanation));
  const std::map<std::string, int32_t> allowed =
      tolerances(opened, closed.explanation, environment.registry, selection.target);
  for (const auto& [name, steps] : allowed) check.allowed = std::max(check.allowed, steps);
  const bool floats_decide =
      !check.difference.empty() && makes_integers_of_computed_floats(reduced.module);
  if (!layers && check.allowed == 0 && !floats_decide) return check;

  Selection open = selection;
  open.options.lowering.eliminate_dead_channels =
      false;  // outputs hold every channel: there is less to eliminate
  open.options.lowering.ram_budget.reset();
  open.options.fits_by_row_tiles = false;
  open.options.memory = unlimited_memory();  // every result is kept at once
  INTARSIA_TRY(const Ran ran, run(environment, engines, open, opened, samples));
  INTARSIA_TRY(OperatorCheck operators, check_operators(opened, allowed, samples, ran.results));
  check.rows = std::move(operators.rows);
  check.largest = operators.largest;
  if (!operators.difference.empty()) {
    check.difference = operators.difference;
  } else if (check.allowed > 0 || floats_decide) {
    // What the operators were seen to do has to be what the program as it is does.
    std::vector<Values> outputs;
    const auto own = static_cast<int64_t>(module.entry_function().outputs.size());
    for (const Values& all : ran.results) outputs.emplace_back(all.begin(), all.begin() + own);
    check.difference = first_difference(module.entry_function(), outputs, closed.results);
  }
  return check;
}

}  // namespace intarsia::requests
