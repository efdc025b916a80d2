// --format arduino: a library for the Arduino IDE and arduino-cli (the library specification's revision 1.5), with a sketch.
#include <fmt/format.h>

#include "packaging/formats/allowed_name.h"
#include "packaging/formats/layout.h"
#include "packaging/formats/sample_text.h"
#include "packaging/formats/serial_sample.h"

namespace intarsia::packaging {
namespace {

// The specification's: letters, digits, ' ', '_', '.' and '-', the first a letter or a digit, and not beginning with
// "Arduino"; the sketch has the same name.
const NameRules kArduinoNames{.longest = 63, .begins_with_letter = true, .reserved = "arduino"};

// dot_a_linkage: objects come from an archive, so that the models of a program share those of the runtime.
std::string properties(const PackageManifest& manifest, const std::string& name) {
  return fmt::format(
      "name={0}\n"
      "version=1.0.0\n"
      "author=Intarsia\n"
      "maintainer=Intarsia <maintainer@example.com>\n"
      "sentence=The neural network {1}, compiled to C.\n"
      "paragraph=All memory is the sketch's; nothing is allocated. Compiled for target {2}.\n"
      "category=Data Processing\n"
      "url=https://example.com\n"
      "architectures=*\n"
      "includes={1}.h\n"
      "dot_a_linkage=true\n",
      name, manifest.model, manifest.target);
}

// For the editor's colours; the separator is a tab.
std::string keywords(const PackageManifest& manifest) {
  std::string text = fmt::format("{}\tKEYWORD1\n", manifest.model);
  for (const char* function : {"init", "run", "input", "output"})
    text += fmt::format("{}_{}\tKEYWORD2\n", manifest.model, function);
  return text;
}

}  // namespace

Result<FormattedPackage> arduino_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "arduino"));
  INTARSIA_TRY_VOID(refuse_devices(plain.manifest, "arduino"));
  FormattedPackage made{laid_out(plain, "src"), {}};
  PackageContents& package = made.package;
  const PackageManifest& manifest = package.manifest;
  const std::string name = allowed_name(manifest.model, kArduinoNames);
  if (name != manifest.model)
    made.notes.push_back(changed_name_note("Arduino", "library", manifest.model, name));
  const std::string sketch = fmt::format("examples/{}/", name);
  package.files.push_back({"library.properties", properties(manifest, name)});
  package.files.push_back({"keywords.txt", keywords(manifest)});
  package.files.push_back(
      {sketch + name + ".ino",
       fmt::format("/* {0}: a sketch that prints what the model computes. Generated file. "
                   "*/\n{1}\n{2}\n{3}",
                   manifest.model, serial_print_function(manifest.model),
                   sample_text(manifest, facts.sample, serial_print_name(manifest.model)),
                   serial_entry(manifest.model))});
  package.files.push_back(
      {sketch + manifest.model + "_test_data.h", test_data_text(manifest, facts.sample)});
  package.files.push_back(readme(
      manifest, facts, "An Arduino library",
      fmt::format("```sh\narduino-cli compile --fqbn BOARD --library . examples/{0}\n```\n\n"
                  "or, in the IDE: move this folder, called `{0}`, below `libraries` of the "
                  "sketchbook, and open File, Examples, {0}.\n\n"
                  "Before the library is published, `library.properties` needs the author, the "
                  "maintainer and the page that are yours.",
                  name),
      made.notes));
  return made;
}

}  // namespace intarsia::packaging
