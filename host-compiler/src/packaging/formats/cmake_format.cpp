// --format cmake: a library that is found by find_package after an installation, or taken in by add_subdirectory or
// FetchContent; either way its target is intarsia::<model>.
#include <map>

#include <fmt/format.h>

#include "packaging/build_glue.h"
#include "packaging/formats/layout.h"
#include "packaging/formats/sample_text.h"
#include "support/c_identifier.h"

namespace intarsia::packaging {
namespace {

std::string indented(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += "  " + file + "\n";
  return text;
}

// The include roots while building, then the one after an installation.
std::string installable_includes(const PackageManifest& manifest) {
  std::string text;
  for (const std::string& dir : manifest.include_dirs)
    text += fmt::format("  \"$<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}/{}>\"\n", dir);
  return text + fmt::format("  \"$<INSTALL_INTERFACE:include/{}>\"\n", manifest.model);
}

std::string installable_library(const PackageManifest& manifest, const std::string& target) {
  const LibrarySources sources = split_sources(manifest);
  std::string text = fmt::format(
      "cmake_minimum_required(VERSION 3.13)\n"
      "# Library intarsia::{0}: the compiled model and the functions of the runtime that it calls. "
      "Generated file.\n"
      "#   add_subdirectory(<this folder>), or: cmake -S . -B build && cmake --install build "
      "--prefix P, and\n"
      "#   find_package({0} REQUIRED) with P in CMAKE_PREFIX_PATH\n"
      "#   target_link_libraries(firmware PRIVATE intarsia::{0})\n"
      "project({0} LANGUAGES C{2})\n"
      "if(TARGET {1})\n"
      "  message(FATAL_ERROR \"There is a target '{1}' already: the models of a program need "
      "different names. \"\n"
      "    \"Compile one of them again with 'intarsia compile --name NAME'.\")\n"
      "endif()\n"
      "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n"
      "  set(alone ON)\n"
      "else()\n"
      "  set(alone OFF)\n"
      "endif()\n"
      "string(TOUPPER {0} prefix)\n"
      "option(${{prefix}}_SAMPLE \"Build {0}_sample\" OFF)\n"
      "option(${{prefix}}_INSTALL \"Install intarsia::{0}\" ${{alone}})\n\n"
      "# -D BUILD_SHARED_LIBS=ON: a shared library, where the system has such.\n"
      "get_property(can_share GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS)\n"
      "if(BUILD_SHARED_LIBS AND can_share)\n"
      "  set(form SHARED)\n"
      "else()\n"
      "  set(form STATIC)\n"
      "endif()\n"
      "add_library({1} ${{form}}\n",
      manifest.model, target,
      std::string(sources.cpp ? " CXX" : "") + (has_assembler_sources(manifest) ? " ASM" : ""));
  text += indented(sources.model) + indented(sources.runtime);
  text += fmt::format(
      ")\nadd_library(intarsia::{1} ALIAS {0})\n"
      "set_target_properties({0} PROPERTIES EXPORT_NAME {1})\n"
      "target_include_directories({0} PUBLIC\n",
      target, manifest.model);
  text += installable_includes(manifest);
  text += fmt::format(
      ")\ntarget_compile_features({0} PUBLIC c_std_11{1})\n"
      "# Behind the build type's own level, so that it holds in Debug too.\n"
      "target_compile_options({0} PRIVATE -O2 -ffunction-sections -fdata-sections)\n",
      target, sources.cpp ? " PRIVATE cxx_std_20" : "");
  if (sources.cpp && !manifest.hosted)
    text += fmt::format("target_compile_options({} PRIVATE \"$<$<COMPILE_LANGUAGE:CXX>:{}>\")\n",
                        target,
                        fmt::join(std::vector<std::string>{"-ffreestanding", "-fno-exceptions",
                                                           "-fno-rtti", "-fno-threadsafe-statics"},
                                  ";"));
  if (!manifest.link_libraries.empty())
    text += fmt::format("target_link_libraries({} PUBLIC {})\n", target,
                        fmt::join(manifest.link_libraries, " "));
  return text;
}

// One by one: beside them may lie the folder of a build, whatever it is called, or of an installation.
std::string installed_headers(const PackageContents& package) {
  std::map<std::string, std::string> folders;
  for (const SourceFile& file : package.files) {
    if (!file.path.ends_with(".h") && !file.path.ends_with(".def")) continue;
    if (file.path.starts_with("extras/")) continue;
    const size_t slash = file.path.rfind('/');
    folders[slash == std::string::npos ? "" : "/" + file.path.substr(0, slash)] +=
        "    " + file.path + "\n";
  }
  std::string text;
  for (const auto& [folder, files] : folders)
    text += fmt::format("  install(FILES\n{}    DESTINATION include/{}{})\n", files,
                        package.manifest.model, folder);
  return text;
}

std::string install_text(const PackageContents& package, const std::string& target) {
  return fmt::format(
      "\nif(${{prefix}}_INSTALL)\n"
      "  install(TARGETS {1} EXPORT {0}-targets\n"
      "    ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)\n"
      "{2}"
      "  install(EXPORT {0}-targets NAMESPACE intarsia:: DESTINATION lib/cmake/{0})\n"
      "  install(FILES {0}-config.cmake DESTINATION lib/cmake/{0})\n"
      "endif()\n",
      package.manifest.model, target, installed_headers(package));
}

std::string sample_target(const PackageManifest& manifest, const std::string& target) {
  std::string sources = fmt::format("sample/{}_sample.c", manifest.model);
  for (const std::string& source : manifest.program_sources)
    if (source.ends_with("_devices.c")) sources += " " + source;
  return fmt::format(
      "\nif(${{prefix}}_SAMPLE)\n"
      "  add_executable({0}_sample {2})\n"
      "  target_link_libraries({0}_sample PRIVATE {1}{3})\n"
      "endif()\n",
      manifest.model, target, sources, manifest.hosted ? " m" : "");
}

}  // namespace

Result<FormattedPackage> cmake_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "cmake"));
  FormattedPackage made{laid_out(plain, "."), {}};
  PackageContents& package = made.package;
  const PackageManifest& manifest = package.manifest;
  const std::string target = cmake_target(manifest.model);
  if (target != manifest.model)
    made.notes.push_back(fmt::format(
        "CMake has the name '{}' for something else: the target inside is '{}', outside "
        "intarsia::{} as always",
        manifest.model, target, manifest.model));
  package.files.push_back({"CMakeLists.txt", installable_library(manifest, target) +
                                                 install_text(package, target) +
                                                 sample_target(manifest, target)});
  package.files.push_back(
      {manifest.model + "-config.cmake",
       fmt::format("# For find_package({0}): the target intarsia::{0}. Generated file.\n"
                   "include(\"${{CMAKE_CURRENT_LIST_DIR}}/{0}-targets.cmake\")\n",
                   manifest.model)});
  const std::string sample = fmt::format(
      "/* {0}: a sample that prints what the model computes. Generated file. */\n#include "
      "<stdio.h>\n{1}\n"
      "int main(void) {{\n  return run_{0}_sample();\n}}\n",
      manifest.model, sample_text(manifest, facts.sample, "printf"));
  package.files.push_back({fmt::format("sample/{}_sample.c", manifest.model), sample});
  package.files.push_back({fmt::format("sample/{}_test_data.h", manifest.model),
                           test_data_text(manifest, facts.sample)});
  package.files.push_back(readme(manifest, facts, "A library for CMake",
                                 fmt::format("```sh\ncmake -S . -B build -D {}_SAMPLE=ON && cmake "
                                             "--build build\nbuild/{}_sample\n```",
                                             upper_case(manifest.model), manifest.model),
                                 made.notes));
  return made;
}

}  // namespace intarsia::packaging
