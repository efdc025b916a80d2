#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.h"
#include "compile_summary.h"
#include "measured_program.h"
#include "requests/bare_networks.h"
#include "requests/offload_model.h"
#include "requests/package_folder.h"
#include "terminal.h"

namespace intarsia::cli {
namespace {

// What --format takes that is no folder of C.
std::vector<std::string> other_formats(const Context& context) {
  std::vector<std::string> formats = {requests::kOffloadFormat, requests::kFiguresFormat};
  for (const std::string& format : requests::network_formats(context)) formats.push_back(format);
  formats.emplace_back(kExecutorFormat);
  return formats;
}

}  // namespace

int run_compile(Context& context, const CompileCommand& command) {
  if (command.format == requests::kOffloadFormat || command.format == requests::kFiguresFormat)
    return run_offload(context, command);
  for (const auto& [option, file] : {std::pair("--summary-csv", &command.summary_file),
                                     std::pair("--layers-csv", &command.layers_file)})
    if (!file->empty())
      return fail(Diagnostics(option, "is of --format tflite",
                              "the folders of other formats have report.json"));
  const std::vector<std::string> networks = requests::network_formats(context);
  if (std::ranges::find(networks, command.format) != networks.end())
    return run_networks(context, command);
  if (command.format == kExecutorFormat) return run_executable(context, command);
  const requests::FolderRequest folder{command.output_folder, command.runtime_folder,
                                       command.single_file, command.format, other_formats(context)};
  if (const Result<void> possible = requests::check_folder_request(folder); !possible.ok())
    return fail(possible.error());
  // It ends with the process, which gives the memory back at once: taking a program apart takes some percent of making it.
  static auto* const kept = new std::optional<Result<MeasuredProgram>>;
  const Result<MeasuredProgram>& made =
      kept->emplace(compile_and_measure(context, command.common, command.count_cycles));
  if (!made.ok()) return fail(made.error());
  if (const Result<void> written = requests::write_package(context, folder, *made, print_note);
      !written.ok())
    return fail(written.error());
  clear_progress();
  const CompileSummary summary{made->selection.board.name, to_string(made->selection.target),
                               command.output_folder, made->report};
  fmt::print("{}",
             command.common.json ? made->report.json : compile_summary(summary, output_terminal()));
  return kDone;
}

}  // namespace intarsia::cli
