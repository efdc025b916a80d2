// Regions of the graph as functions of launches, for a target whose dialect lives as long as the compiler does.
#pragma once

#include "intarsia/gpu/dialect.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::gpu {

// The portable patterns, refusing also what cannot be said in the dialect.
std::vector<Pattern> patterns_of(const Dialect& dialect);

// What the portable lowering makes of the region as kernels, all in one source, and their launches.
Result<tir::LoweredFunction> lower(const Dialect& dialect, const graph::Module& module,
                                   const graph::Function& function);

// The intrinsics of such a function. "<kind>.source": the program's text (a constant). "<kind>.launch": the buffers that
// are the kernel's arguments, then its number and the range's extents.
std::string source_intrinsic(const Dialect& dialect);
std::string launch_intrinsic(const Dialect& dialect);

// What `--policy cost` reckons with, besides the attributes "clock-mhz" and "macs-per-cycle" of the kind.
struct GpuCosts {
  double launch_microseconds;    // before anything is computed
  double transfer_microseconds;  // likewise, of bytes that change hands
  double bytes_per_microsecond;  // of these
};

// A kind with all of the above. What a stream is, says the target: the kind lacks `tir_to_runtime` and `disassemble`.
TargetKind kind_of(KindSpec spec, const Dialect& dialect, const GpuCosts& costs,
                   DeviceDriver driver);

}  // namespace intarsia::gpu
