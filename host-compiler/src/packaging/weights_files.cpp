#include "packaging/weights_files.h"

#include <algorithm>

#include <fmt/format.h>

namespace intarsia {
namespace {

constexpr std::string_view kWeights = "_weights.S", kStreams = "_package.S";

bool is_for_assembler(const std::string& path) {
  return path.ends_with(".S");
}

std::string stem_of(const std::string& path, std::string_view ending) {
  return path.substr(0, path.size() - ending.size());
}

}  // namespace

std::set<std::string> packaging::files_taken_in(const PackageContents& package) {
  std::set<std::string> files;
  for (const std::string& source : package.manifest.sources) {
    if (source.ends_with(kWeights)) files.insert(stem_of(source, kWeights) + "_weights.bin");
    if (source.ends_with(kStreams)) files.insert(stem_of(source, kStreams) + ".intarsia");
  }
  return files;
}

Result<PackageContents> without_weights_files(PackageContents package, const std::string& asker) {
  auto& sources = package.manifest.sources;
  if (std::none_of(sources.begin(), sources.end(), is_for_assembler)) return package;
  if (package.weights_file == WeightsFile::Always)
    return Diagnostics(asker,
                       "this form of a package has no sources for the assembler, which "
                       "--weights-file always asks for",
                       "leave one of them out");
  for (SourceFile& array : package.arrays) {
    const bool is_source = array.path.ends_with(".c");
    const std::string replaced = is_source ? stem_of(array.path, ".c") + ".S" : array.path;
    for (std::string& source : sources)
      if (source == replaced) source = array.path;
    for (SourceFile& file : package.files)
      if (file.path == replaced) file = array;
  }
  // Streams are a file beside the package in any case, which weights are not.
  std::erase_if(package.files, [](const SourceFile& file) {
    return is_for_assembler(file.path) || file.path.ends_with("_weights.bin") ||
           file.path == "intarsia/contract/incbin.h";
  });
  std::erase_if(sources, is_for_assembler);
  package.arrays.clear();
  return package;
}

}  // namespace intarsia
