// --format zephyr: an external module, with a sample.
#include <algorithm>

#include <fmt/format.h>

#include "packaging/formats/layout.h"
#include "packaging/formats/sample_text.h"
#include "support/c_identifier.h"

namespace intarsia::packaging {
namespace {

std::string zephyr_symbol(const PackageManifest& manifest) {
  return "INTARSIA_" + upper_case(manifest.model);
}

std::string kconfig_text(const PackageManifest& manifest, const FormatFacts& facts, bool cpp) {
  const bool has_condition = facts.core && !facts.core->zephyr_condition.empty();
  std::string text =
      fmt::format("# Generated file.\n\nconfig {}\n\tbool \"The neural network {}\"\n",
                  zephyr_symbol(manifest), manifest.model);
  if (has_condition) text += fmt::format("\tdepends on {}\n", facts.core->zephyr_condition);
  if (cpp) text += "\tdepends on CPP\n";
  text += "\thelp\n";
  text += fmt::format("\t  A model that Intarsia compiled for target {}.\n", manifest.target);
  if (has_condition)
    text += fmt::format("\t  Its kernels use {}, hence the dependence on the core.\n",
                        facts.core->instructions);
  if (cpp)
    text += "\t  The drivers of its devices are in C++20: CONFIG_CPP and CONFIG_STD_CPP20.\n";
  return text;
}

std::string zephyr_list(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files)
    text += fmt::format("    ${{ZEPHYR_CURRENT_MODULE_DIR}}/{}\n", file);
  return text;
}

std::string zephyr_cmake(const PackageManifest& manifest) {
  const LibrarySources sources = split_sources(manifest);
  const std::string library = "intarsia_" + manifest.model;
  std::string text = fmt::format(
      "# Generated file.\n"
      "if(CONFIG_{1})\n"
      "  # All modules' libraries are linked whole: a file of the runtime is taken from the first "
      "model that has it.\n"
      "  set(runtime)\n"
      "  get_property(taken GLOBAL PROPERTY INTARSIA_RUNTIME_FILES)\n"
      "  foreach(file IN ITEMS\n{3}  )\n"
      "    if(NOT file IN_LIST taken)\n"
      "      list(APPEND runtime ${{ZEPHYR_CURRENT_MODULE_DIR}}/{2}/${{file}})\n"
      "      set_property(GLOBAL APPEND PROPERTY INTARSIA_RUNTIME_FILES ${{file}})\n"
      "    endif()\n"
      "  endforeach()\n"
      "  zephyr_library_named({0})\n"
      "  zephyr_library_sources(\n",
      library, zephyr_symbol(manifest), "src", [&] {
        std::string names;
        for (const std::string& file : sources.runtime) names += "    " + file.substr(4) + "\n";
        return names;
      }());
  text += zephyr_list(sources.model) + "    ${runtime}\n  )\n";
  text +=
      "  zephyr_include_directories(${ZEPHYR_CURRENT_MODULE_DIR}/src)\n"
      "  zephyr_library_compile_options(-O2 -ffunction-sections -fdata-sections)\n"
      "endif()\n";
  return text;
}

// The floating-point registers, which are Helium's as well.
bool uses_fpu_registers(const PackageManifest& manifest) {
  return std::find(manifest.core_flags.begin(), manifest.core_flags.end(), "-mfloat-abi=hard") !=
         manifest.core_flags.end();
}

// What of the sample's last line says that all is well, as regular expressions of Python.
std::string told_by_sample(const SampleData& data) {
  if (!data.left_out.empty()) return "ran";
  return data.is_exact() ? "([0-9]+) of \\1 exact" : "[0-9]+ of [0-9]+ exact";
}

// The same for trees from mid-2026 (tests.yaml) and before (sample.yaml).
std::string tests_yaml(const PackageManifest& manifest, const FormatFacts& facts) {
  std::string text = fmt::format(
      "sample:\n  name: {0}\n  description: the neural network {0} on its test input\ntests:\n  "
      "sample.intarsia.{0}:\n    tags: intarsia\n",
      manifest.model);
  if (!facts.board.zephyr_names.empty()) text += "    platform_allow:\n";
  for (const std::string& board : facts.board.zephyr_names)
    text += fmt::format("      - {}\n", board);
  return text +
         fmt::format(
             "    harness: console\n    harness_config:\n      type: one_line\n      regex:\n"
             "        - '{}: {}'\n",
             manifest.model, told_by_sample(facts.sample));
}

}  // namespace

