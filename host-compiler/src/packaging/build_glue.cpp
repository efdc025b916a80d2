#include "packaging/build_glue.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "packaging/runtime_folder.h"
#include "packaging/simulators.h"
#include "support/c_identifier.h"

namespace intarsia::packaging {
std::vector<std::string> library_sources(const PackageManifest& manifest) {
  const auto& program = manifest.program_sources;
  std::vector<std::string> sources;
  std::copy_if(manifest.sources.begin(), manifest.sources.end(), std::back_inserter(sources),
               [&](const std::string& source) {
                 return std::find(program.begin(), program.end(), source) == program.end();
               });
  return sources;
}

bool has_assembler_sources(const PackageManifest& manifest) {
  return std::any_of(manifest.sources.begin(), manifest.sources.end(),
                     [](const std::string& source) { return source.ends_with(".S"); });
}

std::string cmake_target(const std::string& model) {
  // What CMake, or the linker's -l, has for something else.
  for (const char* taken : {"all",
                            "ALL_BUILD",
                            "c",
                            "clean",
                            "depend",
                            "dl",
                            "edit_cache",
                            "g",
                            "gcc",
                            "help",
                            "install",
                            "m",
                            "nosys",
                            "package",
                            "package_source",
                            "preinstall",
                            "rebuild_cache",
                            "rt",
                            "RUN_TESTS",
                            "test",
                            "util",
                            "ZERO_CHECK"})
    if (model == taken) return model + "_model";
  return model;
}

namespace {

// add_library() and what it is compiled with.
std::string library_text(const std::string& library, const PackageManifest& manifest) {
  const std::vector<std::string> sources = library_sources(manifest);
  const bool cpp = std::any_of(sources.begin(), sources.end(),
                               [](const std::string& source) { return source.ends_with(".cpp"); });
  std::string text;
  if (has_assembler_sources(manifest)) text += "enable_language(ASM)\n";
  text += fmt::format("add_library({} STATIC\n", library);
  for (const std::string& source : sources) text += "  " + source + "\n";
  text += ")\n";
  // CMake does not know by what a library is linked that it compiles nothing of.
  if (std::all_of(sources.begin(), sources.end(),
                  [](const std::string& source) { return source.ends_with(".o"); }))
    text += fmt::format("set_target_properties({} PROPERTIES LINKER_LANGUAGE C)\n", library);
  text += fmt::format("target_include_directories({} PUBLIC\n", library);
  for (const std::string& dir : manifest.include_dirs)
    text += dir == "." ? "  \"${CMAKE_CURRENT_SOURCE_DIR}\"\n"
                       : fmt::format("  \"${{CMAKE_CURRENT_SOURCE_DIR}}/{}\"\n", dir);
  text += fmt::format(
      ")\ntarget_compile_features({0} PUBLIC c_std_11{1})\n"
      "target_compile_options({0} PRIVATE -ffunction-sections -fdata-sections)\n",
      library, cpp ? " PRIVATE cxx_std_20" : "");
  if (cpp && !manifest.hosted)
    text += fmt::format(
        "target_compile_options({} PRIVATE\n"
        "  $<$<COMPILE_LANGUAGE:CXX>:-ffreestanding -fno-exceptions -fno-rtti "
        "-fno-threadsafe-statics>)\n",
        library);
  if (!manifest.link_libraries.empty())
    text += fmt::format("target_link_libraries({} PUBLIC {})\n", library,
                        fmt::join(manifest.link_libraries, " "));
  return text;
}

}  // namespace

std::string cmake_text(const PackageManifest& manifest) {
  const std::string library = cmake_target(manifest.model);
  std::string text = fmt::format(
      "# Library '{0}': the compiled model and the helpers it uses. Generated file.\n"
      "#   add_subdirectory(<this folder>)\n#   target_link_libraries(firmware PRIVATE {0})\n"
      "if(TARGET {0})\n"
      "  message(FATAL_ERROR \"There is a target '{0}' already: the models of a program need "
      "different names. \"\n"
      "    \"Compile one of them again with 'intarsia compile --name NAME'.\")\n"
      "endif()\n",
      library);
  if (!manifest.runtime.empty())
    text += fmt::format(
        "if(NOT TARGET {0})\n"
        "  message(FATAL_ERROR \"{1} needs the runtime: add_subdirectory() of its folder, the one "
        "that was given as \"\n"
        "    \"--runtime, comes first.\")\n"
        "endif()\n",
        manifest.runtime, library);
  text += library_text(library, manifest);
  if (!manifest.runtime.empty())
    text += fmt::format("target_link_libraries({} PUBLIC {})\n", library, manifest.runtime);
  return text;
}

namespace {

constexpr const char* kFreestandingCpp =
    "-std=c++20 -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics";

// The core's flags, and what the sources ask of the C and the C++ compiler.
std::string flags_text(const std::string& prefix, const PackageManifest& manifest) {
  std::string core;
  for (const std::string& flag : manifest.core_flags) core += flag + " ";
  const std::string sections = "-ffunction-sections -fdata-sections";
  return fmt::format(
      "# For {1}; the level of optimisation is yours.\n"
      "{0}_CFLAGS := {2}-std=c11 {3}\n"
      "{0}_CXXFLAGS := {2}{4} {3}\n",
      prefix, manifest.core == "native" ? "this machine" : manifest.core, core, sections,
      manifest.hosted ? "-std=c++20" : kFreestandingCpp);
}

// The same for every model of one version, so that a program compiles it once.
bool is_shared(const std::string& source) {
  return source.starts_with("intarsia/") ||
         source.starts_with(std::string(kSimulatorFolder) + "intarsia/");
}

std::string lines_of(const std::vector<std::string>& files, const std::string& folder) {
  std::string text;
  for (const std::string& file : files) text += fmt::format("  {}{} \\\n", folder, file);
  return text;
}

}  // namespace

std::string make_text(const PackageManifest& manifest) {
  const std::string prefix = upper_case(manifest.model);
  std::vector<std::string> own, shared;
  for (const std::string& source : library_sources(manifest))
    (is_shared(source) ? shared : own).push_back(source);
  const bool has_runtime = manifest.runtime.empty();
  std::string text = fmt::format(
      "# For make: include this file{3}, compile $({0}_SOURCES) and, once for all models of the "
      "program,\n"
      "# $(INTARSIA_RUNTIME_SOURCES), with $({0}_INCLUDES){4} and $({0}_CFLAGS), what ends in .cpp "
      "with\n"
      "# $({0}_CXXFLAGS). {5}Generated file.\n"
      "{0}_OTHER := $({0}_DIR)\n"
      "{0}_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))\n"
      "ifneq ($(filter-out $({0}_DIR),$({0}_OTHER)),)\n"
      "$(error $({0}_OTHER) and $({0}_DIR) hold models of one name; compile one again with "
      "'intarsia "
      "compile --name NAME')\n"
      "endif\n"
      "ifeq ($(wildcard $({0}_DIR)/{2}.mk),)\n"
      "$(error make reads no paths with spaces: move the folder of {2}.mk, or link to it)\n"
      "endif\n"
      "{0}_SOURCES := \\\n{1}\n{0}_INCLUDES := \\\n",
      prefix, lines_of(own, fmt::format("$({}_DIR)/", prefix)), manifest.model,
      has_runtime ? "" : fmt::format(" and {}.mk", manifest.runtime),
      has_runtime ? "" : " $(INTARSIA_RUNTIME_INCLUDES)",
      has_assembler_sources(manifest) ? "What ends in .S is the assembler's, by way of the C "
                                        "compiler and with the same flags.\n# "
                                      : "");
  for (const std::string& dir : manifest.include_dirs)
    text += dir == "." ? fmt::format("  -I$({}_DIR) \\\n", prefix)
                       : fmt::format("  -I$({}_DIR)/{} \\\n", prefix, dir);
  text += "\n" + flags_text(prefix, manifest);
  if (has_runtime)
    text += fmt::format(
        "{0}_RUNTIME := \\\n{1}\n"
        "INTARSIA_RUNTIME_SOURCES := $(INTARSIA_RUNTIME_SOURCES) $(foreach file,$({0}_RUNTIME), "
        "\\\n"
        "  $(if $(filter %/$(file),$(INTARSIA_RUNTIME_SOURCES)),,$({0}_DIR)/$(file)))\n",
        prefix, lines_of(shared, ""));
  if (!manifest.link_libraries.empty()) {
    text += fmt::format("{}_LIBRARIES :=", prefix);
    for (const std::string& library : manifest.link_libraries) text += " -l" + library;
    text += "\n";
  }
  return text;
}

std::string runtime_make_text(const PackageManifest& manifest) {
  return fmt::format(
             "# For make: include this file once, for all models of the program that were compiled "
             "with "
             "--runtime.\n"
             "# Compile $(INTARSIA_RUNTIME_SOURCES) with $(INTARSIA_RUNTIME_INCLUDES). Generated "
             "file.\n"
             "INTARSIA_RUNTIME_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))\n"
             "INTARSIA_RUNTIME_INCLUDES := -I$(INTARSIA_RUNTIME_DIR)\n") +
         flags_text("INTARSIA_RUNTIME", manifest) + "INTARSIA_RUNTIME_SOURCES := \\\n" +
         lines_of(manifest.sources, "$(INTARSIA_RUNTIME_DIR)/") + "\n";
}

std::string runtime_cmake_text(const PackageManifest& manifest) {
  const std::string text = fmt::format(
      "# Library '{0}': what models that were compiled with --runtime call. Generated file.\n"
      "#   add_subdirectory(<this folder>), before those of the models\n",
      kRuntimeLibrary);
  return text + library_text(kRuntimeLibrary, manifest);
}

}  // namespace intarsia::packaging
