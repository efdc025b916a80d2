#include "intarsia/engine.h"

#include <algorithm>

#include <fmt/format.h>

#include "emission/tensor_infos.h"
#include "engine/program_engine.h"
#include "intarsia/plugin/check.h"

namespace intarsia {

void EngineRegistry::add_simulation(const std::string& kind, MakeSimulation make) {
  simulations_[kind] = std::move(make);
}

void EngineRegistry::add_kernel(const std::string& name, engine::KernelFunction kernel) {
  kernels_[name] = kernel;
}

void EngineRegistry::add_native_code(const std::string& kind, LoadNativeCode load) {
  native_code_[kind] = std::move(load);
}

const LoadNativeCode* EngineRegistry::native_code(const std::string& kind) const {
  const auto found = native_code_.find(kind);
  return found == native_code_.end() ? nullptr : &found->second;
}

const MakeSimulation* EngineRegistry::simulation(const std::string& kind) const {
  const auto found = simulations_.find(kind);
  return found == simulations_.end() ? nullptr : &found->second;
}

const engine::KernelFunction* EngineRegistry::kernel(const std::string& name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : &found->second;
}

struct Engine::State {
  EngineOptions options;
  std::vector<TensorInfo> inputs, outputs;
  // One, or one for each segment of a model for several CPUs, which run one after the other here.
  std::vector<std::unique_ptr<engine::ProgramEngine>> programs;
  // Of segments. The bytes of each channel: of this inference, or those that the one before has left.
  const MulticorePartition* multicore = nullptr;
  std::vector<Bytes> messages;

  void first_messages() {
    if (multicore == nullptr) return;
    messages.clear();
    for (const Channel& channel : multicore->channels) messages.push_back(channel.first_message);
  }

  Result<std::vector<Bytes>> run_segments(const std::vector<std::span<const uint8_t>>& given) {
    std::vector<Bytes> results(outputs.size());
    const std::vector<Channel>& channels = multicore->channels;
    const auto pass = [&](int from, const auto& bytes_of) {
      for (size_t c = 0; c < channels.size(); ++c) {
        if (channels[c].from != from) continue;
        const std::span<const uint8_t> bytes = bytes_of(channels[c].output);
        Bytes& to = channels[c].to == kApplication ? results[channels[c].input] : messages[c];
        to.assign(bytes.begin(), bytes.end());
      }
    };
    pass(kApplication, [&](size_t input) { return given[input]; });
    for (size_t s = 0; s < programs.size(); ++s) {
      std::vector<std::span<const uint8_t>> taken(
          multicore->segments[s].module.entry_function().inputs.size());
      for (size_t c = 0; c < channels.size(); ++c)
        if (channels[c].to == static_cast<int>(s)) taken[channels[c].input] = messages[c];
      INTARSIA_TRY(const std::vector<Bytes> made, programs[s]->run(taken));
      pass(static_cast<int>(s),
           [&](size_t output) { return std::span<const uint8_t>(made[output]); });
    }
    return results;
  }
};

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::make(const CompiledModel& model, const EngineRegistry& registry,
                            EngineOptions options) {
  INTARSIA_CHECK(model.reached >= Stage::Emit, "what is executed is emitted");
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  if (model.multicore.segments.empty()) {
    state->inputs = model.program().emitted.inputs;
    state->outputs = model.program().emitted.outputs;
  } else {
    state->multicore = &model.multicore;
    const graph::Function& entry = model.partitioned.module.entry_function();
    state->inputs = tensor_infos(entry, entry.inputs);
    state->outputs = tensor_infos(entry, entry.outputs);
    state->options.on_result = nullptr;
    state->first_messages();
  }
  size_t devices = 0;
  for (const CompiledProgram& program : model.programs) {
    INTARSIA_TRY(std::unique_ptr<engine::ProgramEngine> made,
                 engine::ProgramEngine::make(program, registry, state->options, devices));
    devices += made->device_count();
    state->programs.push_back(std::move(made));
  }
  return Engine(std::move(state));
}

Result<std::vector<Engine::Bytes>> Engine::run(
    const std::vector<std::span<const uint8_t>>& inputs) {
  return state_->multicore != nullptr ? state_->run_segments(inputs)
                                      : state_->programs.front()->run(inputs);
}

void Engine::reset() {
  for (const auto& program : state_->programs) program->reset();
  state_->first_messages();
}

const std::vector<TensorInfo>& Engine::inputs() const {
  return state_->inputs;
}

const std::vector<TensorInfo>& Engine::outputs() const {
  return state_->outputs;
}

std::string Engine::trace_json() const {
  std::string all;
  for (const auto& program : state_->programs)
    for (const auto& simulation : program->simulations())
      if (const std::string events = simulation->trace_events(); !events.empty())
        all += (all.empty() ? "" : ",\n") + events;
  return all.empty() ? all : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + all + "\n]}\n";
}

std::string Engine::profile_json() const {
  std::string all;
  for (const auto& program : state_->programs)
    for (const auto& simulation : program->simulations()) {
      std::string profile = simulation->profile_json();  // "[...]\n"
      while (profile.ends_with('\n')) profile.pop_back();
      if (profile.size() <= 2) continue;
      all += (all.empty() ? "" : ",") + profile.substr(1, profile.size() - 2);
    }
  return all.empty() ? std::string() : "[" + all + "]\n";
}

}  // namespace intarsia
