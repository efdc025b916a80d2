// The runtime as a package of its own: its name, in CMake and as a folder's manifest has it.
#pragma once

#include <string>

#include "intarsia/package.h"

namespace intarsia::packaging {

inline constexpr const char* kRuntimeLibrary = "intarsia_runtime";

std::string runtime_cmake_text(const PackageManifest& manifest);  // CMakeLists.txt
std::string runtime_make_text(const PackageManifest& manifest);   // intarsia_runtime.mk

}  // namespace intarsia::packaging
