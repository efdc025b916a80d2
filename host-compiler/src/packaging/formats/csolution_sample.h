// A csolution project (CMSIS-Toolbox) around the sample application, for the formats cmsis-pack and clayer.
#pragma once

#include <string>

#include "packaging/formats/format.h"

namespace intarsia::packaging {

// What the project takes the model from: lines of its cproject.yml and of the list of packs in its csolution.yml, or none;
// and components of those packs.
struct CsolutionModel {
  std::string project_lines, pack_lines;
  std::vector<std::string> components;
};

// sample/: the solution, its project, main.c and the test data. The device is Arm's generic one of the core; `notes`
// gets a line where the core has none.
void add_csolution_sample(const FormatFacts& facts, const CsolutionModel& model,
                          FormattedPackage& made);

// The command that builds it, for README.md.
std::string csolution_build(const PackageManifest& manifest);

}  // namespace intarsia::packaging
