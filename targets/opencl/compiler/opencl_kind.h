// An OpenCL device in a composite target: it takes operators like any core, not patterns like an
// accelerator. What the portable lowering makes of them becomes OpenCL C, loops whose iterations do not depend
// on each other become the range of a kernel, and the buffers between kernels are the memory plan's.
#pragma once

#include "intarsia/gpu/dialect.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::opencl {

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/opencl/stream.def"
#undef CONSTANT

const gpu::Dialect& dialect();
Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan);
std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream);

}  // namespace intarsia::targets::opencl
