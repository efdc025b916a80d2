#include <fmt/format.h>

#include <set>

#include "attribute_value.h"
#include "device_names.h"
#include "draft.h"
#include "quoted_text.h"

namespace intarsia {

namespace {

using Written = std::map<std::string, AttributeValue>;

// What a kind's callback complains about, with our place where it has none of its own.
void add_complaints(const Diagnostics& complaints, const Draft& draft, Diagnostics& diagnostics) {
  for (const Diagnostic& item : complaints.items()) {
    const bool placed = !item.where.empty();
    diagnostics.add(placed ? item.where : fmt::format("{}: {}", draft.where, draft.kind->name),
                    item.what, item.hint);
  }
}

std::optional<Attributes> resolve(const Draft& draft, const Written& written,
                                  Diagnostics& diagnostics) {
  const KindSpec& kind = *draft.kind;
  Attributes attributes;
  for (const auto& [name, value] : written) attributes.write(name, value);
  for (const AttributeSpec& spec : kind.attributes) {
    if (spec.default_value) attributes.derive(spec.name, *spec.default_value);
  }
  if (!kind.resolve) return attributes;
  if (const Result<void> resolved = kind.resolve(attributes); !resolved) {
    add_complaints(resolved.error(), draft, diagnostics);
    return std::nullopt;
  }
  Diagnostics broken;
  for (const auto& [name, entry] : attributes) {
    const AttributeSpec* spec = kind.attribute(name);
    INTARSIA_CHECK(spec != nullptr, kind.name + " derives only attributes it declares");
    INTARSIA_CHECK(check_value({kind, *spec, kind.name}, entry.value, broken),
                   kind.name + " derives values that keep its own rules");
  }
  return attributes;
}

// Leaves out, one by one, what would come out the same unwritten.
Attributes minimise(const Draft& draft, Attributes attributes) {
  for (bool changed = true; changed;) {
    changed = false;
    Written written;
    for (const auto& [name, entry] : attributes) {
      if (entry.written) written.emplace(name, entry.value);
    }
    for (const auto& [name, value] : Written(written)) {
      if (draft.kind->attribute(name)->required) continue;
      auto taken_out = written.extract(name);
      Diagnostics ignored;
      std::optional<Attributes> without = resolve(draft, written, ignored);
      if (without && *without == attributes) {
        attributes = std::move(*without);
        changed = true;
      } else {
        written.insert(std::move(taken_out));
      }
    }
  }
  return attributes;
}

}  // namespace

std::optional<Target> TargetBuilder::complete(const Draft& draft, Diagnostics& diagnostics) {
  const KindSpec& kind = *draft.kind;
  bool complete = true;
  for (const AttributeSpec& spec : kind.attributes) {
    if (!spec.required || draft.written.contains(spec.name)) continue;
    diagnostics.add(draft.where,
                    fmt::format("'{}' needs attribute '{}' ({})", kind.name, spec.name, spec.help),
                    fmt::format("write -{}=<{}>", spec.name, describe_type(spec)));
    complete = false;
  }
  if (!complete) return std::nullopt;
  std::optional<Attributes> attributes = resolve(draft, draft.written, diagnostics);
  if (!attributes) return std::nullopt;
  if (kind.validate) {
    if (const Result<void> valid = kind.validate(*attributes); !valid) {
      add_complaints(valid.error(), draft, diagnostics);
      return std::nullopt;
    }
  }
  return Target{kind.name, draft.name, minimise(draft, std::move(*attributes))};
}

Result<TargetSpec> TargetBuilder::build(const std::vector<Draft>& drafts,
                                        const std::string& where) {
  Diagnostics diagnostics;
  std::vector<Target> devices;
  std::set<std::string> names;
  std::set<std::string> reported;
  for (const Draft& draft : drafts) {
    if (!draft.name.empty() && !names.insert(draft.name).second &&
        reported.insert(draft.name).second) {
      diagnostics.add(draft.where, fmt::format("two devices are called {}", in_quotes(draft.name)),
                      "give each device a name of its own");
    }
    if (std::optional<Target> device = complete(draft, diagnostics)) {
      devices.push_back(std::move(*device));
    }
  }
  if (drafts.size() > kMaxDevices) {
    diagnostics.add(
        where, fmt::format("a target has at most {} devices, not {}", kMaxDevices, drafts.size()));
  }
  if (!diagnostics.empty()) return diagnostics;
  derive_names(devices);
  return TargetSpec(std::move(devices));
}

}  // namespace intarsia
