#include "run_in_process.h"

#include <algorithm>

#include <fmt/format.h>

namespace intarsia::cli {
namespace {

// The bytes of one inference: of inputs that hold one slice for all, those.
std::vector<std::span<const uint8_t>> slice(const std::vector<TensorInfo>& tensors,
                                            const std::vector<std::vector<uint8_t>>& inputs,
                                            size_t index) {
  std::vector<std::span<const uint8_t>> bytes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto size = static_cast<size_t>(tensors[i].bytes);
    const size_t at = inputs[i].size() > size ? index * size : 0;
    bytes.push_back(std::span(inputs[i]).subspan(at, size));
  }
  return bytes;
}

Result<void> run_repeatedly(const RunCommand& command, Engine& engine,
                            const std::vector<std::vector<uint8_t>>& inputs,
                            ExecuteResult& result) {
  result.outputs.resize(engine.outputs().size());
  for (int run = 0; run < command.repeat; ++run) {
    INTARSIA_TRY(std::vector<Engine::Bytes> made,
                 engine.run(slice(engine.inputs(), inputs, static_cast<size_t>(run))));
    for (size_t i = 0; i < made.size(); ++i) {
      if (!command.keep_all) result.outputs[i].clear();
      result.outputs[i].insert(result.outputs[i].end(), made[i].begin(), made[i].end());
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::vector<uint8_t>>> read_run_inputs(const RunCommand& command,
                                                          const std::string& model,
                                                          const std::vector<TensorInfo>& inputs) {
  if (command.inputs.size() != inputs.size())
    return Diagnostics(
        "--input",
        fmt::format("{} given, {} takes {}", command.inputs.size(), model, inputs.size()),
        "give --input once per model input, in order");
  Diagnostics problems;
  std::vector<std::vector<uint8_t>> all;
  for (size_t i = 0; i < command.inputs.size(); ++i) {
    Result<std::vector<uint8_t>> bytes =
        read_tensor_file(command.inputs[i], inputs[i], command.batch ? kAnySlices : command.repeat);
    if (bytes.ok())
      all.push_back(std::move(bytes).value());
    else
      problems.append(bytes.error());
  }
  if (!problems.empty()) return problems;
  return all;
}

Result<size_t> sample_count(const std::vector<std::string>& names,
                            const std::vector<TensorInfo>& tensors,
                            const std::vector<std::vector<uint8_t>>& inputs) {
  size_t samples = 1;
  for (size_t i = 0; i < inputs.size(); ++i)
    samples = std::max(samples, inputs[i].size() / static_cast<size_t>(tensors[i].bytes));
  Diagnostics problems;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t held = inputs[i].size() / static_cast<size_t>(tensors[i].bytes);
    if (held != samples && held != 1)
      problems.add(names[i], fmt::format("holds {} samples, another input {}", held, samples),
                   "give as many of each, or one for all");
  }
  if (!problems.empty()) return problems;
  return samples;
}

Result<std::optional<Engine>> make_engine(const Context& context, const CompiledModel& model,
                                          const EngineOptions& options, std::string& reason) {
  Result<Engine> engine = Engine::make(model, context.engine, options);
  if (engine.ok()) return std::optional<Engine>(std::move(engine).value());
  reason = engine.error().items().front().what;
  return std::optional<Engine>();
}

Result<ProcessRun> run_engine(const Context& context, const RunCommand& command,
                              const CompiledModel& model, Engine engine,
                              const std::vector<std::vector<uint8_t>>& inputs) {
  ProcessRun run;
  if (command.batch) {
    INTARSIA_TRY(run.samples, sample_count(command.inputs, engine.inputs(), inputs));
    SampleSet set{.samples = run.samples, .threads = command.jobs};
    set.inputs.assign(inputs.begin(), inputs.end());
    INTARSIA_TRY(run.result.outputs, run_samples(model, context.engine, set));
    return run;
  }
  INTARSIA_TRY_VOID(run_repeatedly(command, engine, inputs, run.result));
  run.result.device_profile = engine.profile_json();
  if (!command.trace_file.empty()) run.trace = engine.trace_json();
  return run;
}

}  // namespace intarsia::cli
