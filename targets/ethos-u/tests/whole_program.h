// Runs compiled models in this process: streams through package, driver and simulated device, functions of the
// CPU in the interpreter of TIR.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "end_to_end.h"
#include "intarsia/contract/package.h"
#include "packaging/stream_package.h"
#include "support/kernel_functions.h"

namespace intarsia::test::ethos_u {

struct FreeAligned {
  void operator()(uint8_t* block) const { ::operator delete (block, std::align_val_t{64}); }
};
using AlignedBlock = std::unique_ptr<uint8_t, FreeAligned>;

inline AlignedBlock aligned(size_t bytes) {
  return AlignedBlock(
      static_cast<uint8_t*>(::operator new (std::max<size_t>(bytes, 1), std::align_val_t{64})));
}

// The bytes of the program's buffers while it runs.
class Blocks {
 public:
  explicit Blocks(const CompiledModel& compiled) : compiled_(compiled) {
    for (const PoolUse& use : compiled.program().plan.use) {
      // Null where the plan leaves a memory empty, as in the programs that we emit.
      blocks_.push_back(use.peak == 0 ? AlignedBlock() : aligned(static_cast<size_t>(use.peak)));
      std::fill_n(blocks_.back().get(), use.peak, uint8_t{0xA5});
      pools_.push_back(blocks_.back().get());
    }
  }
  std::vector<void*>& pools() { return pools_; }
  std::vector<std::span<uint8_t>> memory() const {
    std::vector<std::span<uint8_t>> all;
    for (size_t i = 0; i < blocks_.size(); ++i)
      all.emplace_back(blocks_[i].get(), static_cast<size_t>(compiled_.program().plan.use[i].peak));
    return all;
  }
  std::span<uint8_t> of(tir::BufferId id) {
    const tir::Buffer& buffer = compiled_.program().lowered.entry_func().buffer(id);
    const Placement* placement = compiled_.program().plan.find(id);
    if (placement == nullptr) return {};
    return {
        static_cast<uint8_t*>(pools_.at(static_cast<size_t>(placement->pool))) + placement->offset,
        static_cast<size_t>(buffer.bytes())};
  }
  // What the emitted model's init does to the state.
  void reset() {
    const tir::Func& schedule = compiled_.program().lowered.entry_func();
    for (size_t i = 0; i < schedule.buffers.size(); ++i) {
      const tir::Buffer& buffer = schedule.buffers[i];
      if (!buffer.initial) continue;
      const std::span<uint8_t> bytes = of(tir::BufferId{static_cast<int32_t>(i)});
      for (int64_t k = 0; k < element_count(buffer.extents) && !bytes.empty(); ++k)
        testing::store_element(bytes, k,
                               {buffer.type, *buffer.initial, static_cast<float>(*buffer.initial)});
    }
  }

 private:
  const CompiledModel& compiled_;
  std::vector<AlignedBlock> blocks_;
  std::vector<void*> pools_;
};

// A program that may be run many times on one state. Streams run on the device, functions of the CPU in
// the interpreter of TIR.
class Program {
 public:
  Program(const CompiledModel& compiled, intarsia_device* device)
      : compiled_(compiled),
        device_(device),
        blocks_(compiled),
        interpreter_(compiled.program().lowered) {
    testing::define_kernels(interpreter_);
    const std::vector<uint8_t> bytes = packaging::stream_package(compiled.program());
    package_bytes_ = aligned(bytes.size());
    std::copy(bytes.begin(), bytes.end(), package_bytes_.get());
    opened_ =
        intarsia_package_open(&package_, package_bytes_.get(), static_cast<uint32_t>(bytes.size()));
    blocks_.reset();
  }

  // The bytes of each pool of the plan.
  std::vector<std::span<uint8_t>> memory() const { return blocks_.memory(); }

  // INTARSIA_OK, the device's status, or -1 where the interpreter stopped.
  intarsia_status run(const std::vector<graph::TensorValue>& inputs,
                      std::vector<graph::TensorValue>& outputs) {
    if (opened_ != INTARSIA_OK) return opened_;
    const auto parameter = [](size_t i) { return tir::BufferId{static_cast<int32_t>(i)}; };
    for (size_t i = 0; i < inputs.size(); ++i)
      std::copy(inputs[i].begin(), inputs[i].end(), blocks_.of(parameter(i)).begin());
    const tir::Func& schedule = compiled_.program().lowered.entry_func();
    const auto* sequence = std::get_if<tir::Seq>(&schedule.body->node);
    for (const tir::Stmt& step :
         sequence != nullptr ? sequence->statements : std::vector{schedule.body})
      if (const intarsia_status status = run_step(std::get<tir::Call>(step->node));
          status != INTARSIA_OK)
        return status;
    outputs.clear();
    for (size_t i = 0; i < compiled_.program().emitted.outputs.size(); ++i) {
      const std::span<uint8_t> bytes = blocks_.of(parameter(inputs.size() + i));
      outputs.emplace_back(bytes.begin(), bytes.end());
    }
    return INTARSIA_OK;
  }

 private:
  intarsia_status run_step(const tir::Call& call) {
    const std::vector<CommandStream>& streams = compiled_.program().emitted.streams;
    uint32_t index = 0;
    while (index < streams.size() && streams[index].func != call.function) ++index;
    if (index < streams.size())
      return intarsia_package_run(&package_, index, blocks_.pools().data(),
                                  static_cast<uint32_t>(blocks_.pools().size()), device_);
    std::vector<std::span<uint8_t>> arguments;
    for (const tir::BufferId id : call.arguments) arguments.push_back(blocks_.of(id));
    return interpreter_.run(call.function, arguments).ok() ? INTARSIA_OK : -1;
  }

  const CompiledModel& compiled_;
  intarsia_device* device_;
  Blocks blocks_;
  testing::TirInterpreter interpreter_;
  AlignedBlock package_bytes_;
  intarsia_package package_;
  intarsia_status opened_ = INTARSIA_OK;
};

inline intarsia_status run_on(const CompiledModel& compiled, intarsia_device* device,
                              const std::vector<graph::TensorValue>& inputs,
                              std::vector<graph::TensorValue>& outputs) {
  return Program(compiled, device).run(inputs, outputs);
}

}  // namespace intarsia::test::ethos_u
