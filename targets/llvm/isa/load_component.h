// The component that links LLVM (component.h), as a loaded library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "intarsia/result.h"
#include "intarsia/target.h"
#include "intarsia/targets/llvm/component.h"

namespace intarsia::targets::llvm {

struct Component {
  intarsia_llvm_describe_function describe = nullptr;
  intarsia_llvm_compile_function compile = nullptr;
  intarsia_llvm_load_function load = nullptr;
  intarsia_llvm_find_function find = nullptr;
  intarsia_llvm_unload_function unload = nullptr;

  bool whole() const { return describe && compile && load && find && unload; }
};

// The first of the files that is one. Says what to install where none is.
Result<Component> load_component(const std::vector<std::filesystem::path>& files);
// From where it is built or installed, when it is asked for first.
Result<Component> the_component();

// The texts that the machine of a target consists of.
class MachineTexts {
 public:
  explicit MachineTexts(const Target& target);
  intarsia_llvm_machine machine() const {
    return {triple_.c_str(), cpu_.c_str(), features_.c_str()};
  }

 private:
  std::string triple_, cpu_, features_;
};

}  // namespace intarsia::targets::llvm
