#include "target_kind/c_artifacts.h"

#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "intarsia/plugin/c_function.h"
#include "plan/lifetimes.h"

namespace intarsia::target_kind {
using emission::CFunctionOptions;
using emission::emit_c_function;

namespace {

// "sram 0x0000..0x1f40" per argument of the function's first call, for the comment above it.
std::vector<std::string> memory_lines(const Plan& plan, const tir::Func& func,
                                      const tir::Call& call) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Placement* place = plan.find(call.arguments[i]);
    if (place == nullptr) continue;
    lines.push_back(fmt::format("{}: {} {:#06x}..{:#06x}", func.buffers[i].name,
                                plan.memory.pools[static_cast<size_t>(place->pool)].name,
                                place->offset, place->offset + place->bytes));
  }
  return lines;
}

}  // namespace

Result<Artifacts> c_artifacts(const Target& target, const tir::Module& module, const Plan& plan,
                              const KernelLibrary* library) {
  const std::vector<tir::Call> calls = plan::schedule_calls(module.entry_func());
  std::unordered_map<std::string_view, const tir::Call*> first_call;
  for (const tir::Call& call : calls) first_call.try_emplace(call.function, &call);
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs) {
    if (func.target != target.name || func.name == module.entry) continue;
    CFunctionOptions options;
    options.symbol_prefix = module.name + "_";
    if (const auto call = first_call.find(func.name); call != first_call.end())
      options.comment_lines = memory_lines(plan, func, *call->second);
    if (library != nullptr) options.structs = library->structs;
    INTARSIA_TRY(std::string text, emit_c_function(module, func, options));
    artifacts.functions.push_back(std::move(text));
  }
  if (artifacts.functions.empty()) return artifacts;
  artifacts.includes = {"intarsia/kernels/kernels.h"};
  if (library != nullptr)
    for (std::string& header : library->includes(target))
      artifacts.includes.push_back(std::move(header));
  return artifacts;
}

}  // namespace intarsia::target_kind
