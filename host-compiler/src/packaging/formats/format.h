// Package formats: the same C files laid out, with the build files that an ecosystem (CMake, Zephyr, Arduino, ...) expects.
// A format is a function from the plain package to another one; this table is all that the command line knows of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "intarsia/package.h"
#include "packaging/formats/sample_data.h"

namespace intarsia::packaging {

// What a format needs besides the package.
struct FormatFacts {
  SampleData sample;
  std::string
      measured_with;  // "arm-none-eabi-gcc 12.2.1 -Os", of the figures in report.txt; or why there are none
};

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
