#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "device_names.h"
#include "intarsia/target.h"
#include "quoted_text.h"

namespace intarsia {

namespace {

using Json = nlohmann::ordered_json;

std::string bare_or_quoted(const std::string& text) {
  const auto harmless = [](char c) {
    return is_name_character(c) || c == '/' || c == ':' || c == '=';
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), harmless)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

Json to_json_value(const AttributeValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json_object(const Target& device, bool with_name) {
  Json json = {{"kind", device.kind}};
  if (with_name) json["name"] = device.name;
  for (const auto& [name, entry] : device.attributes) {
    if (entry.written) json[name] = to_json_value(entry.value);
  }
  return json;
}

}  // namespace

std::string to_string(const AttributeValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return bare_or_quoted(*text);
  std::vector<std::string> elements;
  for (const std::string& element : std::get<std::vector<std::string>>(value)) {
    elements.push_back(bare_or_quoted(element));
  }
  return join(elements, ",");
}

std::string to_string(const Target& device) {
  std::string text = device.kind;
  for (const auto& [name, entry] : device.attributes) {
    if (entry.written) text += fmt::format(" -{}={}", name, to_string(entry.value));
  }
  return text;
}

std::string to_string(const TargetSpec& target) {
  const std::vector<bool> named = names_to_write(target.devices());
  const bool any_named = std::find(named.begin(), named.end(), true) != named.end();
  std::string text;
  for (size_t i = 0; i < target.devices().size(); ++i) {
    const Target& device = target.devices()[i];
    if (i != 0) text += any_named ? "; " : " + ";
    if (named[i]) text += device.name + ": ";
    text += to_string(device);
  }
  return text;
}

std::string to_json(const TargetSpec& target) {
  const std::vector<bool> named = names_to_write(target.devices());
  const Json host = to_json_object(target.host(), named[0]);
  if (!target.is_composite()) return host.dump();
  Json devices = Json::array();
  for (size_t i = 0; i < target.beside_host().size(); ++i) {
    devices.push_back(to_json_object(target.beside_host()[i], named[i + 1]));
  }
  return Json{{"kind", "composite"}, {"target_host", host}, {"devices", devices}}.dump();
}

}  // namespace intarsia