Result<FormattedPackage> zephyr_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "zephyr"));
  INTARSIA_TRY_VOID(refuse_simulated(plain.manifest, "zephyr"));
  FormattedPackage made{laid_out(plain, "src"), {}};
  PackageContents& package = made.package;
  const PackageManifest& manifest = package.manifest;
  const bool cpp = split_sources(manifest).cpp;
  const std::string sample = "samples/" + manifest.model;
  const auto add = [&](const std::string& path, std::string text) {
    package.files.push_back({path, std::move(text)});
  };
  add("zephyr/module.yml", fmt::format("name: intarsia_{}\nbuild:\n  cmake: zephyr\n  kconfig: "
                                       "zephyr/Kconfig\nsamples:\n  - samples\n",
                                       manifest.model));
  add("zephyr/CMakeLists.txt", zephyr_cmake(manifest));
  add("zephyr/Kconfig", kconfig_text(manifest, facts, cpp));
  std::string app_sources = "src/main.c";
  for (const std::string& source : manifest.program_sources)
    if (source.ends_with("_devices.c")) app_sources += " ../../" + source;
  add(sample + "/CMakeLists.txt",
      fmt::format("cmake_minimum_required(VERSION 3.20.0)\n"
                  "# The module is the folder two above.\n"
                  "get_filename_component(module ${{CMAKE_CURRENT_SOURCE_DIR}}/../.. ABSOLUTE)\n"
                  "list(APPEND EXTRA_ZEPHYR_MODULES ${{module}})\n"
                  "list(REMOVE_DUPLICATES EXTRA_ZEPHYR_MODULES)\n"
                  "find_package(Zephyr REQUIRED HINTS $ENV{{ZEPHYR_BASE}})\n"
                  "project({0}_sample)\n"
                  "target_sources(app PRIVATE {1})\n",
                  manifest.model, app_sources));
  add(sample + "/prj.conf",
      fmt::format("CONFIG_{}=y\nCONFIG_MAIN_STACK_SIZE=8192\n{}{}", zephyr_symbol(manifest),
                  uses_fpu_registers(manifest) ? "# The model uses the registers of the FPU, which "
                                                 "are saved when threads change.\nCONFIG_FPU=y\n"
                                               : "",
                  cpp ? "CONFIG_CPP=y\nCONFIG_STD_CPP20=y\n" : ""));
  add(sample + "/src/main.c",
      fmt::format("/* {0}: a sample that prints what the model computes. Generated file. */\n"
                  "#include <zephyr/sys/printk.h>\n{1}\n"
                  "int main(void) {{\n  return run_{0}_sample();\n}}\n",
                  manifest.model, sample_text(manifest, facts.sample, "printk")));
  add(sample + fmt::format("/src/{}_test_data.h", manifest.model),
      test_data_text(manifest, facts.sample));
  add(sample + "/tests.yaml", tests_yaml(manifest, facts));
  add(sample + "/sample.yaml", tests_yaml(manifest, facts));
  const std::vector<std::string>& boards = facts.board.zephyr_names;
  package.files.push_back(readme(
      manifest, facts, "A Zephyr module",
      fmt::format("```sh\nwest build -b {1} {0}\nwest build -t run\n```\n\n"
                  "In an application of your own: `-DEXTRA_ZEPHYR_MODULES=<this folder>`, or a "
                  "project in the manifest of west, and `CONFIG_{2}=y`.{3}\n",
                  sample, boards.empty() ? "BOARD" : boards.back(), zephyr_symbol(manifest),
                  boards.size() < 2
                      ? ""
                      : fmt::format(" Older trees call the board `{}`.", boards.front())),
      made.notes));
  return made;
}

}  // namespace intarsia::packaging
