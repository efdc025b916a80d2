// What the commands of a stripe have in common, whether its layer runs alone or with others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "commands/mce_registers.h"
#include "commands/stream_builder.h"
#include "program/program.h"

namespace intarsia::targets::ethos_n {

// For the PLE: which edges of the output it is at.
uint32_t flags_of(int64_t stripe, int64_t count);

inline Access sram_access(int64_t begin, int64_t bytes, bool is_write) {
  return {kSramMemory, begin, begin + bytes, is_write};
}

// Rows of stripe `index` of `size` in stripes of `rows`.
inline int64_t rows_of(int64_t index, int64_t rows, int64_t size) {
  return std::min(rows, size - index * rows);
}

uint32_t kernel_number(const Variant& variant, const PleKernel& kernel);
uint32_t add_kernel_loader(const Variant& variant, StreamBuilder& stream, const PleKernel& kernel);
// The layer's PLE, whose code is at that address of SRAM when it is switched to.
uint32_t add_ple_agent(const Variant& variant, StreamBuilder& stream, const Layer& layer,
                       int64_t kernel_at);

CommandWords start_mce(const Variant& variant, const Layer& layer, uint32_t agent, int64_t ofms);

// The PLE keeps its program until it is given another one.
struct LoadedKernel {
  const PleKernel* kernel = nullptr;

  void switch_to(const PleKernel& next, StreamBuilder& stream, uint32_t agent, int64_t kernel_at);
};

}  // namespace intarsia::targets::ethos_n
