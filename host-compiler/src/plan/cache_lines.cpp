#include "plan/cache_lines.h"

#include <algorithm>
#include <set>

#include "intarsia/plugin/rounding.h"
#include "tir/function_index.h"

namespace intarsia::plan {
namespace {

bool is_device(const MemoryMap& memory, const std::string& target) {
  const auto master = memory.masters.find(target);
  return master != memory.masters.end() && master->second != "cpu";
}

}  // namespace

int64_t cache_line_of(const MemoryMap& memory) {
  constexpr int64_t kEveryBlock = 16;
  int64_t line = 0;
  for (const MemoryPool& pool : memory.pools)
    if (pool.alignment > kEveryBlock) line = std::max<int64_t>(line, pool.alignment);
  return line;
}

void keep_cache_lines(const tir::Module& module, const MemoryMap& memory, Lifetimes& lifetimes) {
  const int64_t line = cache_line_of(memory);
  if (line == 0) return;
  std::set<tir::BufferId> written;
  const tir::FunctionIndex functions(module);
  for (const tir::Call& call : schedule_calls(module.entry_func())) {
    const tir::Func& callee = functions.at(call.function);
    if (!is_device(memory, callee.target)) continue;
    for (size_t i = 0; i < call.arguments.size(); ++i)
      if (callee.parameters.at(i).access != tir::Access::Read) written.insert(call.arguments[i]);
  }
  for (Group& group : lifetimes.groups) {
    const bool by_device = std::ranges::any_of(
        group.buffers, [&](tir::BufferId buffer) { return written.contains(buffer); });
    if (!by_device) continue;
    group.alignment = std::max(group.alignment, static_cast<int32_t>(line));
    group.bytes = round_up(group.bytes, line);
  }
}

}  // namespace intarsia::plan
