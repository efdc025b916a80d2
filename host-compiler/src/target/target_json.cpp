#include "target/target_json.h"

#include <nlohmann/json.hpp>

namespace intarsia {

const char* role_name(Role role) {
  switch (role) {
    case Role::Cpu:
      return "cpu";
    case Role::Accelerator:
      return "accelerator";
    case Role::Device:
      return "device";
  }
  return "";
}

namespace {

using Json = nlohmann::ordered_json;

const char* type_name(AttributeType type) {
  switch (type) {
    case AttributeType::Bool:
      return "bool";
    case AttributeType::Int:
      return "int";
    case AttributeType::String:
      return "string";
    case AttributeType::Enum:
      return "enum";
    case AttributeType::StringList:
      return "string list";
  }
  return "";
}

Json value_json(const AttributeValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json kind_json(const KindSpec& kind) {
  Json attributes = Json::array();
  for (const AttributeSpec& spec : kind.attributes) {
    Json attribute = {{"name", spec.name},
                      {"type", type_name(spec.type)},
                      {"help", spec.help},
                      {"required", spec.required}};
    if (spec.default_value) attribute["default"] = value_json(*spec.default_value);
    if (!spec.choices.empty()) attribute["choices"] = spec.choices;
    if (!spec.int_choices.empty()) attribute["choices"] = spec.int_choices;
    if (spec.minimum != std::numeric_limits<int64_t>::min()) attribute["minimum"] = spec.minimum;
    if (spec.maximum != std::numeric_limits<int64_t>::max()) attribute["maximum"] = spec.maximum;
    attributes.push_back(std::move(attribute));
  }
  return {{"name", kind.name},
          {"role", role_name(kind.role)},
          {"summary", kind.summary},
          {"attributes", std::move(attributes)}};
}

Json tag_json(const TagSpec& tag) {
  Json json = {{"name", tag.name}, {"summary", tag.summary}, {"target", tag.expansion}};
  if (!tag.host.empty()) json["host"] = tag.host;
  json["origin"] = tag.origin;
  return json;
}

Json catalogue_json(const TargetCatalogue& catalogue) {
  Json kinds = Json::array(), tags = Json::array();
  for (const KindSpec& kind : catalogue.kinds()) kinds.push_back(kind_json(kind));
  for (const TagSpec& tag : catalogue.tags()) tags.push_back(tag_json(tag));
  return {{"kinds", std::move(kinds)}, {"tags", std::move(tags)}};
}

Json target_json(const TargetCatalogue& catalogue, const TargetSpec& target) {
  Json devices = Json::array();
  for (const Target& device : target.devices()) {
    Json values = Json::object();
    for (const auto& [name, entry] : device.attributes) values[name] = value_json(entry.value);
    devices.push_back({{"name", device.name}, {"kind", device.kind}, {"attributes", values}});
  }
  const auto tag = to_tag(catalogue, target);
  return {{"target_string", to_string(target)},
          {"json", Json::parse(to_json(target), nullptr, false)},
          {"tag", tag ? Json(*tag) : Json(nullptr)},
          {"members", std::move(devices)}};
}

}  // namespace

Result<std::string> targets_json(const TargetCatalogue& catalogue,
                                 const std::optional<std::string>& name) {
  if (!name) return catalogue_json(catalogue).dump(2) + "\n";
  if (const KindSpec* kind = catalogue.kind(*name)) return kind_json(*kind).dump(2) + "\n";
  INTARSIA_TRY(const TargetSpec target, parse_target(catalogue, *name, "targets"));
  return target_json(catalogue, target).dump(2) + "\n";
}

}  // namespace intarsia
