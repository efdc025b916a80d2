// Package: command streams become the one file that the runtime opens on the chip
// (device-runtime/contract/schema/package.fbs), and its C spelling for linking it into an image.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/graph/shared_bytes.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/result.h"
#include "package_writer/stream_memory.h"

namespace intarsia {

// What binds a package to the C sources that open it (intarsia_package_check of the runtime).
struct PackageContract {
  uint32_t model_id = 0;
  std::vector<uint32_t> pool_bytes;       // used of each pool of the plan
  uint32_t alignment = 0;                 // of the pools' blocks; 0: any
  std::vector<StreamMemory> memory = {};  // one per stream, or none
  bool operator==(const PackageContract&) const = default;
};

// The program of a package that the executor runs (Program of the schema).
struct PackageProgram {
  struct Kernel {
    uint64_t id = 0;
    std::string name;
    bool operator==(const Kernel&) const = default;
  };
  struct Tensor {
    std::string name, type;
    uint32_t memory = 0, offset = 0, bytes = 0;
    std::vector<uint32_t> shape;
    std::vector<float> scale;
    std::vector<int32_t> zero_point;
    bool operator==(const Tensor&) const = default;
  };
  std::vector<Kernel> kernels;
  std::vector<uint32_t> code, reset;
  std::vector<uint8_t> constants;
  std::vector<std::string> memories, devices;
  std::vector<Tensor> inputs, outputs;
  std::string target;
  uint32_t interface_id = 0, runtime_version = 0;
  bool operator==(const PackageProgram&) const = default;
};

// The same streams give the same bytes. Function i of the package is streams[i].
std::vector<uint8_t> write_package(const std::string& model, std::span<const CommandStream> streams,
                                   const PackageContract& contract = {},
                                   const PackageProgram* program = nullptr);

struct StreamPackage {
  std::string model;
  std::vector<CommandStream> streams;
  PackageContract contract;
  std::optional<PackageProgram> program = {};
};

// Reads a package back, for people's tools; `where` begins every complaint. Accepts what the
// runtime accepts.
Result<StreamPackage> read_package(std::span<const uint8_t> bytes, const std::string& where);

// <model>_package.h with MODEL_PACKAGE_BYTES and the declaration of model_package, and
// <model>_package.c with its bytes, aligned; `attribute` places them. `model` is a C identifier.
std::vector<SourceFile> package_sources(const std::string& model, const SharedBytes& package,
                                        const std::string& attribute = "INTARSIA_STREAMS");

}  // namespace intarsia
