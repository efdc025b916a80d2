#include <filesystem>

#include <fmt/format.h>

#include "commands.h"
#include "messages.h"
#include "requests/offload_model.h"
#include "support/files.h"

namespace intarsia::cli {

Result<void> check_no_folder_options(const CompileCommand& command) {
  const auto refuse = [&](const char* option) {
    return Diagnostics(
        option,
        fmt::format("is of the formats with C, which --format {} has none of", command.format),
        "leave it out");
  };
  if (!command.runtime_folder.empty()) return refuse("--runtime");
  if (command.single_file) return refuse("--single-file");
  if (command.count_cycles) return refuse("--count-cycles");
  if (command.common.json) return refuse("--json");
  return {};
}

namespace {

Result<void> check_file_options(const CompileCommand& command) {
  INTARSIA_TRY_VOID(check_no_folder_options(command));
  if (std::filesystem::is_directory(command.output_folder))
    return Diagnostics(command.output_folder,
                       fmt::format("is a folder, and --format {} writes a file", command.format),
                       fmt::format("for example -o model_npu.{}", command.format));
  return {};
}

Result<void> write(Context& context, const CompileCommand& command) {
  INTARSIA_TRY_VOID(check_file_options(command));
  show_progress("reading " + command.common.model);
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(command.common.model));
  INTARSIA_TRY(
      const requests::OffloadedFile file,
      requests::offload_model(context, command.common, bytes, print_note, progress_listener()));
  const std::string name = command.common.name.empty()
                               ? std::filesystem::path(command.common.model).stem().string()
                               : command.common.name;
  const std::string row = requests::offload_csv(file, name);
  INTARSIA_TRY_VOID(command.format == requests::kFiguresFormat
                        ? write_file(command.output_folder, std::string_view(row))
                        : write_file(command.output_folder, std::span<const uint8_t>(file.bytes)));
  if (!command.summary_file.empty())
    INTARSIA_TRY_VOID(write_file(command.summary_file, std::string_view(row)));
  if (!command.layers_file.empty())
    INTARSIA_TRY_VOID(
        write_file(command.layers_file, std::string_view(requests::offload_layers_csv(file))));
  clear_progress();
  fmt::print("{}\n{}\n", requests::offload_summary(file, name), command.output_folder);
  return {};
}

}  // namespace

int run_offload(Context& context, const CompileCommand& command) {
  if (const Result<void> written = write(context, command); !written.ok())
    return fail(written.error());
  return kDone;
}

}  // namespace intarsia::cli
