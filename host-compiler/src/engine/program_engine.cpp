#include "engine/program_engine.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "emission/shown_results.h"
#include "intarsia/contract/status.h"
#include "intarsia/plugin/check.h"
#include "packaging/stream_package.h"
#include "support/watched.h"

namespace intarsia::engine {
namespace {

constexpr size_t kPackageAlignment = 16;  // of intarsia_package_open

std::string status_text(intarsia_status status) {
  switch (status) {
#define INTARSIA_STATUS(name, value, sentence) \
  case value:                                  \
    return sentence;
#include "intarsia/contract/status.def"
#undef INTARSIA_STATUS
    default:
      return "unknown";
  }
}

}  // namespace

ProgramEngine::ProgramEngine(const CompiledProgram& program, const EngineRegistry& registry,
                             const EngineOptions& options)
    : program_(program),
      options_(options),
      memory_(program),
      functions_(program.lowered,
                 [&registry](const std::string& name) { return registry.kernel(name); }) {}

Result<std::unique_ptr<ProgramEngine>> ProgramEngine::make(const CompiledProgram& program,
                                                           const EngineRegistry& registry,
                                                           const EngineOptions& options,
                                                           size_t first_device) {
  std::unique_ptr<ProgramEngine> made(new ProgramEngine(program, registry, options));
  if (!program.emitted.streams.empty()) {
    INTARSIA_TRY_VOID(made->open_devices(registry, first_device));
    INTARSIA_TRY_VOID(made->open_package());
  }
  INTARSIA_TRY_VOID(made->load_native_code(registry));
  INTARSIA_TRY_VOID(made->prepare(program.lowered.entry_func().body));
  return made;
}

Result<void> ProgramEngine::open_package() {
  const std::vector<uint8_t> bytes = packaging::stream_package(program_);
  package_bytes_.resize(bytes.size() + kPackageAlignment);
  void* begin = package_bytes_.data();
  size_t space = package_bytes_.size();
  begin = std::align(kPackageAlignment, bytes.size(), begin, space);
  std::memcpy(begin, bytes.data(), bytes.size());
  const intarsia_status status =
      intarsia_package_open(&package_, begin, static_cast<uint32_t>(bytes.size()));
  INTARSIA_CHECK(status == INTARSIA_OK, "the runtime opens what the compiler writes");
  return {};
}

Result<void> ProgramEngine::open_devices(const EngineRegistry& registry, size_t first_device) {
  std::map<std::string, std::vector<const Target*>> by_kind;
  for (const std::string& name : program_.emitted.devices) {
    const Target* device = program_.target.device(name);
    INTARSIA_CHECK(device != nullptr, "streams belong to devices of the target");
    by_kind[device->kind].push_back(device);
  }
  SimulationOptions options{.trace = options_.trace, .profile = options_.profile};
  for (const CommandStream& stream : program_.emitted.streams) options.marks += stream.marks;
  for (const auto& [kind, targets] : by_kind) {
    const MakeSimulation* make = registry.simulation(kind);
    options.first_device = static_cast<int>(first_device + devices_.size());
    std::unique_ptr<Simulation> simulation = make != nullptr ? (*make)(targets, options) : nullptr;
    for (size_t i = 0; i < targets.size(); ++i) {
      intarsia_device* device = simulation != nullptr ? simulation->device(i) : nullptr;
      if (device == nullptr)
        return Diagnostics(program_.emitted.name,
                           fmt::format("{} is not simulated in this process", targets[i]->name),
                           "'intarsia run --native' builds its C and runs that");
      devices_[targets[i]->name] = device;
    }
    simulations_.push_back(std::move(simulation));
  }
  return {};
}

Result<void> ProgramEngine::load_native_code(const EngineRegistry& registry) {
  std::set<std::string> kinds;
  for (const Target& device : program_.target.devices()) {
    const LoadNativeCode* load = registry.native_code(device.kind);
    if (load == nullptr || !kinds.insert(device.kind).second) continue;
    INTARSIA_TRY(std::unique_ptr<NativeCode> code, (*load)(program_));
    if (code != nullptr) native_code_.push_back(std::move(code));
  }
  return {};
}

Result<void> ProgramEngine::prepare(const tir::Stmt& stmt) {
  if (const auto* call = std::get_if<tir::Call>(&stmt->node)) return prepare(*call);
  if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node)) {
    for (const tir::Stmt& inner : sequence->statements) INTARSIA_TRY_VOID(prepare(inner));
  } else if (const auto* branch = std::get_if<tir::If>(&stmt->node)) {
    INTARSIA_TRY_VOID(prepare(branch->then_body));
    if (branch->else_body != nullptr) INTARSIA_TRY_VOID(prepare(branch->else_body));
  } else if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
    INTARSIA_TRY_VOID(prepare(loop->body));
  }
  return {};
}

