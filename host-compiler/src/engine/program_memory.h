// The memory of one program's instance: a block for each memory of its plan, as large as the plan says and no larger.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "intarsia/compiled_model.h"

namespace intarsia::engine {

class ProgramMemory {
 public:
  explicit ProgramMemory(const CompiledProgram& program);

  // Where a buffer of the schedule is; a constant where the module has it.
  uint8_t* address(tir::BufferId buffer) const { return addresses_[buffer.at()]; }
  // By memory of the plan; null where the program uses none of it.
  void* const* pools() const { return pools_.data(); }
  uint32_t pool_count() const { return static_cast<uint32_t>(pools_.size()); }
  // State as it is before the first run.
  void reset();

 private:
  struct Free {
    void operator()(void* block) const;
  };

  const CompiledProgram& program_;
  std::vector<std::unique_ptr<void, Free>> blocks_;
  std::vector<void*> pools_;
  std::vector<uint8_t*> addresses_;  // by buffer of the schedule; null: nobody uses it
};

}  // namespace intarsia::engine
