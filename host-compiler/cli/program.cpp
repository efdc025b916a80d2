#include "program.h"

#include <filesystem>

#include <fmt/format.h>

#include "support/files.h"

namespace intarsia::cli {

Result<CompiledModel> compile_file(const Context& context, const Selection& selection,
                                   const CommonOptions& options, Stage last) {
  show_progress("reading " + options.model);
  INTARSIA_TRY(const std::vector<uint8_t> file, read_file(options.model));
  return requests::compile_bytes(context, selection, options, file, last, print_note);
}

void report_idle_devices(const Context& context, const Selection& selection,
                         const CompiledModel& model) {
  requests::note_idle_devices(context, selection, model, print_note);
}

Result<CompiledModel> compile_into(const Context& context, const Selection& selection,
                                   const graph::Module& module, const std::string& folder) {
  INTARSIA_TRY(CompiledModel model,
               compile_on(context, selection, imported_model(module), Stage::Package));
  INTARSIA_TRY_VOID(write_folder(folder, model.package.files));
  return model;
}

Result<BuildSetting> setting_of(Context& context, const CommonOptions& options,
                                const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(options.model, error)) {
    if (options.io != "float")
      return Diagnostics(options.model, "is compiled: its inputs and outputs are what they are",
                         fmt::format("compile the model again with --io {}", options.io));
    return setting_of_folder(context, options);
  }
  INTARSIA_TRY(const Selection selection, select(context, options));
  INTARSIA_TRY(const CompiledModel model,
               compile_file(context, selection, options, Stage::Package));
  report_idle_devices(context, selection, model);
  INTARSIA_TRY_VOID(write_folder(folder, model.package.files));
  return build_setting(context, options, selection, folder, model.package.manifest);
}

}  // namespace intarsia::cli
