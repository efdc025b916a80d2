#include <algorithm>

#include "intarsia/plugin/target_kind.h"
#include "target_kind/default_services.h"

namespace intarsia {

const KernelLibrary* TargetKind::kernels_for(const Target& target) const {
  const auto found =
      std::find_if(kernel_libraries.begin(), kernel_libraries.end(),
                   [&](const KernelLibrary& library) { return library.serves(target); });
  return found == kernel_libraries.end() ? nullptr : &*found;
}

void TargetRegistry::add(TargetKind kind) {
  const Result<void> added = catalogue_.add_kind(kind.spec);
  INTARSIA_CHECK(added.ok(),
                 "a kind that is built in is well-formed: " + added.error().to_string());
  kinds_.push_back(std::make_unique<TargetKind>(std::move(kind)));
  TargetKind& kept = *kinds_.back();
  target_kind::add_default_services(kept);
  for (auto& [name, library] : waiting_)
    if (name == kept.spec.name) kept.kernel_libraries.push_back(std::move(library));
  std::erase_if(waiting_, [&](const auto& waiting) { return waiting.first == kept.spec.name; });
}

void TargetRegistry::add_kernels(const std::string& kind, KernelLibrary library) {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const auto& known) { return known->spec.name == kind; });
  if (found == kinds_.end())
    waiting_.emplace_back(kind, std::move(library));
  else
    (*found)->kernel_libraries.push_back(std::move(library));
}

const TargetKind& TargetRegistry::kind(std::string_view name) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const auto& kind) { return kind->spec.name == name; });
  INTARSIA_CHECK(found != kinds_.end(), "a parsed target has only kinds of the catalogue");
  return **found;
}

ForeignFormats TargetRegistry::foreign_formats() const {
  ForeignFormats all;
  for (const auto& kind : kinds_) {
    const auto& [operators, files] = kind->foreign_formats;
    all.operators.insert(all.operators.end(), operators.begin(), operators.end());
    all.files.insert(all.files.end(), files.begin(), files.end());
  }
  return all;
}

}  // namespace intarsia
