// --format platformio: a library with library.json, and a sample for the Arduino framework and for any with printf.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "packaging/formats/allowed_name.h"
#include "packaging/formats/layout.h"
#include "packaging/formats/sample_text.h"
#include "packaging/formats/serial_sample.h"

namespace intarsia::packaging {
namespace {

// What `pio pkg pack` takes.
const NameRules kPlatformIoNames{.longest = 100, .begins_with_letter = false, .reserved = ""};

std::string library_json(const PackageManifest& manifest, const std::string& name) {
  nlohmann::ordered_json json;
  json["name"] = name;
  json["version"] = "1.0.0";
  json["description"] = fmt::format("The neural network {}, compiled to C for target {}",
                                    manifest.model, manifest.target);
  json["keywords"] = {"neural network", "inference"};
  json["frameworks"] = "*";
  json["platforms"] = "*";
  json["headers"] = manifest.model + ".h";
  json["build"] = {{"srcDir", "src"},
                   {"includeDir", "src"},
                   {"unflags", {"-Os"}},
                   {"flags", {"-O2", "-ffunction-sections", "-fdata-sections"}}};
  return json.dump(2) + "\n";
}

std::string sample(const PackageManifest& manifest, const SampleData& data) {
  const std::string print = serial_print_name(manifest.model);
  return fmt::format(
      "// {0}: a sample that prints what the model computes. Generated file.\n"
      "#ifdef ARDUINO\n{1}#else\n#include <stdio.h>\n#define {2} printf\n#endif\n\n"
      "{3}\n#ifdef ARDUINO\n{4}#else\nint main() {{\n  return run_{0}_sample();\n}}\n#endif\n",
      manifest.model, serial_print_function(manifest.model), print,
      sample_text(manifest, data, print), serial_entry(manifest.model));
}

}  // namespace

Result<FormattedPackage> platformio_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "platformio"));
  INTARSIA_TRY_VOID(refuse_devices(plain.manifest, "platformio"));
  FormattedPackage made{laid_out(plain, "src"), {}};
  PackageContents& package = made.package;
  const PackageManifest& manifest = package.manifest;
  const std::string folder = "examples/" + manifest.model;
  const std::string name = allowed_name(manifest.model, kPlatformIoNames);
  if (name != manifest.model)
    made.notes.push_back(changed_name_note("PlatformIO", "library", manifest.model, name));
  package.files.push_back({"library.json", library_json(manifest, name)});
  package.files.push_back({folder + "/main.cpp", sample(manifest, facts.sample)});
  package.files.push_back({fmt::format("{}/{}_test_data.h", folder, manifest.model),
                           test_data_text(manifest, facts.sample)});
  package.files.push_back(readme(
      manifest, facts, "A library for PlatformIO",
      fmt::format("```sh\npio ci {0} --lib . --board BOARD\n```\n\nwith the name of the board as "
                  "`pio boards` has it. In a project of your own: `lib_deps = symlink://` and "
                  "the path of this folder.",
                  folder),
      made.notes));
  return made;
}

}  // namespace intarsia::packaging
