// The files through which a program gets the tensors of its runs and gives back what it computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "board/board_firmware.h"
#include "intarsia/build.h"

namespace intarsia::build {

// A program holds all of its files open, a system allows it some hundreds (256 at the least), and an emulator has files of
// its own: from here on all tensors are in one.
constexpr size_t kMostFiles = 64;

// Writes the inputs into the folder and puts the names of all files into `run`.
Result<void> exchange_files(const PackageManifest& manifest, const ExecuteRequest& request,
                            const std::string& folder, board::RunRequest& run);

// Of each output what the program has written: that of its last run, or of every run.
Result<std::vector<std::vector<uint8_t>>> read_outputs(const PackageManifest& manifest,
                                                       const board::RunRequest& run);

}  // namespace intarsia::build
