#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "intarsia/contract/version.h"
#include "intarsia/package.h"
#include "packaging/replace_folder.h"
#include "packaging/runtime_folder.h"
#include "packaging/tensor_json.h"
#include "support/c_identifier.h"
#include "support/file_operations.h"
#include "support/files.h"
#include "support/folder_lock.h"
#include "support/model_name.h"
#include "support/shown_text.h"

namespace intarsia {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kManifest = "manifest.json";
constexpr int kManifestVersion = INTARSIA_RUNTIME_VERSION;

using packaging::tensor_json;

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
  tensor.name = shown_text(json["name"].get<std::string>());
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

bool read_memory(const Json& json, PackageManifest& manifest) {
  for (const char* key : {"memories", "alignment", "has_state"})
    if (!json.contains(key)) return false;
  if (!json["memories"].is_array() || !json["alignment"].is_number_integer() ||
      !json["has_state"].is_boolean())
    return false;
  for (const Json& item : json["memories"]) {
    MemoryBlock& block = manifest.memories.emplace_back();
    if (!item.is_object() || !read_string(item, "name", block.name) || !item.contains("bytes") ||
        !item["bytes"].is_number_integer())
      return false;
    block.bytes = item["bytes"];
  }
  manifest.alignment = json["alignment"];
  manifest.has_state = json["has_state"];
  // Packages of before say it by their core alone.
  const auto hosted = json.find("hosted");
  if (hosted != json.end() && !hosted->is_boolean()) return false;
  manifest.hosted = hosted != json.end() ? hosted->get<bool>() : manifest.core == "native";
  return true;
}

// Below the folder, and nothing that a compiler takes for an option or a list of them.
bool stays_inside(const std::string& path) {
  if (path.empty() || path.front() == '-' || path.front() == '@') return false;
  const std::filesystem::path parts(path);
  return parts.is_relative() &&
         std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part == ".."; });
}

bool is_library_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '.' || c == '-';
  });
}

// What of the manifest would lead out of the folder.
std::optional<std::string> leads_outside(const PackageManifest& manifest) {
  for (const auto* list :
       {&manifest.sources, &manifest.include_dirs, &manifest.program_sources,
        &manifest.simulator_sources, &manifest.simulator_include_dirs, &manifest.files})
    for (const std::string& path : *list)
      if (!stays_inside(path)) return path;
  for (const std::string& library : manifest.link_libraries)
    if (!is_library_name(library)) return library;
  if (manifest.model != packaging::kRuntimeLibrary && !model_name_problem(manifest.model).empty())
    return manifest.model;
  return std::nullopt;
}

// The files that the folder's manifest lists, if it has one that lists any.
std::optional<std::set<std::string>> files_listed(const std::string& folder) {
  const Result<std::string> text = read_text_file(folder + "/manifest.json");
  if (!text.ok()) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  std::vector<std::string> files;
  if (!json.is_object() || !json.contains("intarsia_package")) return std::nullopt;
  read_strings(json, "files", files);
  return std::set<std::string>(files.begin(), files.end());
}

