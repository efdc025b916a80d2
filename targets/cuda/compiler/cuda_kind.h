// An NVIDIA GPU in a composite target: like any core it takes operators, not patterns. The kernels are those of the kit for
// GPUs, written as CUDA C; the GPU has a memory of its own, so a stream says what is copied to it and back.
#pragma once

#include "intarsia/gpu/dialect.h"
#include "intarsia/gpu/launches.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::cuda {

#define CONSTANT(name, value) inline constexpr int64_t k##name = value;
#include "intarsia/targets/cuda/stream.def"
#undef CONSTANT

const gpu::Dialect& dialect();

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan);
std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream);

// Bytes of a region.
struct Copy {
  int32_t region = 0;
  int64_t offset = 0, bytes = 0;
  bool operator==(const Copy&) const = default;
};

struct Transfers {
  std::vector<Copy> in, out;
};

// What the launches read that they have not written before, and what they write that others read.
Transfers transfers_of(const tir::Module& module, const tir::Func& func,
                       const gpu::Launches& launches);

}  // namespace intarsia::targets::cuda
