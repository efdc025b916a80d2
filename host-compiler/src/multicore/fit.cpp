// Whether what the parts are given fits beside each other: every stage was planned as if it had the memories to itself.
#include <fmt/format.h>

#include "multicore/c_names.h"
#include "multicore/multicore.h"

namespace intarsia {
namespace {

Result<void> check_pool(const CompiledModel& model, const MemoryPool& pool) {
  int64_t bytes = 0;
  std::vector<std::string> texts;
  for (const std::string& cpu : model.multicore.cpus)
    for (const multicore::PoolBlock& block : multicore::blocks_of(model, cpu)) {
      if (block.pool != pool.name) continue;
      bytes += block.bytes;
      texts.push_back(fmt::format("{} of '{}'", block.bytes, cpu));
    }
  if (bytes <= pool.size) return {};
  return Diagnostics(
      fmt::format("{}: memory pool '{}'", model.multicore.name, pool.name),
      fmt::format("the blocks of the parts need {} bytes together ({}), the pool has {}: {} bytes "
                  "missing",
                  bytes, fmt::join(texts, ", "), pool.size, bytes - pool.size),
      "give --ram-budget, which every block stays within, pin more to one CPU, or choose a board "
      "with more memory");
}

}  // namespace

Result<void> check_parts_fit(const CompiledModel& model) {
  if (model.multicore.segments.empty() || model.programs.empty()) return {};
  for (const MemoryPool& pool : model.programs.front().plan.memory.pools)
    if (!pool.read_only && pool.size > 0) INTARSIA_TRY_VOID(check_pool(model, pool));
  return {};
}

}  // namespace intarsia