Result<void> ProgramEngine::prepare(const tir::Call& call) {
  Step step;
  step.index = static_cast<int32_t>(steps_.size());
  const std::vector<CommandStream>& streams = program_.emitted.streams;
  const auto stream = std::find_if(streams.begin(), streams.end(), [&](const CommandStream& each) {
    return each.func == call.function;
  });
  const bool is_stream = stream != streams.end();
  if (is_stream) {
    step.stream = static_cast<uint32_t>(stream - streams.begin());
    step.device = devices_.at(stream->device);
    step.device_name = stream->device;
  } else {
    for (const auto& code : native_code_)
      if (step.native == nullptr) step.native = code->function(call.function);
    if (step.native == nullptr) {
      INTARSIA_TRY(step.function, functions_.compiled(call.function));
    }
  }
  for (const tir::BufferId argument : call.arguments)
    step.arguments.push_back(memory_.address(argument));
  if (options_.on_result)
    for (const emission::ShownTensor& shown :
         emission::shown_tensors(program_.module, program_.plan, functions_.at(call.function),
                                 call.arguments, is_stream)) {
      const int64_t bytes = program_.lowered.entry_func().buffer(shown.buffer).bytes();
      step.shown.push_back(
          {shown.name, {memory_.address(shown.buffer), static_cast<size_t>(bytes)}});
    }
  steps_[&call] = std::move(step);
  return {};
}

Result<std::vector<Engine::Bytes>> ProgramEngine::run(
    const std::vector<std::span<const uint8_t>>& inputs) {
  const tir::Func& schedule = program_.lowered.entry_func();
  INTARSIA_CHECK(inputs.size() == program_.emitted.inputs.size(), "each input has its bytes");
  for (size_t i = 0; i < inputs.size(); ++i) {
    INTARSIA_CHECK(static_cast<int64_t>(inputs[i].size()) == program_.emitted.inputs[i].bytes,
                   "an input has as many bytes as its tensor");
    std::copy(inputs[i].begin(), inputs[i].end(), memory_.address({static_cast<int32_t>(i)}));
  }
  INTARSIA_TRY_VOID(execute(schedule.body));
  std::vector<Engine::Bytes> outputs;
  for (size_t i = 0; i < program_.emitted.outputs.size(); ++i) {
    const uint8_t* from = memory_.address({static_cast<int32_t>(inputs.size() + i)});
    outputs.emplace_back(from, from + program_.emitted.outputs[i].bytes);
  }
  return outputs;
}

Result<void> ProgramEngine::execute(const tir::Stmt& stmt) {
  if (const auto* call = std::get_if<tir::Call>(&stmt->node)) return execute(steps_.at(call));
  if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node)) {
    for (const tir::Stmt& inner : sequence->statements) INTARSIA_TRY_VOID(execute(inner));
  } else if (const auto* branch = std::get_if<tir::If>(&stmt->node)) {
    const tir::BufferId flag = std::get<tir::Load>(branch->condition->node).buffer;
    if (*memory_.address(flag) != 0) return execute(branch->then_body);
    if (branch->else_body != nullptr) return execute(branch->else_body);
  } else if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
    const int64_t iterations = std::get<tir::IntImm>(loop->hi->node).value;
    for (int64_t i = std::get<tir::IntImm>(loop->lo->node).value; i < iterations; ++i)
      INTARSIA_TRY_VOID(execute(loop->body));
  }
  return {};
}

Diagnostics ProgramEngine::failed(const Step& step, intarsia_status status) {
  std::string messages;
  for (const auto& simulation : simulations_) messages += simulation->take_messages();
  while (messages.ends_with('\n')) messages.pop_back();
  return Diagnostics(fmt::format("{} on {}", program_.emitted.name, step.device_name),
                     fmt::format("the run ended with status {}: {}{}{}", static_cast<int>(status),
                                 status_text(status), messages.empty() ? "" : "\n", messages),
                     "'intarsia explain-error CODE' explains status codes of the runtime");
}

Result<void> ProgramEngine::execute(const Step& step) {
  INTARSIA_TRY_VOID(watched::goes_on());
  if (step.native != nullptr) {
    step.native(step.arguments.data());
  } else if (step.function != nullptr) {
    executor_.run(*step.function, step.arguments);
  } else {
    const intarsia_status status = intarsia_package_run(&package_, step.stream, memory_.pools(),
                                                        memory_.pool_count(), step.device);
    if (status != INTARSIA_OK) return failed(step, status);
  }
  for (const Step::Shown& shown : step.shown)
    options_.on_result(step.index, shown.name, shown.bytes);
  return {};
}

}  // namespace intarsia::engine
