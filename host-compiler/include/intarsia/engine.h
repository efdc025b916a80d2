// A compiled model executed inside this process: no C compiler is started. Memory is laid out as planned, so that a wrong
// plan gives wrong results here as it does on a chip. Functions of CPUs are executed from their lowered loops and the
// kernels that they call, or as code of this machine where their kind has made it; command streams by the driver of their
// device on a simulated one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intarsia/compiled_model.h"
#include "intarsia/plugin/host_kernels.h"
#include "intarsia/result.h"
#include "intarsia/target.h"

struct intarsia_device;  // intarsia/contract/device.h

namespace intarsia {

// What simulated devices record.
struct SimulationOptions {
  bool trace = false;    // record what devices do over time
  bool profile = false;  // record the cycles of each operator
  std::string marks;     // CommandStream::marks of all streams of the program
  // How many devices other programs of the model have in front.
  int first_device = 0;
};

// The simulated devices of one kind in a program.
class Simulation {
 public:
  virtual ~Simulation() = default;
  // In the order of the targets that it was made for; null where no such device can be simulated.
  virtual intarsia_device* device(size_t index) = 0;
  // What devices complained of since the last call, a line each. May be empty.
  virtual std::string take_messages() = 0;
  // Of Chrome's trace format, with commas between.
  virtual std::string trace_events() { return {}; }
  virtual std::string profile_json() { return {}; }  // an array: the last run of each stream
};
// Makes the simulated devices for targets of one kind.
using MakeSimulation = std::function<std::unique_ptr<Simulation>(
    std::span<const Target* const> targets, const SimulationOptions& options)>;

// Functions of a program as code of this machine, which is in memory as long as this is.
class NativeCode {
 public:
  virtual ~NativeCode() = default;
  // Takes the addresses of the function's buffers, in the order of its parameters.
  using Function = void (*)(uint8_t* const* buffers);
  // Of the lowered program, by its name; null where the code has no such function.
  virtual Function function(const std::string& name) const = 0;
};
// Loads the code of the functions that devices of one kind run. Null where it is not for this machine.
using LoadNativeCode =
    std::function<Result<std::unique_ptr<NativeCode>>(const CompiledProgram& program)>;

// What this build executes in its process, besides loops. Made once by the composition root, as TargetRegistry is.
class EngineRegistry {
 public:
  // For the devices of a kind of target.
  void add_simulation(const std::string& kind, MakeSimulation make);
  // For the CPUs of a kind of target. Without it their functions are executed from their loops.
  void add_native_code(const std::string& kind, LoadNativeCode load);
  // A C function that lowered functions call, by its name.
  void add_kernel(const std::string& name, engine::KernelFunction kernel);

  const MakeSimulation* simulation(const std::string& kind) const;      // null: none
  const LoadNativeCode* native_code(const std::string& kind) const;     // null: none
  const engine::KernelFunction* kernel(const std::string& name) const;  // null: none

 private:
  std::map<std::string, MakeSimulation> simulations_;
  std::map<std::string, LoadNativeCode> native_code_;
  std::map<std::string, engine::KernelFunction> kernels_;
};

// What an engine tells besides its results.
struct EngineOptions {
  bool trace = false, profile = false;  // of simulated devices
  // Called with each operator's result when it is there, as the trace hook of a built program is (docs/debugging.md):
  // `index` counts the calls in the text of the model's run function. May be empty. Not of a model for several CPUs.
  std::function<void(int32_t index, const std::string& name, std::span<const uint8_t> bytes)>
      on_result;
};

// A compiled model with its memory, ready for inferences.
class Engine {
 public:
  // Values of one tensor: little-endian, of TensorInfo::bytes bytes.
  using Bytes = std::vector<uint8_t>;

  // `model` has reached Stage::Emit and outlives the engine. Fails with a line that says what can only be executed as a
  // built program: a device without a simulator in this process, a C function that is not part of it.
  static Result<Engine> make(const CompiledModel& model, const EngineRegistry& registry,
                             EngineOptions options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // One inference; state goes on from one to the next. `inputs`: of each input TensorInfo::bytes bytes. The outputs are
  // in the model's order. Fails when a simulated device does, with what it said.
  Result<std::vector<Bytes>> run(const std::vector<std::span<const uint8_t>>& inputs);
  // Forgets the state.
  void reset();

  // As the model has them, in the order that run() takes and gives them in.
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  // Of all inferences until now; empty where no device is simulated.
  std::string trace_json() const;
  // Of the last inference: an array, the last run of each stream; empty where no device is simulated.
  std::string profile_json() const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Samples that have nothing to do with each other: each is an inference on a fresh state, and all cores work.
struct SampleSet {
  size_t samples = 0;
  // Of each input all samples, one after another, or one for all of them.
  std::vector<std::span<const uint8_t>> inputs;
  unsigned threads = 0;  // 0: as many as the machine has cores
  // Told how many samples are done, by any thread but one at a time; false ends the run. May be empty.
  std::function<bool(size_t done)> on_progress;
};
// Of each output all samples, one after another.
Result<std::vector<Engine::Bytes>> run_samples(const CompiledModel& model,
                                               const EngineRegistry& registry,
                                               const SampleSet& set);

}  // namespace intarsia
