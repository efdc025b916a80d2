#include <fmt/format.h>

#include "attribute_value.h"
#include "file_text.h"
#include "quoted_text.h"
#include "target_reader.h"

namespace intarsia {

Result<TargetSpec> parse_target(const TargetCatalogue& catalogue, std::string_view text,
                                const std::string& where) {
  Diagnostics diagnostics;
  TargetReader reader(catalogue, diagnostics);
  const std::optional<Piece> piece = reader.read_text(text, where);
  if (!piece) return diagnostics;
  const std::optional<std::vector<Draft>> drafts = reader.stand_alone(*piece);
  if (!drafts) return diagnostics;
  return TargetBuilder::build(*drafts, where);
}

Result<TargetSpec> parse_target_argument(const TargetCatalogue& catalogue,
                                         const std::string& argument, const std::string& where) {
  if (!argument.starts_with('@')) return parse_target(catalogue, argument, where);
  const std::string path = argument.substr(1);
  INTARSIA_TRY(const std::string text, read_small_file(path, where));
  return parse_target(catalogue, text, path);
}

Result<TargetSpec> make_target(const TargetCatalogue& catalogue, const std::vector<Target>& devices,
                               const std::string& where) {
  Diagnostics diagnostics;
  if (devices.empty()) return Diagnostics(where, "the target is empty", "name a host");
  std::vector<Draft> drafts;
  for (const Target& device : devices) {
    const KindSpec* kind = catalogue.kind(device.kind);
    if (kind == nullptr) {
      std::vector<std::string> names;
      for (const KindSpec& known : catalogue.kinds()) names.push_back(known.name);
      diagnostics.add(where, fmt::format("there is no target kind {}", in_quotes(device.kind)),
                      did_you_mean(device.kind, names));
      continue;
    }
    if (&device == &devices.front() && kind->role != Role::Cpu) {
      diagnostics.add(where, fmt::format("the host must be a CPU, and '{}' is not", kind->name));
    }
    if (!device.name.empty() && !is_name(device.name)) {
      diagnostics.add(where, fmt::format("{} cannot name a device", in_quotes(device.name)));
    }
    Draft draft{kind, device.name, {}, where};
    for (const auto& [name, entry] : device.attributes) {
      if (!entry.written) continue;
      const AttributeSpec* spec = kind->attribute(name);
      if (spec == nullptr) {
        diagnostics.add(where,
                        fmt::format("'{}' has no attribute {}", kind->name, in_quotes(name)));
      } else if (check_value({*kind, *spec, where}, entry.value, diagnostics)) {
        draft.written.emplace(name, entry.value);
      }
    }
    drafts.push_back(std::move(draft));
  }
  if (!diagnostics.empty()) return diagnostics;
  return TargetBuilder::build(drafts, where);
}

}  // namespace intarsia
