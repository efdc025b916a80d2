// The whole road for models that devices run alone: partition, lower, plan, streams, package, and
// then the runtime, the drivers and the simulated devices.
#pragma once

#include <map>
#include <memory>
#include <new>
#include <vector>

#include "intarsia/compile.h"
#include "intarsia/package_writer.h"
#include "intarsia_contract/package.h"

namespace intarsia::test {

struct FreeAligned {
  void operator()(uint8_t* block) const { ::operator delete (block, std::align_val_t{16}); }
};
using AlignedBytes = std::unique_ptr<uint8_t, FreeAligned>;

inline AlignedBytes aligned(size_t bytes) {
  return AlignedBytes(static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{16})));
}

// Runs `compiled` on opened devices, one per member with streams; gives its outputs.
inline std::vector<graph::TensorValue> run_compiled(
    const CompiledModel& compiled, const std::map<std::string, intarsia_device*>& devices,
    const std::vector<graph::TensorValue>& inputs) {
  const EmittedModel& model = compiled.emitted;
  const std::vector<uint8_t> bytes = write_package(model.name, model.streams);
  const AlignedBytes package_bytes = aligned(bytes.size());
  std::copy(bytes.begin(), bytes.end(), package_bytes.get());
  intarsia_package package;
  INTARSIA_CHECK(intarsia_package_open(&package, package_bytes.get(),
                                       static_cast<uint32_t>(bytes.size())) == INTARSIA_OK,
                 "what the writer wrote opens");

  std::vector<AlignedBytes> blocks;
  std::vector<void*> pools;
  for (const PoolUse& use : compiled.plan.use) {
    blocks.push_back(aligned(static_cast<size_t>(use.peak)));
    std::fill_n(blocks.back().get(), use.peak, uint8_t{0xA5});
    pools.push_back(blocks.back().get());
  }
  const tir::Func& schedule = compiled.lowered.entry_func();
  const auto place = [&](size_t parameter) {
    const Placement* placement = compiled.plan.find(tir::BufferId{static_cast<int32_t>(parameter)});
    return static_cast<uint8_t*>(pools.at(static_cast<size_t>(placement->pool))) +
           placement->offset;
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    std::copy(inputs[i].begin(), inputs[i].end(), place(i));

  const auto* sequence = std::get_if<tir::Seq>(&schedule.body->node);
  const std::vector<tir::Stmt> steps =
      sequence != nullptr ? sequence->statements : std::vector{schedule.body};
  for (const tir::Stmt& step : steps) {
    const std::string& function = std::get<tir::Call>(step->node).function;
    uint32_t index = 0;
    while (index < model.streams.size() && model.streams[index].func != function) ++index;
    INTARSIA_CHECK(index < model.streams.size(), "every step is a device's: " + function);
    const intarsia_status status =
        intarsia_package_run(&package, index, pools.data(), static_cast<uint32_t>(pools.size()),
                             devices.at(model.streams[index].member));
    INTARSIA_CHECK(status == INTARSIA_OK, "status " + std::to_string(status));
  }
  std::vector<graph::TensorValue> outputs;
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const uint8_t* first = place(inputs.size() + i);
    outputs.emplace_back(first, first + model.outputs[i].bytes);
  }
  return outputs;
}

}  // namespace intarsia::test
