// A component: a shared library beside the compiler that links a library of layers, so that the compiler does not. It is
// there where CMake found that library, and loaded when it is asked first.
#pragma once

#include <string>

namespace intarsia::layers {

class Component {
 public:
  // `file`: "libintarsia_x.so", looked for beside the program that this code is in, in lib/intarsia of its installation, and
  // at `built_at`, which may be empty.
  Component(const std::string& file, const std::string& built_at);

  bool is_there() const { return library_ != nullptr; }
  // Of a component that is not there, where a file was found: why it cannot be loaded. Empty: there is none.
  const std::string& problem() const { return problem_; }
  // A function of it by its name; null where there is none.
  template <typename FunctionPointer>
  FunctionPointer function(const char* name) const {
    return reinterpret_cast<FunctionPointer>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  void* library_ = nullptr;  // never closed
  std::string problem_;
};

}  // namespace intarsia::layers
