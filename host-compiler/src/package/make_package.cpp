#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "intarsia/package.h"
#include "support/files.h"

namespace intarsia {
namespace {

namespace fs = std::filesystem;

// Every file below root/folder with one of the endings, placed below `into`; sorted by path.
Result<std::vector<SourceFile>> copy_tree(const std::string& root, const std::string& folder,
                                          const std::string& into,
                                          const std::vector<std::string>& endings) {
  std::vector<SourceFile> files;
  std::error_code error;
  const fs::path base = fs::path(root) / folder;
  for (fs::recursive_directory_iterator it(base, error), end; !error && it != end; it.increment(error)) {
    const std::string extension = it->path().extension().string();
    if (!it->is_regular_file() || std::find(endings.begin(), endings.end(), extension) == endings.end())
      continue;
    INTARSIA_TRY(std::string text, read_text_file(it->path().string()));
    files.push_back({into + "/" + fs::relative(it->path(), base).generic_string(), std::move(text)});
  }
  if (error)
    return Diagnostics(base.string(), "the runtime's sources are not there: " + error.message(),
                       "set INTARSIA_ROOT to the folder that holds device-runtime/");
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::string cmake_text(const PackageManifest& manifest) {
  std::string text = fmt::format(
      "# Library '{0}': the compiled model and the helpers it uses. Generated file.\n"
      "#   add_subdirectory(<this folder>)\n#   target_link_libraries(firmware PRIVATE {0})\n"
      "add_library({0} STATIC\n", manifest.model);
  for (const std::string& source : manifest.sources)
    if (source != manifest.descriptor) text += "  " + source + "\n";
  text += fmt::format(")\ntarget_include_directories({} PUBLIC\n", manifest.model);
  for (const std::string& dir : manifest.include_dirs)
    text += fmt::format("  ${{CMAKE_CURRENT_SOURCE_DIR}}/{}\n", dir);
  return text + fmt::format(")\ntarget_compile_features({0} PUBLIC c_std_11)\n"
                            "target_compile_options({0} PRIVATE -ffunction-sections -fdata-sections)\n",
                            manifest.model);
}

std::string make_text(const PackageManifest& manifest) {
  std::string prefix = manifest.model;
  std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = fmt::format(
      "# For make: include this file, compile $({0}_SOURCES) with $({0}_INCLUDES). Generated file.\n"
      "{0}_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))\n{0}_SOURCES := \\\n", prefix);
  for (const std::string& source : manifest.sources)
    if (source != manifest.descriptor) text += fmt::format("  $({}_DIR)/{} \\\n", prefix, source);
  text += fmt::format("\n{}_INCLUDES := \\\n", prefix);
  for (const std::string& dir : manifest.include_dirs)
    text += fmt::format("  -I$({}_DIR)/{} \\\n", prefix, dir);
  return text + "\n";
}

void list_sources(const std::vector<SourceFile>& files, const std::string& ending,
                  std::vector<std::string>& sources) {
  for (const SourceFile& file : files)
    if (file.path.ends_with(ending)) sources.push_back(file.path);
}

}  // namespace

Result<PackageContents> make_package(const PackageRequest& request) {
  const EmittedModel& model = request.model.emitted;
  PackageContents package;
  package.files = model.sources;

  const std::string& root = request.resource_root;
  const auto add = [&](const std::string& folder, const std::string& into,
                       const std::vector<std::string>& endings) -> Result<void> {
    INTARSIA_TRY(std::vector<SourceFile> files, copy_tree(root, folder, into, endings));
    std::move(files.begin(), files.end(), std::back_inserter(package.files));
    return {};
  };
  INTARSIA_TRY_VOID(add("device-runtime/contract/include", "runtime/include", {".h", ".def"}));
  INTARSIA_TRY_VOID(add("device-runtime/kernels/include", "runtime/include", {".h", ".def"}));
  INTARSIA_TRY_VOID(add("device-runtime/kernels/src", "runtime/kernels", {".c", ".h"}));

  PackageManifest& manifest = package.manifest;
  manifest.model = model.name;
  manifest.target = to_string(request.target);
  manifest.board = request.board;
  manifest.core = request.core;
  manifest.inputs = model.inputs;
  manifest.outputs = model.outputs;
  manifest.descriptor = model.name + "_descriptor.c";
  manifest.include_dirs = {".", "runtime/include"};
  list_sources(package.files, ".c", manifest.sources);
  list_sources(package.files, ".cpp", manifest.sources);

  package.files.push_back({"CMakeLists.txt", cmake_text(manifest)});
  package.files.push_back({model.name + ".mk", make_text(manifest)});
  package.files.push_back({"manifest.json", manifest_json(manifest)});
  return package;
}

}  // namespace intarsia
