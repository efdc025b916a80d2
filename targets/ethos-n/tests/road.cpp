#include "road.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "ethos_n/driver.h"
#include "ethos_n/simulator.h"
#include "intarsia/package_writer.h"
#include "intarsia/target_kind.h"
#include "intarsia_contract/package.h"

namespace intarsia::targets {
namespace c {
void add_kinds(TargetRegistry& registry);
}
namespace ethos_n {
void add_kinds(TargetRegistry& registry);
}
}  // namespace intarsia::targets

namespace intarsia::test::ethos_n {
namespace {

struct FreeAligned {
  void operator()(uint8_t* block) const { ::operator delete(block, std::align_val_t{16}); }
};
using AlignedBytes = std::unique_ptr<uint8_t, FreeAligned>;

AlignedBytes aligned(size_t bytes) {
  return AlignedBytes(static_cast<uint8_t*>(::operator new(std::max<size_t>(bytes, 1), std::align_val_t{16})));
}

std::vector<tir::Stmt> steps_of(const CompiledModel& model) {
  const tir::Func& schedule = model.lowered.entry_func();
  const auto* sequence = std::get_if<tir::Seq>(&schedule.body->node);
  return sequence != nullptr ? sequence->statements : std::vector{schedule.body};
}

}  // namespace

Result<CompiledModel> compile_for(const graph::Module& module, const std::string& target) {
  TargetRegistry registry;
  targets::c::add_kinds(registry);
  targets::ethos_n::add_kinds(registry);
  INTARSIA_TRY(const TargetSpec spec, parse_target_argument(registry.catalogue(), target));
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  options.memory.open = true;
  return compile_module(module, registry, spec, options);
}

std::vector<uint8_t> network_of(const CompiledModel& model) {
  const std::vector<uint8_t>& payload = model.emitted.streams.at(0).commands;
  uint32_t at = 0;
  std::memcpy(&at, payload.data() + 12, sizeof at);
  return {payload.begin() + at, payload.end()};
}

std::string run_on(const std::string& tag, const CompiledModel& compiled,
                   const std::vector<graph::TensorValue>& inputs, std::vector<graph::TensorValue>& outputs) {
  const EmittedModel& model = compiled.emitted;
  const std::vector<uint8_t> bytes = write_package(model.name, model.streams);
  const AlignedBytes package_bytes = aligned(bytes.size());
  std::copy(bytes.begin(), bytes.end(), package_bytes.get());
  intarsia_package package;
  if (intarsia_package_open(&package, package_bytes.get(), static_cast<uint32_t>(bytes.size())) != INTARSIA_OK)
    return "the package does not open";
  intarsia_ethos_n npu;
  const intarsia_register_bus bus = intarsia_ethos_n_simulator(tag.c_str());
  if (const intarsia_status status = intarsia_ethos_n_open_bus(&npu, &bus); status != INTARSIA_OK)
    return "the device does not open: " + std::to_string(status);

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
  for (const tir::Stmt& step : steps_of(compiled)) {
    const std::string& function = std::get<tir::Call>(step->node).function;
    uint32_t index = 0;
    while (index < model.streams.size() && model.streams[index].func != function) ++index;
    if (index == model.streams.size()) return function + " is not the NPU's";
    const intarsia_status status = intarsia_package_run(&package, index, pools.data(),
                                                        static_cast<uint32_t>(pools.size()), &npu.device);
    if (status != INTARSIA_OK) return "status " + std::to_string(status);
  }
  outputs.clear();
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const uint8_t* first = place(inputs.size() + i);
    outputs.emplace_back(first, first + model.outputs[i].bytes);
  }
  return "";
}

}  // namespace intarsia::test::ethos_n
