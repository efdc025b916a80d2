// End to end, for models that devices run alone: partition, lower, plan, streams, package, and
// then the runtime, the drivers and the simulated devices.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "intarsia/compile.h"
#include "intarsia/contract/package.h"
#include "intarsia/plugin/stream_places.h"
#include "package_writer/package_writer.h"

namespace intarsia::test {

struct FreeAligned {
  void operator()(uint8_t* block) const { ::operator delete (block, std::align_val_t{16}); }
};
using AlignedBytes = std::unique_ptr<uint8_t, FreeAligned>;

inline AlignedBytes aligned(size_t bytes) {
  return AlignedBytes(static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{16})));
}

// Runs `compiled` on opened devices, one per device with streams, into `outputs`; says what went wrong,
// or nothing. Memories that the plan leaves empty are null, as in the programs that we emit.
inline std::string try_run_compiled(const CompiledModel& compiled,
                                    const std::map<std::string, intarsia_device*>& devices,
                                    const std::vector<graph::TensorValue>& inputs,
                                    std::vector<graph::TensorValue>& outputs) {
  const EmittedModel& model = compiled.program().emitted;
  const std::vector<uint8_t> bytes = write_package(model.name, model.streams);
  const AlignedBytes package_bytes = aligned(bytes.size());
  std::copy(bytes.begin(), bytes.end(), package_bytes.get());
  intarsia_package package;
  if (intarsia_package_open(&package, package_bytes.get(), static_cast<uint32_t>(bytes.size())) !=
      INTARSIA_OK)
    return "the package does not open";

  std::vector<AlignedBytes> blocks;
  std::vector<void*> pools;
  for (const PoolUse& use : compiled.program().plan.use) {
    blocks.push_back(use.peak == 0 ? AlignedBytes() : aligned(static_cast<size_t>(use.peak)));
    std::fill_n(blocks.back().get(), use.peak, uint8_t{0xA5});
    pools.push_back(blocks.back().get());
  }
  const auto place = [&](size_t parameter) {
    const Placement* placement =
        compiled.program().plan.find(tir::BufferId{static_cast<int32_t>(parameter)});
    return static_cast<uint8_t*>(pools.at(static_cast<size_t>(placement->pool))) +
           placement->offset;
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    std::copy(inputs[i].begin(), inputs[i].end(), place(i));

  for (const tir::Stmt& step : statements_of(compiled.program().lowered.entry_func().body)) {
    const std::string& function = std::get<tir::Call>(step->node).function;
    uint32_t index = 0;
    while (index < model.streams.size() && model.streams[index].func != function) ++index;
    if (index == model.streams.size()) return function + " is no device's";
    const intarsia_status status =
        intarsia_package_run(&package, index, pools.data(), static_cast<uint32_t>(pools.size()),
                             devices.at(model.streams[index].device));
    if (status != INTARSIA_OK) return "status " + std::to_string(status);
  }
  outputs.clear();
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const uint8_t* first = place(inputs.size() + i);
    outputs.emplace_back(first, first + model.outputs[i].bytes);
  }
  return "";
}

// For models of which nothing is in doubt but the outputs.
inline std::vector<graph::TensorValue> run_compiled(
    const CompiledModel& compiled, const std::map<std::string, intarsia_device*>& devices,
    const std::vector<graph::TensorValue>& inputs) {
  std::vector<graph::TensorValue> outputs;
  const std::string problem = try_run_compiled(compiled, devices, inputs, outputs);
  INTARSIA_CHECK(problem.empty(), problem);
  return outputs;
}

}  // namespace intarsia::test
