// Merging the modules that targets return: names that conflict are changed, equal constants shared.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "intarsia/plugin/tir.h"
#include "intarsia/plugin/unique_names.h"

namespace intarsia::lowering {

class Merger {
 public:
  explicit Merger(std::string module_name) { module_.name = std::move(module_name); }

  struct Owner {
    std::string device;
    bool is_accelerator = false;  // its functions of commands are stepwise
  };
  // Adds all functions and constants of `part`; returns the name that its function `entry` has now.
  std::string add(const tir::Module& part, const std::string& entry, const Owner& owner);

  // A C identifier that nothing in the module has yet; it is reserved.
  std::string unique(const std::string& hint);

  // The number of an equal constant, which is added when there is none.
  ConstantId add_constant(const tir::Constant& constant);

  // Where a function that was added is in the module.
  size_t index_of(const std::string& function) const;

  tir::Module& module() { return module_; }

 private:
  tir::Module module_;
  UniqueNames names_;
  std::unordered_map<std::string, size_t> functions_;  // by name
  // Constants by everything but the name. Weights may be megabytes: keyed by size and hash first.
  std::multimap<std::pair<size_t, size_t>, ConstantId> constants_;
};

}  // namespace intarsia::lowering
