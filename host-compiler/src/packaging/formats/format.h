// Package formats: the same C files laid out, with the build files that an ecosystem (CMake, Zephyr, Arduino, ...) expects.
// A format is a function from the plain package to another one; this table is all that the command line knows of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/board.h"
#include "intarsia/package.h"
#include "packaging/formats/sample_data.h"

namespace intarsia::packaging {

// What a format needs besides the package.
struct FormatFacts {
  SampleData sample;
  // What other build systems call the CPU that runs the model; nothing for plain C and for this machine.
  std::optional<CoreNames> core;
  board::Board board;
  // The compiler and its options that the figures in report.txt were got with.
  std::string measured_with;
  std::string not_measured;  // why there are no such figures; empty when there are
  // With --runtime: from the model's folder to the runtime's.
  std::string runtime_folder;
};
Result<FormatFacts> make_format_facts(const graph::Module& module, const TargetRegistry& registry,
                                      const TargetSpec& target, const board::Board& board);

struct FormattedPackage {
  PackageContents
      package;  // its manifest names the files where they are now: `run` reads the folder
  std::vector<std::string> notes;  // a line each: a name that had to be changed
};

struct Format {
  const char* name;     // as in --format
  const char* summary;  // one line for --help
  // Refuses what the ecosystem cannot carry, naming formats that can.
  Result<FormattedPackage> (*make)(const PackageContents& plain, const FormatFacts& facts);
  // What --runtime adds to the runtime's own folder; nullptr: in this format each package has its runtime inside, and the
  // ecosystem takes files that several packages have only once.
  std::vector<SourceFile> (*describe_runtime)(const PackageContents& runtime) = nullptr;
};

std::span<const Format> formats();  // "plain" first
// An unknown one: with the nearest name of these and of `others`, which the caller takes by itself.
Result<const Format*> format_named(const std::string& name,
                                   const std::vector<std::string>& others = {});

// Whether the runtime can be a package of its own in that format (--runtime).
Result<void> may_have_runtime_apart(const Format& format);
// Models that are object files have those of the package's own forms and of CMake: other build systems take sources.
Result<void> may_hold_objects(const std::string& option, const PackageManifest& manifest);

// One per file <name>_format.cpp.
Result<FormattedPackage> plain_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> cmake_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> zephyr_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> pico_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> esp_idf_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> arduino_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> platformio_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> cmsis_pack_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> clayer_format(const PackageContents& plain, const FormatFacts& facts);
std::vector<SourceFile> cmsis_pack_of_runtime(const PackageContents& runtime);
std::vector<SourceFile> clayer_of_runtime(const PackageContents& runtime);
Result<FormattedPackage> rust_format(const PackageContents& plain, const FormatFacts& facts);

}  // namespace intarsia::packaging
