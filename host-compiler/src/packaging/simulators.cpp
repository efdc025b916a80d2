#include "packaging/simulators.h"

#include <utility>

#include "emission/device_glue.h"
#include "packaging/runtime_files.h"

namespace intarsia::packaging {
namespace {

std::vector<std::string> sources_of(const std::vector<SourceFile>& files, bool of_simulators) {
  std::vector<std::string> sources;
  for (const char* ending : {".c", ".S", ".cpp", ".o"})
    for (const SourceFile& file : files)
      if (file.path.ends_with(ending) && file.path.starts_with(kSimulatorFolder) == of_simulators)
        sources.push_back(file.path);
  return sources;
}

}  // namespace

void add_simulators(const DevicesOf& devices, const RuntimeTrees& runtime, bool remotely,
                    PackageContents& package) {
  std::vector<SourceFile> files;
  if (remotely)
    files.push_back(
        {devices.model.name + "_simulators.cpp",
         emission::device_server_text(devices.model, devices.registry, devices.target)});
  add_runtime_files(runtime.simulators, files);
  for (SourceFile& file : files) {
    file.path.insert(0, kSimulatorFolder);
    package.files.push_back(std::move(file));
  }
}

void list_sources(bool simulated_remotely, PackageContents& package) {
  PackageManifest& manifest = package.manifest;
  manifest.sources = sources_of(package.files, false);
  std::vector<std::string> simulators = sources_of(package.files, true);
  if (simulated_remotely) {
    manifest.simulator_sources = std::move(simulators);
    manifest.simulator_include_dirs = {"simulator"};
  } else if (!simulators.empty()) {
    manifest.include_dirs.push_back("simulator");
    std::move(simulators.begin(), simulators.end(), std::back_inserter(manifest.sources));
  }
}

}  // namespace intarsia::packaging
