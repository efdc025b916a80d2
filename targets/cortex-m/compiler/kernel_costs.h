// What the kernels cost, for policy cost and `explain`.
#pragma once

#include <optional>
#include <vector>

#include "kernel_work.h"

namespace intarsia::targets::cortex_m {

// Cores that have a column of isa/kernel_costs.def.
enum class CostCore { M0, M3, M4, M7, M33, M55, RV32 };

// How often the parts of an operator's kernels run, and bytes of their constants that are read; nothing where it has no
// kernel and runs as portable loops.
struct OperatorWork {
  std::vector<KernelWork> kernels;
  double constant_bytes = 0;
};
// Waits as choose_kernel has them.
std::optional<OperatorWork> operator_work(CoreClass core, const graph::Module& module,
                                          const graph::Function& function, const graph::Node& node,
                                          int64_t waits = 0);

// The same of a kernel that is no choice yet.
std::optional<OperatorWork> work_of_kernel(CoreClass core, const OpView& view,
                                           const LowerKernel& kernel);

// The core that stands for a class where kernels are compared with each other.
constexpr CostCore core_of_class(CoreClass core) {
  switch (core) {
    case CoreClass::Rv32:
      return CostCore::RV32;
    case CoreClass::Thumb:
      return CostCore::M0;
    case CoreClass::Long:
      return CostCore::M3;
    case CoreClass::Mve:
      return CostCore::M55;
    default:
      return CostCore::M4;
  }
}

// Without wait states. Nothing where a kernel has no row for the core.
std::optional<double> cycles_of_work(CostCore core, const std::vector<KernelWork>& kernels);
// Of a kernel that is no choice yet, on the core that stands for the class. Nothing where there is none.
std::optional<double> cycles_of_kernel(CoreClass core, const OpView& view,
                                       const LowerKernel& kernel);

}  // namespace intarsia::targets::cortex_m
