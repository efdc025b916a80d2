// What formats have in common: where the files of the plain package go, and what a folder says about itself.
#pragma once

#include <string>
#include <vector>

#include "packaging/formats/format.h"

namespace intarsia::packaging {

// The folder of sources that serve the boards' generic main alone (the descriptor, the glue of devices), in every
// format: no library compiles them, `intarsia run` and samples do.
inline constexpr const char* kProgramFolder = "extras";

// The plain package without its build files, its sources and headers below `folder` ("src", or "." for the root), which is
// then the include root; the manifest names them there. What is no source stays at the root.
PackageContents laid_out(const PackageContents& plain, const std::string& folder);

// Refuse, naming formats that can: models for several CPUs; devices that are simulated, which only programs of this
// machine are linked with; devices at all.
Result<void> refuse_multicore(const PackageManifest& manifest, const std::string& format);
Result<void> refuse_simulated(const PackageManifest& manifest, const std::string& format);
Result<void> refuse_devices(const PackageManifest& manifest, const std::string& format);

// Of the manifest's library_sources(): the model's own, and those of the runtime, which models of one program share.
struct LibrarySources {
  std::vector<std::string> model, runtime;
  bool cpp = false;  // there are C++ sources: drivers
};
LibrarySources split_sources(const PackageManifest& manifest);

// README.md: the model, the commands that build the sample (at most two, `how`), what the figures were got with, and notes.
SourceFile readme(const PackageManifest& manifest, const FormatFacts& facts,
                  const std::string& what, const std::string& how,
                  const std::vector<std::string>& notes);

}  // namespace intarsia::packaging
