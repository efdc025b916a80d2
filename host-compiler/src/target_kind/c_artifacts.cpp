#include "target_kind/c_artifacts.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/lifetimes.h"

namespace intarsia::emission {
namespace {

// "sram 0x0000..0x1f40" per argument of the function's first call, for the comment above it.
std::vector<std::string> memory_lines(const tir::Module& module, const Plan& plan,
                                      const tir::Func& func) {
  const tir::Func& schedule = module.entry_func();
  const std::vector<tir::Call> calls = plan::schedule_calls(schedule);
  const auto call = std::find_if(calls.begin(), calls.end(),
                                 [&](const tir::Call& c) { return c.function == func.name; });
  std::vector<std::string> lines;
  if (call == calls.end()) return lines;
  for (size_t i = 0; i < call->arguments.size(); ++i) {
    const Placement* place = plan.find(call->arguments[i]);
    if (place == nullptr) continue;
    lines.push_back(fmt::format("{}: {} {:#06x}..{:#06x}", func.buffers[i].name,
                                plan.memory.pools[static_cast<size_t>(place->pool)].name,
                                place->offset, place->offset + place->bytes));
  }
  return lines;
}

}  // namespace

Result<Artifacts> c_artifacts(const Target& target, const tir::Module& module, const Plan& plan,
                              const ConstantStructs& structs) {
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs) {
    if (func.target != target.name || func.name == module.entry) continue;
    CFunctionOptions options;
    options.symbol_prefix = module.name + "_";
    options.comment_lines = memory_lines(module, plan, func);
    options.structs = structs;
    INTARSIA_TRY(std::string text, emit_c_function(module, func, options));
    artifacts.functions.push_back(std::move(text));
  }
  if (!artifacts.functions.empty()) artifacts.includes = {"intarsia_kernels/kernels.h"};
  return artifacts;
}

}  // namespace intarsia::emission
