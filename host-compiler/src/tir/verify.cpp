// Module-wide rules; the rules of one function are in verify_*.cpp.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "intarsia/plugin/tir_walk.h"
#include "tir/function_index.h"
#include "tir/identifiers.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

// Functions and constants become C symbols with one prefix.
void verify_names(const Module& module, Diagnostics& problems) {
  std::set<std::string> seen;
  const auto check = [&](const std::string& what, const std::string& name) {
    const std::string where = fmt::format("{} '{}'", what, name);
    if (!is_identifier(name)) problems.add(where, "the name is not a C identifier");
    if (!seen.insert(name).second)
      problems.add(where, "the name is taken by another function or constant of the module");
  };
  for (const Func& func : module.funcs) check("function", func.name);
  for (const Constant& constant : module.constants) check("constant", constant.name);
  if (!module.name.empty() && !is_identifier(module.name))
    problems.add(fmt::format("module '{}'", module.name), "the name is not a C identifier");
}

void verify_constant(const Constant& constant, Diagnostics& problems) {
  const std::string where = fmt::format("constant '{}'", constant.name);
  for (const int64_t extent : constant.extents)
    if (extent < 1) problems.add(where, fmt::format("extent {} is less than 1", extent));
  const int64_t expected = byte_size(constant.type, constant.extents);
  if (static_cast<int64_t>(constant.bytes.size()) != expected)
    problems.add(where, fmt::format("has {} bytes where type and extents need {}",
                                    constant.bytes.size(), expected));
}

void verify_entry(const Module& module, Diagnostics& problems) {
  if (module.entry.empty()) return;
  if (module.find(module.entry) == nullptr)
    problems.add(fmt::format("module '{}'", module.name),
                 fmt::format("the entry '{}' is not a function of the module", module.entry));
}

void verify_no_recursion(const Module& module, Diagnostics& problems) {
  enum class State { Open, Done };
  std::map<const Func*, State> states;
  const FunctionIndex functions(module);
  const std::function<void(const Func&)> visit = [&](const Func& func) {
    states[&func] = State::Open;
    for_each_statement(func.body, [&](const Stmt& stmt) {
      const auto* call = std::get_if<Call>(&stmt->node);
      if (call == nullptr) return;
      const Func* callee = functions.find(call->function);
      if (callee == nullptr) return;
      const auto found = states.find(callee);
      if (found == states.end()) {
        visit(*callee);
      } else if (found->second == State::Open) {
        problems.add(place(func), fmt::format("calls '{}' in a cycle", callee->name));
      }
    });
    states[&func] = State::Done;
  };
  for (const Func& func : module.funcs)
    if (states.count(&func) == 0) visit(func);
}

}  // namespace

std::string place(const Func& func) {
  return fmt::format("function '{}'", func.name);
}

bool has_calls(const Func& func) {
  bool found = false;
  for_each_statement(func.body,
                     [&](const Stmt& stmt) { found |= std::holds_alternative<Call>(stmt->node); });
  return found;
}

Result<void> verify(const Module& module) {
  Diagnostics problems;
  verify_names(module, problems);
  for (const Constant& constant : module.constants) verify_constant(constant, problems);
  verify_entry(module, problems);
  bool all_typed = true;
  std::vector<const Func*> sound;
  for (const Func& func : module.funcs) {
    Diagnostics found;
    verify_declarations(module, func, found);
    if (found.empty()) verify_types(func, found);
    problems.append(found);
    all_typed &= found.empty();
    if (found.empty()) sound.push_back(&func);
  }
  if (all_typed) verify_no_recursion(module, problems);
  for (const Func* func : sound) {
    if (func->tiled) {
      if (all_typed) verify_tiled(module, *func, problems);
    } else if (has_calls(*func) || func->name == module.entry) {
      if (all_typed) verify_schedule(module, *func, problems);
    } else {
      verify_kernel(module, *func, problems);
      verify_in_place(*func, problems);
    }
  }
  return Result<void>::from(std::move(problems));
}

}  // namespace intarsia::tir
