#include "intarsia/layers/component.h"

#include <dlfcn.h>

namespace intarsia::layers {

namespace fs = std::filesystem;

std::vector<fs::path> component_places(const std::string& file, const std::string& built_at) {
  std::vector<fs::path> places;
  const auto add_beside = [&](const fs::path& self) {
    const fs::path folder = self.parent_path();
    places.push_back(folder / file);
    places.push_back(folder.parent_path() / INTARSIA_COMPONENT_FOLDER / file);
  };
  Dl_info here;
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&component_places), &here) != 0 && here.dli_fname != nullptr)
    if (const fs::path self = fs::canonical(here.dli_fname, error); !error) add_beside(self);
  // A program that was found by PATH is known there by its bare name.
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    add_beside(program);
  if (!built_at.empty()) places.emplace_back(built_at);
  return places;
}

Component::Component(const std::string& file, const std::string& built_at) {
  for (const fs::path& place : component_places(file, built_at)) {
    std::error_code error;
    if (!fs::exists(place, error)) continue;
    library_ = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) return;
    problem_ = dlerror();
  }
}

void* Component::symbol(const char* name) const {
  return library_ == nullptr ? nullptr : dlsym(library_, name);
}

}  // namespace intarsia::layers
