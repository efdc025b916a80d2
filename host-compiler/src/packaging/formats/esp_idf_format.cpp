// --format esp-idf: a component, with an example.
#include <fmt/format.h>

#include "packaging/formats/layout.h"
#include "packaging/formats/sample_text.h"

namespace intarsia::packaging {
namespace {

std::string esp_idf_cmake(const PackageManifest& manifest) {
  const LibrarySources sources = split_sources(manifest);
  std::string text = "# Generated file.\nidf_component_register(\n  SRCS\n";
  for (const auto* list : {&sources.model, &sources.runtime})
    for (const std::string& file : *list) text += fmt::format("    \"{}\"\n", file);
  return text +
         "  INCLUDE_DIRS \"src\"\n)\n"
         "# ESP-IDF's default is -Og.\n"
         "target_compile_options(${COMPONENT_LIB} PRIVATE -O2 -ffunction-sections "
         "-fdata-sections)\n";
}

Result<void> refuse_other_cores(const PackageManifest& manifest, const FormatFacts& facts) {
  if (!facts.core || facts.core->instructions.empty()) return {};
  return Diagnostics("--format esp-idf",
                     fmt::format("{} was compiled for {}, and Espressif's chips have other cores",
                                 manifest.model, manifest.core),
                     "compile it with --target c, which serves them all");
}

}  // namespace

Result<FormattedPackage> esp_idf_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "esp-idf"));
  INTARSIA_TRY_VOID(refuse_devices(plain.manifest, "esp-idf"));
  INTARSIA_TRY_VOID(refuse_other_cores(plain.manifest, facts));
  FormattedPackage made{laid_out(plain, "src"), {}};
  PackageContents& package = made.package;
  const PackageManifest& manifest = package.manifest;
  const std::string example = fmt::format("examples/{}", manifest.model);
  const auto add = [&](const std::string& path, std::string text) {
    package.files.push_back({path, std::move(text)});
  };
  add("CMakeLists.txt", esp_idf_cmake(manifest));
  add("idf_component.yml",
      fmt::format(
          "version: \"1.0.0\"\ndescription: The neural network {}, compiled to C\ndependencies:\n  "
          "idf: \">=5.0\"\n",
          manifest.model));
  add(example + "/CMakeLists.txt",
      fmt::format("cmake_minimum_required(VERSION 3.16)\n"
                  "include($ENV{{IDF_PATH}}/tools/cmake/project.cmake)\n"
                  "project({}_example)\n",
                  manifest.model));
  add(example + "/main/CMakeLists.txt",
      "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n");
  // The component is the folder that the example lies in, whatever that is called.
  add(example + "/main/idf_component.yml",
      fmt::format("dependencies:\n  {}:\n    path: ../../..\n", manifest.model));
  add(example + "/main/main.c",
      fmt::format("/* {0}: an example that prints what the model computes. Generated file. */\n"
                  "#include <stdio.h>\n{1}\nvoid app_main(void);\n"
                  "void app_main(void) {{\n  (void)run_{0}_sample();\n}}\n",
                  manifest.model, sample_text(manifest, facts.sample, "printf")));
  add(example + fmt::format("/main/{}_test_data.h", manifest.model),
      test_data_text(manifest, facts.sample));
  package.files.push_back(readme(
      manifest, facts, "An ESP-IDF component",
      fmt::format("```sh\ncd {} && idf.py set-target esp32c3\nidf.py build flash monitor\n```",
                  example),
      made.notes));
  return made;
}

}  // namespace intarsia::packaging
