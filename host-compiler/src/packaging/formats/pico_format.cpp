// --format pico: an INTERFACE library, which the Pico SDK compiles with each program's own flags.
#include <fmt/format.h>

#include "packaging/build_glue.h"
#include "packaging/formats/layout.h"
#include "packaging/formats/sample_text.h"

namespace intarsia::packaging {
namespace {

std::string pico_list(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files)
    text += fmt::format("  \"${{CMAKE_CURRENT_LIST_DIR}}/{}\"\n", file);
  return text;
}

std::string pico_library(const PackageManifest& manifest, const std::string& target) {
  const LibrarySources sources = split_sources(manifest);
  return fmt::format(
      "# Library '{0}' for the Pico SDK: the compiled model and the functions of the runtime that "
      "it calls. Generated file.\n"
      "#   add_subdirectory(<this folder>), after pico_sdk_init()\n"
      "#   target_link_libraries(firmware PRIVATE {0})\n"
      "if(NOT PICO_SDK_VERSION_STRING)\n"
      "  message(FATAL_ERROR \"{0} is for the Pico SDK: pico_sdk_init() comes first.\")\n"
      "endif()\n"
      "if(TARGET {0})\n"
      "  message(FATAL_ERROR \"There is a target '{0}' already: the models of a program need "
      "different names. \"\n"
      "    \"Compile one of them again with 'intarsia compile --name NAME'.\")\n"
      "endif()\n"
      "set(model_sources\n{1})\n"
      "set(runtime_sources\n{2})\n"
      "# Models of one program share the runtime: a file is taken from the first model that has "
      "it.\n"
      "if(NOT TARGET intarsia_runtime)\n"
      "  add_library(intarsia_runtime INTERFACE)\n"
      "endif()\n"
      "get_property(taken GLOBAL PROPERTY INTARSIA_RUNTIME_FILES)\n"
      "foreach(file IN LISTS runtime_sources)\n"
      "  file(RELATIVE_PATH name \"${{CMAKE_CURRENT_LIST_DIR}}\" \"${{file}}\")\n"
      "  if(NOT name IN_LIST taken)\n"
      "    target_sources(intarsia_runtime INTERFACE \"${{file}}\")\n"
      "    set_property(GLOBAL APPEND PROPERTY INTARSIA_RUNTIME_FILES \"${{name}}\")\n"
      "  endif()\n"
      "endforeach()\n"
      "# An INTERFACE library's files are compiled by the program, in another folder than this "
      "one: with the options below.\n"
      "add_library({0} INTERFACE)\n"
      "target_sources({0} INTERFACE ${{model_sources}})\n"
      "target_include_directories({0} INTERFACE \"${{CMAKE_CURRENT_LIST_DIR}}/src\")\n"
      "target_compile_options({0} INTERFACE -ffunction-sections -fdata-sections)\n"
      "target_link_libraries({0} INTERFACE intarsia_runtime)\n",
      target, pico_list(sources.model), pico_list(sources.runtime));
}

}  // namespace

Result<FormattedPackage> pico_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "pico"));
  INTARSIA_TRY_VOID(refuse_simulated(plain.manifest, "pico"));
  FormattedPackage made{laid_out(plain, "src"), {}};
  PackageContents& package = made.package;
  const PackageManifest& manifest = package.manifest;
  const std::string target = cmake_target(manifest.model);
  if (target != manifest.model)
    made.notes.push_back(fmt::format(
        "CMake has the name '{}' for something else: the library is '{}'", manifest.model, target));
  package.files.push_back({"CMakeLists.txt", pico_library(manifest, target)});
  std::string app_sources = "main.c";
  for (const std::string& source : manifest.program_sources)
    if (source.ends_with("_devices.c")) app_sources += " ../" + source;
  package.files.push_back(
      {"sample/CMakeLists.txt",
       fmt::format("cmake_minimum_required(VERSION 3.13)\n"
                   "include($ENV{{PICO_SDK_PATH}}/external/pico_sdk_import.cmake)\n"
                   "project({0}_sample C CXX ASM)\n"
                   "set(CMAKE_C_STANDARD 11)\nset(CMAKE_CXX_STANDARD 20)\n"
                   "pico_sdk_init()\n"
                   "add_subdirectory(.. {0})\n"
                   "add_executable({0}_sample {2})\n"
                   "target_link_libraries({0}_sample PRIVATE {1} pico_stdlib)\n"
                   "target_compile_options({0}_sample PRIVATE -O2)\n"
                   "pico_enable_stdio_usb({0}_sample 1)\n"
                   "pico_enable_stdio_uart({0}_sample 1)\n"
                   "pico_add_extra_outputs({0}_sample)\n",
                   manifest.model, target, app_sources)});
  package.files.push_back(
      {"sample/main.c",
       fmt::format("/* {0}: a sample that prints what the model computes. Generated file. */\n"
                   "#include <stdio.h>\n\n#include \"pico/stdlib.h\"\n{1}\n"
                   "int main(void) {{\n  stdio_init_all();\n  return run_{0}_sample();\n}}\n",
                   manifest.model, sample_text(manifest, facts.sample, "printf"))});
  package.files.push_back({fmt::format("sample/{}_test_data.h", manifest.model),
                           test_data_text(manifest, facts.sample)});
  package.files.push_back(
      readme(manifest, facts, "A library for the Pico SDK",
             "```sh\ncmake -S sample -B build -D PICO_BOARD=pico && cmake --build build\n```\n\n"
             "with `PICO_SDK_PATH` in the environment. Flash the `.uf2`; the sample prints to the "
             "USB serial port.",
             made.notes));
  return made;
}

}  // namespace intarsia::packaging