std::string interrupted_json(const std::set<std::string>& files) {
  Json json;
  json["intarsia_package"] = kManifestVersion;
  json["interrupted"] = true;
  json["files"] = files;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string manifest_json(const PackageManifest& manifest) {
  Json json;
  json["intarsia_package"] = kManifestVersion;
  json["model"] = manifest.model;
  json["target"] = manifest.target;
  json["board"] = manifest.board;
  json["core"] = manifest.core;
  json["hosted"] = manifest.hosted;
  json["core_flags"] = manifest.core_flags;
  json["inputs"] = Json::array();
  for (const TensorInfo& tensor : manifest.inputs) json["inputs"].push_back(tensor_json(tensor));
  json["outputs"] = Json::array();
  for (const TensorInfo& tensor : manifest.outputs) json["outputs"].push_back(tensor_json(tensor));
  json["memories"] = Json::array();
  for (const MemoryBlock& block : manifest.memories)
    json["memories"].push_back({{"name", block.name}, {"bytes", block.bytes}});
  json["alignment"] = manifest.alignment;
  json["has_state"] = manifest.has_state;
  json["sources"] = manifest.sources;
  json["include_dirs"] = manifest.include_dirs;
  json["program_sources"] = manifest.program_sources;
  json["parts"] = manifest.parts;
  json["devices"] = manifest.devices;
  json["link_libraries"] = manifest.link_libraries;
  json["simulator_sources"] = manifest.simulator_sources;
  json["simulator_include_dirs"] = manifest.simulator_include_dirs;
  if (!manifest.runtime.empty()) json["runtime"] = manifest.runtime;
  json["files"] = manifest.files;
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
    return Diagnostics(
        path,
        fmt::format(
            "is of a package for version {} of the runtime, and this program has version {}",
            json.contains("intarsia_package") ? json["intarsia_package"].dump() : "0",
            kManifestVersion),
        "compile the model again with 'intarsia compile'");
  if (json.contains("interrupted"))
    return Diagnostics(folder,
                       "is not complete: an 'intarsia compile' was interrupted while it wrote",
                       "compile the model again with 'intarsia compile'");
  PackageManifest manifest;
  const bool complete =
      read_string(json, "model", manifest.model) && read_string(json, "target", manifest.target) &&
      read_string(json, "board", manifest.board) && read_string(json, "core", manifest.core) &&
      read_strings(json, "program_sources", manifest.program_sources) &&
      read_strings(json, "parts", manifest.parts) &&
      read_strings(json, "core_flags", manifest.core_flags) &&
      read_strings(json, "devices", manifest.devices) &&
      read_strings(json, "link_libraries", manifest.link_libraries) &&
      read_strings(json, "simulator_sources", manifest.simulator_sources) &&
      read_strings(json, "simulator_include_dirs", manifest.simulator_include_dirs) &&
      read_strings(json, "sources", manifest.sources) &&
      read_strings(json, "files", manifest.files) &&
      read_strings(json, "include_dirs", manifest.include_dirs) && read_memory(json, manifest) &&
      json.contains("inputs") && json["inputs"].is_array() && json.contains("outputs") &&
      json["outputs"].is_array();
  if (!complete) return malformed;
  if (json.contains("runtime") && !read_string(json, "runtime", manifest.runtime)) return malformed;
  for (const Json& item : json["inputs"])
    if (!read_tensor(item, manifest.inputs.emplace_back())) return malformed;
  for (const Json& item : json["outputs"])
    if (!read_tensor(item, manifest.outputs.emplace_back())) return malformed;
  if (const std::optional<std::string> item = leads_outside(manifest))
    return Diagnostics(path, fmt::format("names '{}', which is not a part of the folder", *item),
                       "compile the model again with 'intarsia compile'");
  return manifest;
}

std::vector<SourceFile> listed_files(PackageContents package) {
  std::set<std::string> names = {kManifest};
  for (const SourceFile& file : package.files) names.insert(file.path);
  package.manifest.files.assign(names.begin(), names.end());
  std::erase_if(package.files, [&](const SourceFile& file) { return file.path == kManifest; });
  package.files.push_back({kManifest, manifest_json(package.manifest)});
  return std::move(package.files);
}

Result<void> write_package_folder(const std::string& folder, PackageContents package) {
  // What is there now is looked at, and then replaced.
  const FolderLock alone(folder);
  packaging::NewFolder wanted;
  wanted.folder = folder;
  wanted.files = listed_files(std::move(package));
  std::set<std::string> names;
  for (const SourceFile& file : wanted.files) names.insert(file.path);
  if (const std::optional<std::set<std::string>> listed = files_listed(folder)) {
    wanted.earlier = *listed;
    wanted.overwrite = listed->empty();  // of a version that did not list them
    names.insert(listed->begin(), listed->end());
  }
  wanted.guard = kManifest;
  wanted.guard_text = interrupted_json(names);
  FileOperations operations;
  return packaging::replace_folder(wanted, operations);
}

}  // namespace intarsia
