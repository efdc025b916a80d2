#include <algorithm>

#include "intarsia/target_kind.h"

namespace intarsia {

void TargetRegistry::add(std::unique_ptr<TargetKind> kind) {
  const Result<void> added = catalogue_.add_kind(kind->spec());
  INTARSIA_CHECK(added.ok(),
                 "a kind that is built in is well-formed: " + added.error().to_string());
  kinds_.push_back(std::move(kind));
  const TargetKind& added_kind = *kinds_.back();
  for (const auto& [name, make] : waiting_)
    if (name == added_kind.spec().name) refinements_.push_back(make(added_kind));
  std::erase_if(waiting_,
                [&](const auto& waiting) { return waiting.first == added_kind.spec().name; });
}

void TargetRegistry::refine(const std::string& kind, MakeRefinement make) {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const auto& known) { return known->spec().name == kind; });
  if (found == kinds_.end())
    waiting_.emplace_back(kind, std::move(make));
  else
    refinements_.push_back(make(**found));
}

const TargetKind& TargetRegistry::kind(std::string_view name) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const auto& kind) { return kind->spec().name == name; });
  INTARSIA_CHECK(found != kinds_.end(), "a parsed target has only kinds of the catalogue");
  return **found;
}

const TargetKind& TargetRegistry::kind_of(const Target& target) const {
  for (const auto& refinement : refinements_)
    if (refinement->spec().name == target.kind && refinement->refines(target)) return *refinement;
  return kind(target.kind);
}

}  // namespace intarsia
