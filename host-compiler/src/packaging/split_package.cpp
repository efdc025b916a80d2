// Model and runtime as two packages.
#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "intarsia/contract/version.h"
#include "intarsia/package.h"
#include "packaging/build_glue.h"
#include "packaging/runtime_folder.h"
#include "support/files.h"

namespace intarsia {
namespace {

constexpr const char* kRuntime = packaging::kRuntimeLibrary;

bool is_of_runtime(const std::string& path) {
  return path.starts_with("intarsia/");
}

void add_glue(PackageContents& package, bool is_runtime) {
  const PackageManifest& manifest = package.manifest;
  using namespace packaging;
  package.files.push_back(
      {"CMakeLists.txt", is_runtime ? runtime_cmake_text(manifest) : cmake_text(manifest)});
  package.files.push_back(
      {manifest.model + ".mk", is_runtime ? runtime_make_text(manifest) : make_text(manifest)});
  package.files.push_back({"manifest.json", manifest_json(manifest)});
}

}  // namespace

Result<SplitPackage> split_package(const PackageContents& package) {
  const PackageManifest& whole = package.manifest;
  if (!whole.parts.empty())
    return Diagnostics(
        "--runtime",
        fmt::format("{} runs on several cores, and each has a runtime of its own", whole.model),
        "leave --runtime out");
  SplitPackage split;
  split.model.manifest = whole;
  split.model.weights_file = package.weights_file;
  split.model.arrays = package.arrays;
  PackageManifest& model = split.model.manifest;
  std::erase_if(model.sources, is_of_runtime);
  model.runtime = kRuntime;
  PackageManifest& runtime = split.runtime.manifest;
  runtime.model = kRuntime;
  runtime.target = whole.target;
  runtime.core = whole.core;
  runtime.hosted = whole.hosted;
  runtime.core_flags = whole.core_flags;
  runtime.include_dirs = {"."};
  const std::set<std::string> glue = {"CMakeLists.txt", whole.model + ".mk", "manifest.json"};
  for (const SourceFile& file : package.files) {
    if (is_of_runtime(file.path))
      split.runtime.files.push_back(file);
    else if (!glue.contains(file.path))
      split.model.files.push_back(file);
  }
  for (const std::string& source : whole.sources)
    if (is_of_runtime(source)) runtime.sources.push_back(source);
  add_glue(split.model, false);
  add_glue(split.runtime, true);
  return split;
}

Result<void> add_runtime_of_folder(const std::string& folder, PackageContents& runtime) {
  std::error_code error;
  if (!std::filesystem::exists(folder + "/manifest.json", error)) return {};
  INTARSIA_TRY(const PackageManifest earlier, read_manifest(folder));
  if (earlier.model != kRuntime)
    return Diagnostics(folder,
                       fmt::format("holds the package of '{}', not a runtime", earlier.model),
                       "name another folder for --runtime");
  std::set<std::string> names;
  for (const SourceFile& file : runtime.files) names.insert(file.path);
  for (const std::string& path : earlier.files) {
    if (!is_of_runtime(path) || names.contains(path)) continue;
    INTARSIA_TRY(std::string text, read_text_file(folder + "/" + path));
    runtime.files.push_back({path, std::move(text)});
    if (path.ends_with(".c") || path.ends_with(".cpp")) runtime.manifest.sources.push_back(path);
  }
  auto& sources = runtime.manifest.sources;
  std::sort(sources.begin(), sources.end(), [](const std::string& a, const std::string& b) {
    const bool cpp_a = a.ends_with(".cpp"), cpp_b = b.ends_with(".cpp");
    return cpp_a != cpp_b ? cpp_b : a < b;
  });
  const std::set<std::string> glue = {"CMakeLists.txt", std::string(kRuntime) + ".mk",
                                      "manifest.json"};
  std::erase_if(runtime.files, [&](const SourceFile& file) { return glue.contains(file.path); });
  add_glue(runtime, true);
  return {};
}

}  // namespace intarsia
