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
  std::vector<std::string> zephyr_boards;  // Board::zephyr_names
  // The compiler and its options that the figures in report.txt were got with; or why there are none.
  std::string measured_with;
};
Result<FormatFacts> make_format_facts(const graph::Module& module, const TargetRegistry& registry,
                                      const TargetSpec& target, const board::Board& board,
                                      std::string measured_with);

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
};

std::span<const Format> formats();  // "plain" first
Result<const Format*> format_named(
    const std::string& name);  // an unknown one: with the nearest name

// One per file <name>_format.cpp.
Result<FormattedPackage> plain_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> cmake_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> zephyr_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> pico_format(const PackageContents& plain, const FormatFacts& facts);
Result<FormattedPackage> esp_idf_format(const PackageContents& plain, const FormatFacts& facts);

}  // namespace intarsia::packaging
