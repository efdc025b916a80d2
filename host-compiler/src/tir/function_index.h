// The functions of a module by name, for those who look for many: Module::find looks through all of them.
#pragma once

#include <string_view>
#include <unordered_map>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::tir {

class FunctionIndex {
 public:
  // The module must outlive the index and keep its functions as they are.
  explicit FunctionIndex(const Module& module) {
    for (const Func& func : module.funcs) functions_.emplace(func.name, &func);
  }

  // As Module::find: null when there is none.
  const Func* find(std::string_view name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }
  // A function that the module is known to have, as a verified one has all that it calls.
  const Func& at(std::string_view name) const {
    const Func* func = find(name);
    INTARSIA_CHECK(func != nullptr, "a verified module has every function that it calls");
    return *func;
  }

 private:
  std::unordered_map<std::string_view, const Func*> functions_;
};

}  // namespace intarsia::tir
