#include "context.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "board/process_board.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/package.h"
#include "requests/compile_model.h"
#include "support/files.h"
#include "terminal.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

// Beside an installed program, in the source tree of a built one, or where INTARSIA_ROOT says.
std::string find_resource_root() {
  if (const char* given = std::getenv("INTARSIA_ROOT"); given != nullptr && *given != 0)
    return given;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed =
      (program.parent_path() / INTARSIA_INSTALLED_RESOURCES).lexically_normal();
  if (!error && fs::exists(installed / "boards", error)) return installed.string();
  return INTARSIA_SOURCE_DIR;
}

}  // namespace

Context::Context() {
  resource_root = find_resource_root();
  add_builtin_targets(registry);
  add_builtin_engine(engine);
}

Result<Selection> select(Context& context, const CommonOptions& options) {
  INTARSIA_TRY(Selection selection, requests::select(context, options));
  requests::note_idle_options(context, selection.target, options, print_note);
  selection.options.on_progress = progress_listener();
  return selection;
}

BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const Selection& selection, const std::string& folder,
                           const PackageManifest& manifest) {
  return build_setting(context, options, selection.board, selection.core, folder, manifest);
}

BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const board::Board& board, const board::Core& core,
                           const std::string& folder, const PackageManifest& manifest) {
  BuildSetting setting = requests::build_setting(context, options, board, core, folder, manifest);
  setting.on_progress = progress_listener();
  return setting;
}

namespace {

// The board that the folder was compiled for, where the options say it lies or among the known ones.
Result<board::Board> board_of_folder(const Context& context, const CommonOptions& options,
                                     const PackageManifest& manifest) {
  INTARSIA_TRY(const std::vector<std::string> folders, context.board_folders());
  const bool is_given = options.board != "host";
  Result<board::Board> board =
      board::find_board(folders, is_given ? options.board : manifest.board);
  if (!board.ok() && !is_given)
    return Diagnostics(
        options.model,
        fmt::format("was compiled for board {}, which is none of the known boards", manifest.board),
        "name the board's folder with --board PATH, or the one that it lies in with "
        "INTARSIA_BOARDS");
  if (board.ok() && board->name != manifest.board)
    return Diagnostics(
        options.model,
        fmt::format("was compiled for board {}, not {}", manifest.board, board->name),
        "compile the model again for the other board");
  return board;
}

}  // namespace

Result<BuildSetting> setting_of_folder(Context& context, const CommonOptions& options) {
  INTARSIA_TRY(const PackageManifest manifest, read_manifest(options.model));
  if (!manifest.runtime.empty())
    return Diagnostics(options.model, "is a package whose runtime is in another folder",
                       "name the model, or compile it without --runtime");
  if (!options.name.empty() && options.name != manifest.model)
    return Diagnostics(options.model, fmt::format("is compiled as '{}' already", manifest.model),
                       "leave --name out, or compile the model again with it");
  INTARSIA_TRY(const board::Board board, board_of_folder(context, options, manifest));
  if (!options.target.empty()) {
    INTARSIA_TRY_VOID(context.load_tags(options.tags_file));
    INTARSIA_TRY(const TargetSpec target,
                 parse_target_argument(context.registry.catalogue(), options.target));
    if (to_string(target) != manifest.target)
      return Diagnostics(
          options.model,
          fmt::format("was compiled for target {}, not {}", manifest.target, to_string(target)),
          "compile the model again for the other target");
  }
  board::Core core{"native", {}};
  if (!board::is_this_machine(board)) {
    INTARSIA_TRY(core, board::core_for(board, manifest.core));
    // With what -mattr said of it.
    if (board.native() && !manifest.core_flags.empty()) core.flags = manifest.core_flags;
  }
  return build_setting(context, options, board, core, options.model, manifest);
}

Result<graph::Module> import_file(const Context& context, const CommonOptions& options) {
  show_progress("reading " + options.model);
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(options.model));
  return requests::import_as_asked(context, options, bytes, print_note, progress_listener());
}

std::vector<std::string> boards_that_trace(const Context& context) {
  std::vector<std::string> names;
  const std::string folder = context.boards_folder();
  for (const std::string& name : board::list_boards(folder)) {
    const Result<board::Board> board = board::find_board(folder, name);
    if (board.ok() && (board->native() || board->takes_simulated_devices())) names.push_back(name);
  }
  return names;
}

}  // namespace intarsia::cli
