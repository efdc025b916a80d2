// What every sub-command needs: the registry of targets, the folder of resources, and the options
// they have in common.
#pragma once

#include <functional>
#include <string>

#include "intarsia/board.h"
#include "intarsia/build.h"
#include "intarsia/compile.h"
#include "intarsia/engine.h"
#include "requests/select.h"

namespace intarsia::cli {

// Exit codes of the command line; scripts rely on them.
enum ExitCode { kDone = 0, kUserError = 1, kUsage = 2, kInternalError = 3 };

struct CommonOptions : requests::ModelOptions {
  bool json = false;
};

struct Context : requests::Environment {
  EngineRegistry engine;

  Context();
};

using requests::select;
using requests::Selection;

BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const Selection& selection, const std::string& folder,
                           const PackageManifest& manifest);
BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const board::Board& board, const board::Core& core,
                           const std::string& folder, const PackageManifest& manifest);

// A folder that `compile` wrote, checked against the target and board that the options name, as a setting
// to build; options.model is the folder.
Result<BuildSetting> setting_of_folder(Context& context, const CommonOptions& options);

// For the line that shows what is going on, on a terminal only; gone before anything else is printed.
std::function<void(const std::string&)> progress_line();
void clear_progress();

// Prints a note on standard error.
void print_note(const std::string& text);

// import_model() of the options' file; what was decided for the user goes to standard error, a line each.
Result<graph::Module> import_file(const Context& context, const CommonOptions& options);

// Prints each problem on a line of its own to standard error and returns kUserError.
int fail(const Diagnostics& problems);

}  // namespace intarsia::cli
