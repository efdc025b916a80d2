// What every sub-command needs: the registry of targets, the folder of resources, and the options
// they have in common.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "intarsia/board.h"
#include "intarsia/build.h"
#include "intarsia/compile.h"
#include "intarsia/engine.h"
#include "intarsia/plugin/target_kind.h"
#include "messages.h"
#include "progress_line.h"

namespace intarsia::cli {

struct CommonOptions {
  std::string model;
  std::string name;    // the model's in C, instead of one from its file
  std::string target;  // empty: the board's own core, or plain C on the host
  std::string board = "host";
  std::string policy = "priority";
  std::vector<std::string> pins;  // NAME=DEVICE
  std::string pins_file;          // lines NAME=DEVICE
  std::string tags_file;
  std::vector<std::string> sections;  // WHAT=SECTION
  std::string optimise = "balanced";  // LoweringOptions::Optimise in lower case
  std::optional<int64_t> sram_limit, ram_budget, flash_budget;  // bytes
  bool keeps_flash_budget = false;  // the command measures flash and can choose by it
  std::string io = "float";         // what inputs and outputs are: as in the file, or "int8"
  bool keep_dead_channels = false;
  bool no_in_place = false;
  bool json = false;
  double timeout = 600;  // seconds that a compiler or a built program may take; 0: for ever
};

struct Context {
  TargetRegistry registry;
  EngineRegistry engine;
  std::string resource_root;

  Context();
  std::string boards_folder() const { return resource_root + "/boards"; }
  // Where boards are looked for: the folders of INTARSIA_BOARDS, in their order, then the one above. A folder of
  // INTARSIA_BOARDS that is not there is an error.
  Result<std::vector<std::string>> board_folders() const;
  // A user's target tags; a file that is loaded already, or none (""), is nothing to do.
  Result<void> load_tags(const std::string& file);

 private:
  std::set<std::string> loaded_tags_;
};

// Everything the options say, resolved and checked against each other.
struct Selection {
  TargetSpec target;
  board::Board board;
  board::Core core;
  CompileOptions options;
};
Result<Selection> select(Context& context, const CommonOptions& options);

BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const Selection& selection, const std::string& folder,
                           const PackageManifest& manifest);
BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const board::Board& board, const board::Core& core,
                           const std::string& folder, const PackageManifest& manifest);

// A folder that `compile` wrote, checked against the target and board that the options name, as a setting
// to build; options.model is the folder.
Result<BuildSetting> setting_of_folder(Context& context, const CommonOptions& options);

// "-Os" or "-O2".
std::string optimise_flag(const CommonOptions& options);

// import_model() of the options' file; what was decided for the user goes to standard error, a line each.
Result<graph::Module> import_file(const Context& context, const CommonOptions& options);

// Of the boards that come with the program, those whose programs run beside simulated devices.
std::vector<std::string> boards_that_trace(const Context& context);

}  // namespace intarsia::cli
