// Build glue: what a firmware project includes to build a compiled model, for CMake and for make.
#pragma once

#include <string>
#include <vector>

#include "intarsia/package.h"

namespace intarsia::packaging {

// The sources a user's program needs: all but those that serve the boards' generic main.
std::vector<std::string> library_sources(const PackageManifest& manifest);
// Whether some of them are for the assembler.
bool has_assembler_sources(const PackageManifest& manifest);

// The name of the model's library in CMake: the model's, or <model>_model where CMake has it for something else.
std::string cmake_target(const std::string& model);

// A library named after the model; <model>_model where CMake has the name for something else.
std::string cmake_text(const PackageManifest& manifest);

// Variables <MODEL>_SOURCES and <MODEL>_INCLUDES, and INTARSIA_RUNTIME_SOURCES, which all models of a
// program share: each copy of the runtime that is included adds what the others lack.
std::string make_text(const PackageManifest& manifest);

}  // namespace intarsia::packaging
