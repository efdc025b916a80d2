#include "intarsia/targets/llvm/load_component.h"

#include <dlfcn.h>

#include <filesystem>

#include <fmt/format.h>

#include "intarsia/layers/component.h"

namespace intarsia::targets::llvm {
namespace {

constexpr const char* kFileName = "libintarsia_llvm.so";

#ifndef INTARSIA_LLVM_COMPONENT
#define INTARSIA_LLVM_COMPONENT ""
#endif

}  // namespace

Result<Component> load_component(const std::vector<std::filesystem::path>& files) {
  std::string problem = "this Intarsia was built without LLVM";
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem = dlerror();
      continue;
    }
    Component component;
    const auto take = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    take(component.describe, "intarsia_llvm_describe");
    take(component.compile, "intarsia_llvm_compile");
    take(component.load, "intarsia_llvm_load");
    take(component.find, "intarsia_llvm_find");
    take(component.unload, "intarsia_llvm_unload");
    if (component.whole()) return component;
    problem = fmt::format("{} is not of this release", file.string());
  }
  return Diagnostics("target 'llvm'", problem,
                     "install llvm-14-dev and clang-14 (or a later pair up to 19) and build again; "
                     "kind 'c' needs neither");
}

Result<Component> the_component() {
  static const Result<Component> component =
      load_component(layers::component_places(kFileName, INTARSIA_LLVM_COMPONENT));
  return component;
}

MachineTexts::MachineTexts(const Target& target) {
  const auto text = [&](const char* name) {
    const AttributeValue* value = target.attributes.find(name);
    return value == nullptr ? std::string() : std::get<std::string>(*value);
  };
  triple_ = text("mtriple");
  cpu_ = text("mcpu");
  features_ = fmt::format("{}", fmt::join(target.get_list("mattr"), ","));
}

}  // namespace intarsia::targets::llvm
