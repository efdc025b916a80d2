// One program of a compiled model: what one CPU runs, with the devices it drives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/compile_function.h"
#include "engine/execute.h"
#include "engine/program_memory.h"
#include "intarsia/contract/device.h"
#include "intarsia/contract/package.h"
#include "intarsia/engine.h"

namespace intarsia::engine {

class ProgramEngine {
 public:
  // `first_device`: how many devices other programs of the model have in front.
  static Result<std::unique_ptr<ProgramEngine>> make(const CompiledProgram& program,
                                                     const EngineRegistry& registry,
                                                     const EngineOptions& options,
                                                     size_t first_device);

  Result<std::vector<Engine::Bytes>> run(const std::vector<std::span<const uint8_t>>& inputs);
  void reset() { memory_.reset(); }
  const std::vector<std::unique_ptr<Simulation>>& simulations() const { return simulations_; }
  size_t device_count() const { return devices_.size(); }

 private:
  // A call of the schedule.
  struct Step {
    // Of the CPU, one of them; of a stream none.
    const FunctionCode* function = nullptr;
    NativeCode::Function native = nullptr;
    uint32_t stream = 0;
    intarsia_device* device = nullptr;
    std::string device_name;
    std::vector<uint8_t*> arguments;
    struct Shown {
      std::string name;
      std::span<const uint8_t> bytes;
    };
    std::vector<Shown> shown;
    int32_t index = 0;  // in the text of the model's run function
  };

  ProgramEngine(const CompiledProgram& program, const EngineRegistry& registry,
                const EngineOptions& options);
  Result<void> open_package();
  Result<void> open_devices(const EngineRegistry& registry, size_t first_device);
  Result<void> load_native_code(const EngineRegistry& registry);
  Result<void> prepare(const tir::Stmt& stmt);
  Result<void> prepare(const tir::Call& call);
  Result<void> execute(const tir::Stmt& stmt);
  Result<void> execute(const Step& step);
  Diagnostics failed(const Step& step, intarsia_status status);

  const CompiledProgram& program_;
  const EngineOptions& options_;
  ProgramMemory memory_;
  std::vector<std::unique_ptr<NativeCode>> native_code_;  // of each kind that has some
  FunctionTable functions_;
  Executor executor_;
  std::vector<uint8_t> package_bytes_;
  intarsia_package package_ = {};
  std::vector<std::unique_ptr<Simulation>> simulations_;
  std::map<std::string, intarsia_device*> devices_;  // by name in the target
  std::map<const tir::Call*, Step> steps_;
};

}  // namespace intarsia::engine
