// A user's options for one model, and what they say: resolved, and checked against each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/board.h"
#include "intarsia/build.h"
#include "intarsia/compile.h"
#include "requests/environment.h"

namespace intarsia::requests {

// In the words of the command line, which has an option for each.
struct ModelOptions {
  std::string model;   // a path; of bytes that are in no file, a name for messages
  std::string name;    // the model's in C, instead of one from its file
  std::string target;  // empty: the board's own core, or plain C on the host
  std::string board = "host";
  std::string policy = "priority";
  std::vector<std::string> pins;  // NAME=DEVICE
  std::string pins_file;          // lines NAME=DEVICE
  std::string tags_file;
  std::vector<std::string> sections;  // WHAT=SECTION
  std::string driver;                 // of devices that can have another one; empty: as they say
  std::string weights_file = "auto";  // WeightsFile in lower case
  std::string optimise = "balanced";  // LoweringOptions::Optimise in lower case
  std::optional<int64_t> sram_limit, ram_budget, flash_budget;  // bytes
  bool ram_budget_is_auto = false;  // what the board has, where the model does not fit otherwise
  bool keeps_flash_budget = false;  // who asks measures flash and can choose by it
  std::string io = "float";         // what inputs and outputs are: as in the file, or "int8"
  std::vector<std::string> shapes;  // NAME=1x2x3, ImportOptions::shapes
  std::vector<std::string> input_values;  // NAME=1,2,3, ImportOptions::input_values
  bool widen_weights = false;             // ImportOptions::widen_weights
  std::string signature;                  // ImportOptions::signature
  bool keep_dead_channels = false;
  bool no_in_place = false;
  double timeout = 600;  // seconds that a compiler or a built program may take; 0: for ever
};

struct Selection {
  TargetSpec target;
  board::Board board;
  board::Core core;
  CompileOptions options;
};
// Whether there is a RAM budget, which decides how the model is lowered.
bool has_ram_budget(const ModelOptions& options);

Result<Selection> select(Environment& environment, const ModelOptions& options);

// The setting in which a package in `folder` is built for the board. Nobody is told about progress.
BuildSetting build_setting(const Environment& environment, const ModelOptions& options,
                           const board::Board& board, const board::Core& core,
                           const std::string& folder, const PackageManifest& manifest);

// "-Os" or "-O2".
std::string optimise_flag(const ModelOptions& options);

}  // namespace intarsia::requests
