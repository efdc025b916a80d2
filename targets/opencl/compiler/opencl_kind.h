// An OpenCL device in a composite target: it takes operators like any core, not patterns like an
// accelerator. What the portable lowering makes of them becomes OpenCL C, loops whose iterations do not depend
// on each other become the range of a kernel, and the buffers between kernels are the memory plan's.
#pragma once

#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::opencl {

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/opencl/stream.def"
#undef CONSTANT

// The patterns, refusing also what cannot be said in OpenCL C.
std::vector<Pattern> refuse_without_opencl_c(std::vector<Pattern> patterns);
Result<tir::LoweredFunction> lower(const graph::Module& module, const graph::Function& function);
Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan);
std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream);

// The intrinsics of a region's function. source: the program's text (a constant). launch: the buffers that are
// the kernel's arguments, then its number and the range's extents.
inline constexpr std::string_view kSource = "opencl.source", kLaunch = "opencl.launch";

}  // namespace intarsia::targets::opencl
