// From the tensor IR to what the engine executes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/code.h"
#include "intarsia/result.h"
#include "tir/function_index.h"

namespace intarsia::engine {

using FindKernel = std::function<const KernelFunction*(const std::string& name)>;

// Functions of one module, each compiled when it is first asked for. The module's constants are read where they are.
class FunctionTable {
 public:
  FunctionTable(const tir::Module& module, FindKernel find_kernel);
  // Fails with a line that names what there is no function for in this process.
  Result<const FunctionCode*> compiled(const std::string& name);
  // As it is in the module; checked to exist.
  const tir::Func& at(const std::string& name) const { return index_.at(name); }

 private:
  const tir::Module& module_;
  const tir::FunctionIndex index_;
  FindKernel find_kernel_;
  std::map<std::string, std::unique_ptr<FunctionCode>> functions_;
};

}  // namespace intarsia::engine
