#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attribute_value.h"
#include "draft.h"
#include "intarsia/target.h"
#include "quoted_text.h"
#include "target_reader.h"

namespace intarsia {

namespace {

constexpr const char* kNameRule =
    "a name begins with a letter and has letters, digits, '_', '.' and '-'";

// Words with a meaning of their own in JSON.
bool is_reserved(std::string_view name) {
  return name == "kind" || name == "tag" || name == "name" || name == "target_host" ||
         name == "devices" || name == "composite";
}

bool name_is_free(const TargetCatalogue& catalogue, const char* what, const std::string& name,
                  Diagnostics& diagnostics) {
  const std::string where = fmt::format("{} {}", what, in_quotes(name));
  if (!is_name(name)) {
    diagnostics.add(where, "the name is ill-formed", kNameRule);
  } else if (is_reserved(name)) {
    diagnostics.add(where, "the name is reserved", "choose another one");
  } else if (catalogue.kind(name) != nullptr) {
    diagnostics.add(where, "there is a target kind of this name", "choose another one");
  } else if (catalogue.tag(name) != nullptr) {
    diagnostics.add(where, "there is a tag of this name", "choose another one");
  } else {
    return true;
  }
  return false;
}

void check_attributes(const KindSpec& kind, Diagnostics& diagnostics) {
  std::set<std::string> names;
  for (const AttributeSpec& spec : kind.attributes) {
    const std::string where =
        fmt::format("target kind '{}', attribute {}", kind.name, in_quotes(spec.name));
    if (!is_name(spec.name) || is_reserved(spec.name)) {
      diagnostics.add(where, "the name is ill-formed or reserved", kNameRule);
    }
    if (!names.insert(spec.name).second) diagnostics.add(where, "the attribute is declared twice");
    if (spec.type == AttributeType::Enum && spec.choices.empty()) {
      diagnostics.add(where, "an enum attribute has no choices");
    }
    if (spec.required && spec.default_value) {
      diagnostics.add(where, "a required attribute has a default");
    }
    if (spec.default_value) check_value({kind, spec, where}, *spec.default_value, diagnostics);
  }
}

}  // namespace

Result<void> TargetCatalogue::add_kind(KindSpec kind) {
  Diagnostics diagnostics;
  if (name_is_free(*this, "target kind", kind.name, diagnostics))
    check_attributes(kind, diagnostics);
  if (!diagnostics.empty()) return diagnostics;
  kinds_.push_back(std::move(kind));
  for (TagSpec tag : kinds_.back().tags) {
    if (tag.origin.empty()) tag.origin = kinds_.back().name;
    if (const Result<void> added = add_tag(std::move(tag)); !added)
      diagnostics.append(added.error());
  }
  return Result<void>::from(diagnostics);
}

Result<void> TargetCatalogue::add_tag(TagSpec tag) {
  Diagnostics diagnostics;
  if (!name_is_free(*this, "tag", tag.name, diagnostics)) return diagnostics;
  tags_.push_back(std::move(tag));
  return {};
}

const KindSpec* TargetCatalogue::kind(std::string_view name) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const KindSpec& kind) { return kind.name == name; });
  return found == kinds_.end() ? nullptr : &*found;
}

const TagSpec* TargetCatalogue::tag(std::string_view name) const {
  const auto found = std::find_if(tags_.begin(), tags_.end(),
                                  [&](const TagSpec& tag) { return tag.name == name; });
  return found == tags_.end() ? nullptr : &*found;
}

Result<void> TargetCatalogue::check_tag(const TagSpec& tag) const {
  Diagnostics diagnostics;
  TargetReader reader(*this, diagnostics);
  const std::string where = tag.origin.empty() ? "tags" : tag.origin;
  const std::optional<Piece> piece = reader.expand_tag(tag, where);
  if (!piece) return diagnostics;
  // An accelerator's tag without a host is for use beside one: its device is checked alone.
  std::vector<Draft> drafts = piece->devices;
  if (piece->ready_host) drafts.insert(drafts.begin(), *piece->ready_host);
  const Result<TargetSpec> built =
      TargetBuilder::build(drafts, fmt::format("{}, tag '{}'", where, tag.name));
  return built ? Result<void>() : built.error();
}

Result<void> TargetCatalogue::check_tags() const {
  Diagnostics diagnostics;
  for (const TagSpec& tag : tags_) {
    if (const Result<void> checked = check_tag(tag); !checked) diagnostics.append(checked.error());
  }
  return Result<void>::from(diagnostics);
}

}  // namespace intarsia
