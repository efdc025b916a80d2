#include "packaging/formats/csolution_sample.h"

#include <fmt/format.h>

#include "packaging/formats/sample_text.h"

namespace intarsia::packaging {
namespace {

std::string solution_text(const std::string& device, const CsolutionModel& model,
                          const std::string& name) {
  return fmt::format(
      "# Generated file.\n"
      "solution:\n"
      "  compiler: GCC\n"
      "  packs:\n"
      "    - pack: ARM::CMSIS\n"
      "    - pack: ARM::Cortex_DFP\n"
      "{0}"
      "  target-types:\n"
      "    - type: Simulation\n"
      "      device: {1}\n"
      "  build-types:\n"
      "    - type: Release\n"
      "      optimize: speed\n"
      "      debug: 'on'\n"
      "  projects:\n"
      "    - project: {2}_sample.cproject.yml\n",
      model.pack_lines, device, name);
}

// Semihosting is what GCC's library prints with on a core that has no board around it.
std::string project_text(const PackageManifest& manifest, const CsolutionModel& model) {
  std::string text = fmt::format(
      "# Generated file.\n"
      "project:\n"
      "  groups:\n"
      "    - group: Sample\n"
      "      files:\n"
      "        - file: main.c\n"
      "        - file: {}_test_data.h\n",
      manifest.model);
  for (const std::string& source : manifest.program_sources)
    if (source.ends_with("_devices.c")) text += fmt::format("        - file: ../{}\n", source);
  text += model.project_lines +
          "  components:\n"
          "    - component: ARM::CMSIS:CORE\n"
          "    - component: ARM::Device:Startup&C Startup\n";
  for (const std::string& component : model.components)
    text += fmt::format("    - component: {}\n", component);
  return text +
         "  misc:\n"
         "    - for-compiler: GCC\n"
         "      Link:\n"
         "        - --specs=rdimon.specs\n";
}

}  // namespace

void add_csolution_sample(const FormatFacts& facts, const CsolutionModel& model,
                          FormattedPackage& made) {
  const PackageManifest& manifest = made.package.manifest;
  std::string device = facts.core ? facts.core->cmsis_device : "";
  if (device.empty()) {
    device = "DEVICE";
    made.notes.push_back(fmt::format(
        "{} was compiled for no core that Arm has a generic device of: write your device in "
        "sample/{}_sample.csolution.yml, where it says DEVICE",
        manifest.model, manifest.model));
  }
  const auto add = [&](const std::string& path, std::string text) {
    made.package.files.push_back({"sample/" + path, std::move(text)});
  };
  add(manifest.model + "_sample.csolution.yml", solution_text(device, model, manifest.model));
  add(manifest.model + "_sample.cproject.yml", project_text(manifest, model));
  add("main.c",
      fmt::format("/* {0}: a sample that prints what the model computes. Generated file. */\n"
                  "#include <stdio.h>\n{1}\nint main(void) {{\n  return run_{0}_sample();\n}}\n",
                  manifest.model, sample_text(manifest, facts.sample, "printf")));
  add(manifest.model + "_test_data.h", test_data_text(manifest, facts.sample));
}

std::string csolution_build(const PackageManifest& manifest) {
  return fmt::format(
      "```sh\ncbuild sample/{}_sample.csolution.yml --packs\n```\n\nThe sample is for Arm's "
      "generic "
      "device of the core and prints by semihosting.",
      manifest.model);
}

}  // namespace intarsia::packaging
