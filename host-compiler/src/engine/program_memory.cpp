#include "engine/program_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/execute.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::engine {

void ProgramMemory::Free::operator()(void* block) const {
  std::free(block);
}

ProgramMemory::ProgramMemory(const CompiledProgram& program)
    : program_(program), pools_(program.plan.memory.pools.size()) {
  const Plan& plan = program.plan;
  const tir::Func& schedule = program.lowered.entry_func();
  addresses_.resize(schedule.buffers.size());
  for (const Placement& place : plan.placements) {
    const auto pool = static_cast<size_t>(place.pool);
    if (pools_[pool] == nullptr) {
      const auto alignment = std::max<size_t>(static_cast<size_t>(plan.alignment), 16);
      const auto bytes = static_cast<size_t>(
          round_up(std::max<int64_t>(plan.use[pool].peak, 1), static_cast<int64_t>(alignment)));
      blocks_.emplace_back(std::aligned_alloc(alignment, bytes));
      pools_[pool] = blocks_.back().get();
      INTARSIA_CHECK(pools_[pool] != nullptr, "there is memory for the model's own");
      std::memset(pools_[pool], kUnwritten, bytes);
    }
    addresses_[place.buffer.at()] = static_cast<uint8_t*>(pools_[pool]) + place.offset;
  }
  for (size_t i = 0; i < schedule.buffers.size(); ++i)
    if (schedule.buffers[i].scope == tir::Scope::Constant)
      addresses_[i] =
          const_cast<uint8_t*>(program.lowered.constant(schedule.buffers[i].constant).bytes.data());
  reset();
}

void ProgramMemory::reset() {
  const tir::Func& schedule = program_.lowered.entry_func();
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const tir::Buffer& buffer = schedule.buffers[i];
    if (!buffer.initial || addresses_[i] == nullptr) continue;
    if (buffer.initial_values.valid()) {
      const tir::Constant& values = program_.lowered.constant(buffer.initial_values);
      std::memcpy(addresses_[i], values.bytes.data(), static_cast<size_t>(buffer.bytes()));
      continue;
    }
    const Value value = buffer.type == DataType::Float32
                            ? of_float(static_cast<float>(*buffer.initial))
                            : of_int(*buffer.initial);
    for (int64_t at = 0; at < element_count(buffer.extents); ++at)
      store_element(buffer.type, addresses_[i], at, value);
  }
}

}  // namespace intarsia::engine
