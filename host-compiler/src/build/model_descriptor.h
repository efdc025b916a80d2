// The C that makes a package's model the one that the boards' generic main runs: `intarsia_model` of
// intarsia/contract/model_descriptor.h, one instance with memory of its own.
#pragma once

#include <string>

#include "intarsia/package.h"

namespace intarsia::build {

std::string descriptor_text(const PackageManifest& manifest);

}  // namespace intarsia::build
