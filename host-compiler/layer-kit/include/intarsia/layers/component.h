// A component: a shared library beside the compiler that links a library of layers, so that the compiler does not. It is
// there where CMake found that library, and loaded when it is asked first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace intarsia::layers {

// Where a component, "libintarsia_x.so" or a program, may be: beside the program that this code is in, in the folder for
// components of its installation, and `built_at`, which may be empty. The first that is there is meant.
std::vector<std::filesystem::path> component_places(const std::string& file,
                                                    const std::string& built_at);

class Component {
 public:
  // The first at component_places() that can be loaded.
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
