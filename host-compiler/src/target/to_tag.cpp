// Back from targets to tags, and devices by the tag that describes them.
#include <fmt/format.h>

#include <algorithm>

#include "device_names.h"
#include "draft.h"
#include "intarsia/target.h"
#include "quoted_text.h"
#include "target_reader.h"

namespace intarsia {

namespace {

// The one device a tag stands for beside a host; nothing for tags of composites and broken ones.
std::optional<Target> device_of_tag(const TargetCatalogue& catalogue, const TagSpec& tag) {
  Diagnostics ignored;
  const std::optional<Piece> piece = TargetReader(catalogue, ignored).expand_tag(tag, {});
  if (!piece || piece->composite) return std::nullopt;
  return TargetBuilder::complete(piece->devices.front(), ignored);
}

bool same_but_name(const Target& a, const Target& b) {
  return a.kind == b.kind && a.attributes == b.attributes;
}

}  // namespace

std::optional<std::string> to_tag(const TargetCatalogue& catalogue, const TargetSpec& target) {
  const auto is_target = [&](const std::string& text) {
    const Result<TargetSpec> parsed = parse_target(catalogue, text);
    return parsed && *parsed == target;
  };
  for (const TagSpec& tag : catalogue.tags()) {
    if (is_target(tag.name)) return tag.name;
  }
  const std::vector<bool> named = names_to_write(target.devices());
  std::string text;
  for (size_t i = 0; i < target.devices().size(); ++i) {
    const Target& device = target.devices()[i];
    const auto tag = std::find_if(
        catalogue.tags().begin(), catalogue.tags().end(), [&](const TagSpec& candidate) {
          const std::optional<Target> described = device_of_tag(catalogue, candidate);
          return described && same_but_name(*described, device);
        });
    if (tag == catalogue.tags().end()) return std::nullopt;
    if (i != 0) text += "+";
    if (named[i]) text += device.name + ":";
    text += tag->name;
  }
  // A tag may bring a name of its own that the device does not have.
  if (!is_target(text)) return std::nullopt;
  return text;
}

Result<const Target*> find_device(const TargetCatalogue& catalogue, const TargetSpec& target,
                                  std::string_view text, const std::string& where) {
  if (const Target* named = target.device(text)) return named;
  std::vector<std::string> names;
  for (const Target& device : target.devices()) names.push_back(device.name);
  std::vector<const Target*> described;
  if (const TagSpec* tag = catalogue.tag(text)) {
    const std::optional<Target> wanted = device_of_tag(catalogue, *tag);
    for (const Target& device : target.devices()) {
      if (wanted && same_but_name(*wanted, device)) described.push_back(&device);
    }
  }
  if (described.size() == 1) return described.front();
  if (described.size() > 1) {
    names.clear();
    for (const Target* device : described) names.push_back(device->name);
    return Diagnostics(where, fmt::format("several devices are {}", in_quotes(text)),
                       "name one of " + join(names, ", "));
  }
  std::string hint = did_you_mean(text, names);
  if (hint.empty()) hint = "the devices are " + join(names, ", ");
  return Diagnostics(where, fmt::format("the target has no device {}", in_quotes(text)), hint);
}

}  // namespace intarsia
