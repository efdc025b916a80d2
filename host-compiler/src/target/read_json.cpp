// The JSON half of TargetReader.
#include <fmt/format.h>

#include <algorithm>

#include "attribute_value.h"
#include "quoted_text.h"
#include "target_reader.h"

namespace intarsia {

std::optional<std::string> TargetReader::read_json_string(const Json& json, const char* key,
                                                          const std::string& where) {
  const Json& value = json[key];
  if (value.is_string()) return value.get<std::string>();
  diagnostics_.add(where, fmt::format("'{}' is a string, not a JSON {}", key, value.type_name()));
  return std::nullopt;
}

std::optional<Piece> TargetReader::read_json(const Json& json, const std::string& where) {
  const auto kind = json.find("kind");
  // What has a host is a composite, whether it says so or not.
  const bool composite = kind != json.end() ? kind->is_string() && *kind == "composite"
                                            : !json.contains("tag") && json.contains("target_host");
  return composite ? read_json_composite(json, where) : read_json_member(json, where);
}

// An object, or a string that holds one device.
std::optional<Piece> TargetReader::read_json_target(const Json& json, const std::string& where) {
  if (json.is_string()) return read_text(json.get_ref<const std::string&>(), where);
  if (json.is_object()) return read_json(json, where);
  diagnostics_.add(
      where, fmt::format("a target is an object or a string, not a JSON {}", json.type_name()));
  return std::nullopt;
}

std::optional<Piece> TargetReader::read_json_member(const Json& json, const std::string& where) {
  const bool has_kind = json.contains("kind");
  if (has_kind == json.contains("tag")) {
    const bool parts = json.contains("target_host") || json.contains("devices");
    diagnostics_.add(
        where,
        has_kind ? "a target has a 'kind' or a 'tag', not both"
                 : "a target needs a 'kind' or a 'tag'",
        parts ? R"(a composite is {"kind":"composite","target_host":...,"devices":[...]})" : "");
    return std::nullopt;
  }
  const auto head = read_json_string(json, has_kind ? "kind" : "tag", where);
  if (!head) return std::nullopt;
  const bool swapped =
      has_kind ? catalogue_.tag(*head) != nullptr : catalogue_.kind(*head) != nullptr;
  if (swapped) {
    const char* is = has_kind ? "tag" : "kind";
    diagnostics_.add(
        where, fmt::format("{} is a {}, not a {}", in_quotes(*head), is, has_kind ? "kind" : "tag"),
        fmt::format("write {{\"{}\":\"{}\"}}", is, *head));
    return std::nullopt;
  }
  std::optional<Piece> piece = read_word(*head, where);
  if (!piece) return std::nullopt;
  bool good = true;
  if (json.contains("name")) {
    const auto name = read_json_string(json, "name", where);
    good = name && set_name(*piece, *name, where);
  }
  for (const auto& [name, value] : json.items()) {
    if (name == "kind" || name == "tag" || name == "name") continue;
    if (!takes_attributes(*piece, where)) return std::nullopt;
    Draft& draft = piece->devices.front();
    const AttributeSpec* spec = find_attribute(*draft.kind, name, where);
    std::optional<AttributeValue> read;
    if (spec) read = value_from_json({*draft.kind, *spec, where}, value, diagnostics_);
    if (read && check_value({*draft.kind, *spec, where}, *read, diagnostics_)) {
      draft.written.insert_or_assign(name, std::move(*read));
    } else {
      good = false;
    }
  }
  piece->spelled = json.dump();
  return good ? piece : std::nullopt;
}

std::optional<Piece> TargetReader::read_json_composite(const Json& json, const std::string& where) {
  bool good = true;
  for (const auto& [name, value] : json.items()) {
    if (name == "kind" || name == "target_host" || name == "devices") continue;
    diagnostics_.add(where, fmt::format("a composite has no attribute {}", in_quotes(name)),
                     "it has 'target_host' and 'devices'; attributes belong to these");
    good = false;
  }
  const auto devices = json.find("devices");
  if (devices != json.end() && !devices->is_array()) {
    diagnostics_.add(where, fmt::format("'devices' is a list, not a JSON {}", devices->type_name()),
                     R"(write "devices":[...])");
    return std::nullopt;
  }
  const bool has_devices = devices != json.end() && !devices->empty();
  if (!json.contains("target_host")) {
    diagnostics_.add(where,
                     has_devices ? "the composite has no 'target_host'"
                                 : "empty composite: it has no 'target_host' and no 'devices'",
                     R"(write "target_host":"c", or another CPU)");
    return std::nullopt;
  }
  std::optional<Piece> host = read_json_target(json["target_host"], where + ", target_host");
  if (host && host->composite) {
    diagnostics_.add(host->where, "nested composite: the host is a composite itself",
                     "name one CPU as 'target_host' and list all 'devices' in one composite");
    host.reset();
  }
  if (host && host->role() != Role::Cpu) {
    diagnostics_.add(
        host->where,
        fmt::format("the host must be a CPU, and '{}' is not", host->devices.front().kind->name),
        fmt::format("name a CPU as 'target_host', and {} in 'devices'", host->spelled));
    host.reset();
  }
  if (!has_devices) {
    std::string hint = "write the plain target";
    if (host) hint += " " + host->spelled;
    diagnostics_.add(where, "empty composite: it has no 'devices'", hint);
    return std::nullopt;
  }
  for (size_t i = 0; i < devices->size(); ++i) {
    if (i >= kMaxDevices || (!good && !open_tags_.empty())) break;
    auto device = read_json_target((*devices)[i], fmt::format("{}, devices[{}]", where, i));
    good = device && (!host || add_device(*host, std::move(*device))) && good;
  }
  if (!host || !good) return std::nullopt;
  if (devices->size() >= kMaxDevices) {
    diagnostics_.add(where, fmt::format("a target has at most {} devices", kMaxDevices));
    return std::nullopt;
  }
  host->ready_host.reset();
  host->spelled = json.dump();
  host->where = where;
  return host;
}

}  // namespace intarsia
