// What every sub-command needs: the registry of targets, the folder of resources, and the options
// they have in common.
#pragma once

#include <string>
#include <vector>

#include "intarsia/board.h"
#include "intarsia/build.h"
#include "intarsia/compile.h"
#include "intarsia/engine.h"
#include "messages.h"
#include "progress_line.h"
#include "requests/select.h"

namespace intarsia::cli {

struct CommonOptions : requests::ModelOptions {
  bool json = false;
  std::string ram_budget_text;  // as it was given
};

struct Context : requests::Environment {
  EngineRegistry engine;

  Context();
};

using requests::Selection;

// Everything the options say; whoever looks at the terminal is told how far the stages are.
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

// import_model() of the options' file; what was decided for the user goes to standard error, a line each.
Result<graph::Module> import_file(const Context& context, const CommonOptions& options);

// Of the boards that come with the program, those whose programs run beside simulated devices.
std::vector<std::string> boards_that_trace(const Context& context);

}  // namespace intarsia::cli
