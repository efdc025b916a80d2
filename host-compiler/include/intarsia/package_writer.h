// Package: command streams become the one file that the runtime opens on the chip
// (device-runtime/contract/schema/package.fbs), and its C spelling for linking it into an image.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/artifacts.h"
#include "intarsia/result.h"
#include "intarsia/shared_bytes.h"

namespace intarsia {

// The same streams give the same bytes. Function i of the package is streams[i].
std::vector<uint8_t> write_package(const std::string& model,
                                   std::span<const CommandStream> streams);

struct StreamPackage {
  std::string model;
  std::vector<CommandStream> streams;
};

// Reads a package back, for people's tools; `where` begins every complaint. Accepts what the
// runtime accepts.
Result<StreamPackage> read_package(std::span<const uint8_t> bytes, const std::string& where);

// <model>_package.h with MODEL_PACKAGE_BYTES and the declaration of model_package, and
// <model>_package.c with its bytes, aligned and placed with the weights. `model` is a C identifier.
std::vector<SourceFile> package_sources(const std::string& model, const SharedBytes& package);

}  // namespace intarsia
