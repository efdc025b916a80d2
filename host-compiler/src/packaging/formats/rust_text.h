// The text of a model's Rust crate: the safe interface to its C functions, and its sample.
#pragma once

#include <string>
#include <vector>

#include "intarsia/package.h"
#include "packaging/formats/format.h"

namespace intarsia::packaging {

std::string rust_crate(const PackageManifest& manifest);  // "intarsia_<model>", in lower case
std::string rust_type(DataType type);  // of an element; empty where there is none
std::string rust_library(const PackageManifest& manifest);
std::string rust_test_data(const PackageManifest& manifest, const SampleData& data);
// fn sample() and what starts it: main, or the entry point that the core's target brings.
std::string rust_sample(const PackageManifest& manifest, const FormatFacts& facts);

// build.rs: compiles the C sources with these options and makes an archive of them.
std::string rust_build_script(const PackageManifest& manifest, const std::string& compiler,
                              const std::string& archiver, const std::vector<std::string>& options);

}  // namespace intarsia::packaging
