// Compiles C text with the host's compilers and calls into it.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace intarsia::testing {

// "gcc" and "clang", those of them that are installed.
std::vector<std::string> c_compilers();

class CProgram {
 public:
  // As strict as emitted code promises to be: -std=c11 -Wall -Wextra -Wconversion -Wsign-conversion
  // -Werror, plus `flags`. On failure `errors()` has what the compiler said.
  CProgram(const std::string& compiler, const std::string& text, const std::string& flags = {});
  ~CProgram();
  CProgram(const CProgram&) = delete;
  CProgram& operator=(const CProgram&) = delete;

  bool ok() const { return library_ != nullptr; }
  const std::string& errors() const { return errors_; }

  void* address(const std::string& symbol) const;  // null when absent
  template <typename Function>
  Function* find(const std::string& symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }

 private:
  void* library_ = nullptr;
  std::string errors_;
};

}  // namespace intarsia::testing
