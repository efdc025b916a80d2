// --format clayer: a layer that a csolution project takes in, without a pack.
#include <fmt/format.h>

#include "packaging/formats/csolution_sample.h"
#include "packaging/formats/layout.h"
#include "packaging/runtime_folder.h"

namespace intarsia::packaging {
namespace {

std::string group(const std::string& name, const std::vector<std::string>& files) {
  if (files.empty()) return "";
  std::string text = fmt::format("    - group: {}\n      optimize: speed\n      files:\n", name);
  for (const std::string& file : files) text += fmt::format("        - file: {}\n", file);
  return text;
}

std::string layer_text(const std::string& description, bool cpp, const std::string& groups) {
  return fmt::format(
      "# Generated file.\n"
      "layer:\n"
      "  type: Model\n"
      "  description: '{}'\n"
      "{}"
      "  add-path:\n"
      "    - .\n"
      "  groups:\n{}",
      description, cpp ? "  language-CPP: c++20\n" : "", groups);
}

std::string layer_of_model(const PackageManifest& manifest) {
  const LibrarySources sources = split_sources(manifest);
  return layer_text(
      fmt::format("The neural network {}, compiled for target {}", manifest.model, manifest.target),
      sources.cpp,
      group(manifest.model, sources.model) + group(manifest.model + "_runtime", sources.runtime));
}

}  // namespace

Result<FormattedPackage> clayer_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "clayer"));
  INTARSIA_TRY_VOID(refuse_simulated(plain.manifest, "clayer"));
  // A csolution project says by other keys where the assembler looks for files, in tools of two years ago by none.
  INTARSIA_TRY(const PackageContents arrays, without_weights_files(plain, "--format clayer"));
  FormattedPackage made{laid_out(arrays, "."), {}};
  const PackageManifest& manifest = made.package.manifest;
  const std::string file = manifest.model + ".clayer.yml";
  made.package.files.push_back({file, layer_of_model(manifest)});
  std::string use = fmt::format("  layers:\n    - layer: ../{}\n", file);
  if (!manifest.runtime.empty())
    use += fmt::format("    - layer: ../{}/{}.clayer.yml\n", facts.runtime_folder, kRuntimeLibrary);
  add_csolution_sample(facts, {.project_lines = use, .pack_lines = "", .components = {}}, made);
  made.package.files.push_back(readme(
      manifest, facts, "A layer for csolution projects",
      csolution_build(manifest) + fmt::format(" In a project of your own:\n\n```yaml\n{}```", use),
      made.notes));
  return made;
}

std::vector<SourceFile> clayer_of_runtime(const PackageContents& runtime) {
  LibrarySources sources;
  for (const std::string& path : runtime.manifest.sources)
    sources.cpp = sources.cpp || path.ends_with(".cpp");
  return {{std::string(kRuntimeLibrary) + ".clayer.yml",
           layer_text("What neural networks compiled with --runtime call", sources.cpp,
                      group(kRuntimeLibrary, runtime.manifest.sources))}};
}

}  // namespace intarsia::packaging
