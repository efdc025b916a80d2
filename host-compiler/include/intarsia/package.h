// Package: the folder a firmware project takes over. Sources, the runtime they stand on, build glue
// for CMake and make, a report, and a manifest from which `run` finds everything again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/result.h"

namespace intarsia {

struct CompiledModel;  // compiled_model.h

// A model input or output, as the C interface and `run` describe it.
struct TensorInfo {
  std::string name;
  DataType type = DataType::Int8;
  Shape shape;
  graph::Quantization quantization;
  int64_t bytes = 0;
};

// Working memory of one instance of a model.
struct MemoryBlock {
  std::string name;  // of the board's memory; a C identifier
  int64_t bytes = 0;
};

// Whether constants are binary files that the assembler takes in, which compile in no time, or arrays of C. Auto: files, for
// more bytes than these.
enum class WeightsFile : uint8_t { Auto, Never, Always };
inline constexpr int64_t kWeightsFileBytes = 1 << 20;
inline bool takes_weights_file(WeightsFile asked, size_t bytes) {
  return bytes > 0 &&
         (asked == WeightsFile::Always ||
          (asked == WeightsFile::Auto && static_cast<int64_t>(bytes) > kWeightsFileBytes));
}

// What manifest.json says of a package: what is in it, and how it is built.
struct PackageManifest {
  std::string model, target, board;
  std::string core;  // -mcpu of the host device; "native" for this machine
  bool hosted =
      false;  // its programs are processes of an operating system, with the whole library of C++
  std::vector<std::string>
      core_flags;  // of the C compiler for that core, for people's Makefiles; `run` takes the board's
  std::vector<TensorInfo> inputs, outputs;
  std::vector<MemoryBlock> memories;  // of one instance, in the order of <model>_resources
  int64_t alignment = 0;              // of each of them, in bytes
  bool has_state = false;             // the model remembers from run to run: it has <model>_reset()
  std::vector<std::string> sources;   // C, assembler, then C++; relative to the folder
  std::vector<std::string> include_dirs;  // relative to the folder
  std::vector<std::string>
      program_sources;  // those that only the boards' generic main needs; or none of them
  std::vector<std::string>
      parts;  // devices that run at the same time, the one that starts first; or none
  std::vector<std::string> devices;  // devices that execute streams, in order of device index
  std::vector<std::string> link_libraries;  // of the host
  // The program that simulates the devices beside the board's emulator: C++, relative to the folder.
  std::vector<std::string> simulator_sources, simulator_include_dirs;
  std::string
      runtime;  // the package that holds the runtime, where this one does not: its CMake target; or empty
  std::vector<std::string> files;  // all that `compile` wrote, sorted; empty before it has
};

// `resource_root` holds device-runtime/ and targets/ as the repository, or the installed share/intarsia, does.
struct PackageOptions {
  std::string board = "host";
  std::string core = "native";  // -mcpu of the target's host
  std::string resource_root;
  bool simulated = false;  // adds simulators of devices (board host)
  bool simulated_remotely =
      false;  // a program of its own with them, for boards that take_simulated_devices()
  std::vector<std::string> core_flags = {};  // of the C compiler for `core`, for people's Makefiles
  bool hosted = true;                        // as in PackageManifest
};

// A package before it is written.
struct PackageContents {
  PackageManifest manifest;
  std::vector<SourceFile> files;
  WeightsFile weights_file = WeightsFile::Auto;  // what was asked for
  // What stands for the assembler's sources (.S) in C: with them, and without the files that only they take in, the package
  // is the same one. None where there are no such sources.
  std::vector<SourceFile> arrays = {};
};

// The package without sources for the assembler; its build files still name them. `asker` cannot have them: a form or a
// format, which is refused where files were asked for.
Result<PackageContents> without_weights_files(PackageContents package, const std::string& asker);

// All files of the package but the report. Of a model for several CPUs there is a package for each part, <cpu>/, which a
// firmware of its own takes over; the sources beside them put all parts into one program.
Result<PackageContents> make_package(const CompiledModel& model, const TargetRegistry& registry,
                                     const TargetSpec& target, const PackageOptions& options);

// The same package as <model>.c and <model>.h, without the sources of the boards' generic main. Refuses what one C file
// cannot hold: drivers of devices, models for several CPUs.
Result<PackageContents> single_file_package(const PackageContents& package);

// The same package as two: the model, and the runtime that it calls, which several models of a program share.
struct SplitPackage {
  PackageContents model, runtime;
};
// Refuses what has no runtime of its own to share.
Result<SplitPackage> split_package(const PackageContents& package);

// Adds to a runtime what the one in `folder` has beside it, for the models that were compiled with it before; nothing
// where there is no folder. Refuses one of another version.
Result<void> add_runtime_of_folder(const std::string& folder, PackageContents& runtime);

// The text of the manifest's file.
std::string manifest_json(const PackageManifest& manifest);
// The folder's sources will be compiled and run, so that whoever wrote them is trusted; but paths, libraries and
// names of a manifest that lead out of the folder, or that a compiler would take for options, are refused.
Result<PackageManifest> read_manifest(const std::string& folder);

// All files of the package, with a manifest that lists them.
std::vector<SourceFile> listed_files(PackageContents package);

// Makes `folder` hold the package, and lists its files in the manifest. The folder is replaced whole or not at all;
// files of an earlier compilation that are not of this one go, files of anybody else stay, and where one of
// them has the name of a file of ours, that is refused.
Result<void> write_package_folder(const std::string& folder, PackageContents package);

}  // namespace intarsia
