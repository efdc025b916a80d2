// The whole road in one process: partition, lower, plan, streams, package, and then the runtime, the
// driver and the simulated device. For models that the NPU runs alone.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/import.h"
#include "intarsia/package_writer.h"
#include "intarsia_contract/package.h"

namespace intarsia::targets::c {
void add_kinds(TargetRegistry& registry);
}
namespace intarsia::targets::ethos_u {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::ethos_u {

struct FreeAligned {
  void operator()(uint8_t* block) const { ::operator delete(block, std::align_val_t{16}); }
};
using AlignedBytes = std::unique_ptr<uint8_t, FreeAligned>;

inline AlignedBytes aligned(size_t bytes) {
  return AlignedBytes(static_cast<uint8_t*>(::operator new(std::max<size_t>(bytes, 1), std::align_val_t{16})));
}

inline TargetRegistry make_registry() {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  targets::ethos_u::add_kinds(registry);
  return registry;
}

inline Result<CompiledModel> compile_for(const graph::Module& module, const std::string& target) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const TargetSpec spec, parse_target_argument(registry.catalogue(), target));
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  options.memory.open = true;
  return compile_module(module, registry, spec, options);
}

// Steps that are not the NPU's: -1 at once.
inline intarsia_status run_on(const CompiledModel& compiled, intarsia_device* device,
                              const std::vector<graph::TensorValue>& inputs,
                              std::vector<graph::TensorValue>& outputs) {
  const EmittedModel& model = compiled.emitted;
  const std::vector<uint8_t> bytes = write_package(model.name, model.streams);
  const AlignedBytes package_bytes = aligned(bytes.size());
  std::copy(bytes.begin(), bytes.end(), package_bytes.get());
  intarsia_package package;
  const intarsia_status opened =
      intarsia_package_open(&package, package_bytes.get(), static_cast<uint32_t>(bytes.size()));
  if (opened != INTARSIA_OK) return opened;

  std::vector<AlignedBytes> blocks;
  std::vector<void*> pools;
  for (const PoolUse& use : compiled.plan.use) {
    blocks.push_back(aligned(static_cast<size_t>(use.peak)));
    std::fill_n(blocks.back().get(), use.peak, uint8_t{0xA5});
    pools.push_back(blocks.back().get());
  }
  const auto place = [&](size_t parameter) {
    const Placement* placement = compiled.plan.find(tir::BufferId{static_cast<int32_t>(parameter)});
    return static_cast<uint8_t*>(pools.at(static_cast<size_t>(placement->pool))) + placement->offset;
  };
  for (size_t i = 0; i < inputs.size(); ++i) std::copy(inputs[i].begin(), inputs[i].end(), place(i));
  const tir::Func& schedule = compiled.lowered.entry_func();
  const auto* sequence = std::get_if<tir::Seq>(&schedule.body->node);
  for (const tir::Stmt& step : sequence != nullptr ? sequence->statements : std::vector{schedule.body}) {
    const std::string& function = std::get<tir::Call>(step->node).function;
    uint32_t index = 0;
    while (index < model.streams.size() && model.streams[index].func != function) ++index;
    if (index == model.streams.size()) return -1;
    const intarsia_status status = intarsia_package_run(&package, index, pools.data(),
                                                        static_cast<uint32_t>(pools.size()), device);
    if (status != INTARSIA_OK) return status;
  }
  outputs.clear();
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const uint8_t* first = place(inputs.size() + i);
    outputs.emplace_back(first, first + model.outputs[i].bytes);
  }
  return INTARSIA_OK;
}

}  // namespace intarsia::test::ethos_u
