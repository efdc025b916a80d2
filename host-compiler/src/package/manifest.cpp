#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "intarsia/package.h"
#include "support/files.h"

namespace intarsia {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kManifestVersion = 1;

Json tensor_json(const TensorInfo& tensor) {
  return {{"name", tensor.name},
          {"type", to_string(tensor.type)},
          {"shape", tensor.shape},
          {"scale", tensor.quantization.scale},
          {"zero_point", tensor.quantization.zero_point},
          {"axis", tensor.quantization.axis},
          {"bytes", tensor.bytes}};
}

// Reads what tensor_json wrote; false when anything is missing or of another type.
bool read_tensor(const Json& json, TensorInfo& tensor) {
  if (!json.is_object()) return false;
  for (const char* key : {"name", "type", "shape", "scale", "zero_point", "axis", "bytes"})
    if (!json.contains(key)) return false;
  const bool types = json["name"].is_string() && json["type"].is_string() &&
                     json["shape"].is_array() && json["scale"].is_array() &&
                     json["zero_point"].is_array() && json["axis"].is_number_integer() &&
                     json["bytes"].is_number_integer();
  if (!types) return false;
  const auto type = data_type_from_string(json["type"].get<std::string>());
  if (!type) return false;
  for (const char* key : {"shape", "scale", "zero_point"})
    for (const Json& item : json[key])
      if (!item.is_number()) return false;
  tensor.name = json["name"];
  tensor.type = *type;
  tensor.shape = json["shape"].get<Shape>();
  tensor.quantization.scale = json["scale"].get<std::vector<float>>();
  tensor.quantization.zero_point = json["zero_point"].get<std::vector<int64_t>>();
  tensor.quantization.axis = json["axis"];
  tensor.bytes = json["bytes"];
  return true;
}

bool read_strings(const Json& json, const char* key, std::vector<std::string>& into) {
  if (!json.contains(key) || !json[key].is_array()) return false;
  for (const Json& item : json[key]) {
    if (!item.is_string()) return false;
    into.push_back(item);
  }
  return true;
}

bool read_string(const Json& json, const char* key, std::string& into) {
  if (!json.contains(key) || !json[key].is_string()) return false;
  into = json[key];
  return true;
}

}  // namespace

std::string manifest_json(const PackageManifest& manifest) {
  Json json;
  json["intarsia_package"] = kManifestVersion;
  json["model"] = manifest.model;
  json["target"] = manifest.target;
  json["board"] = manifest.board;
  json["core"] = manifest.core;
  json["inputs"] = Json::array();
  for (const TensorInfo& tensor : manifest.inputs) json["inputs"].push_back(tensor_json(tensor));
  json["outputs"] = Json::array();
  for (const TensorInfo& tensor : manifest.outputs) json["outputs"].push_back(tensor_json(tensor));
  json["sources"] = manifest.sources;
  json["include_dirs"] = manifest.include_dirs;
  json["program_sources"] = manifest.program_sources;
  json["parts"] = manifest.parts;
  json["devices"] = manifest.devices;
  json["link_libraries"] = manifest.link_libraries;
  json["simulator_sources"] = manifest.simulator_sources;
  json["simulator_include_dirs"] = manifest.simulator_include_dirs;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<PackageManifest> read_manifest(const std::string& folder) {
  const std::string path = folder + "/manifest.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Diagnostics(folder, "is not the folder of a compiled model: it has no manifest.json",
                       "name a model, or a folder that 'intarsia compile' wrote");
  INTARSIA_TRY(const std::string text, read_text_file(path));
  const Json json = Json::parse(text, nullptr, false);
  const Diagnostics malformed(path, "is not a manifest of a compiled package",
                              "compile the model again with 'intarsia compile'");
  if (json.is_discarded() || !json.is_object()) return malformed;
  if (!json.contains("intarsia_package") || json["intarsia_package"] != kManifestVersion)
    return Diagnostics(path, "was written by another version of the format",
                       "compile the model again with 'intarsia compile'");
  PackageManifest manifest;
  const bool complete =
      read_string(json, "model", manifest.model) && read_string(json, "target", manifest.target) &&
      read_string(json, "board", manifest.board) && read_string(json, "core", manifest.core) &&
      read_strings(json, "program_sources", manifest.program_sources) &&
      read_strings(json, "parts", manifest.parts) &&
      read_strings(json, "devices", manifest.devices) &&
      read_strings(json, "link_libraries", manifest.link_libraries) &&
      read_strings(json, "simulator_sources", manifest.simulator_sources) &&
      read_strings(json, "simulator_include_dirs", manifest.simulator_include_dirs) &&
      read_strings(json, "sources", manifest.sources) &&
      read_strings(json, "include_dirs", manifest.include_dirs) && json.contains("inputs") &&
      json["inputs"].is_array() && json.contains("outputs") && json["outputs"].is_array();
  if (!complete) return malformed;
  for (const Json& item : json["inputs"])
    if (!read_tensor(item, manifest.inputs.emplace_back())) return malformed;
  for (const Json& item : json["outputs"])
    if (!read_tensor(item, manifest.outputs.emplace_back())) return malformed;
  return manifest;
}

}  // namespace intarsia
