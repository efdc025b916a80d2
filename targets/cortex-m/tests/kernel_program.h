// Operators lowered for one core as one C program, a function each, for whoever compiles and runs it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/builtin_targets.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/tir.h"
#include "operator_modules.h"

namespace intarsia::test::cortex_m {

class KernelProgram {
 public:
  explicit KernelProgram(const std::string& core);  // what follows `c -mcpu=`

  // Constants lie in a memory of so many cycles an access, scratch in one of a single cycle; before the first `add`.
  void place_constants(int32_t cycles_per_access);
  // The entry function of a module has one operator, which the target takes. Fails the test otherwise.
  void add(graph::Module module,
           LoweringOptions::Optimise optimise = LoweringOptions::Optimise::Balanced);
  void add(std::vector<graph::Module> modules) {
    for (graph::Module& module : modules) add(std::move(module));
  }

  // C functions `void m<i>_run(void **p)`; p points at the inputs, the output and the scratch buffers, in
  // this order.
  std::string text() const;
  size_t count() const { return modules_.size(); }
  const graph::Module& module(size_t index) const { return modules_[index]; }
  // Bytes of the outputs behind the first, then of scratch.
  const std::vector<size_t>& scratch(size_t index) const { return scratch_[index]; }
  // Which inputs may be the output's memory; numbers of what p points at.
  const std::vector<tir::InPlace>& in_place(size_t index) const { return in_place_[index]; }

  size_t tuned() const { return tuned_; }  // how many became calls of the core's kernels
  size_t copies_constants() const { return copies_constants_; }  // how many of them, by groups
  bool calls(const std::string& kernel) const {
    return functions_.find(" " + kernel + "(") != std::string::npos;
  }

 private:
  TargetRegistry registry_;
  Target target_;
  std::optional<MemoryMap> memory_;
  std::string functions_;
  std::vector<graph::Module> modules_;
  std::vector<std::vector<size_t>> scratch_;
  std::vector<std::vector<tir::InPlace>> in_place_;
  size_t tuned_ = 0, copies_constants_ = 0;
};

// An operator for a core whose board has 16 kB of RAM, most of which an image with many of them can give to the largest.
bool fits_small_memory(const graph::Module& module, const std::string& core);

}  // namespace intarsia::test::cortex_m
