#include "program.h"

#include <filesystem>
#include <vector>

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

Result<void> check_nothing_is_compiled(const CommonOptions& options, const std::string& what,
                                       Reading reading) {
  const CommonOptions usual;
  struct Given {
    const char* option;
    bool is_given;
  };
  std::vector<Given> all = {
      {"--driver", !options.driver.empty()},
      {"--policy", options.policy != usual.policy},
      {"--pin", !options.pins.empty()},
      {"--pins", !options.pins_file.empty()},
      {"--ram-budget", requests::has_ram_budget(options)},
      {"--flash-budget", options.flash_budget.has_value()},
      {"--sram-limit", options.sram_limit.has_value()},
      {"--no-in-place", options.no_in_place},
      {"--section", !options.sections.empty()},
      {"--weights-file", options.weights_file != usual.weights_file},
  };
  if (reading == Reading::Refused)
    all.insert(all.end(), {{"--io", options.io != usual.io},
                           {"--shape", !options.shapes.empty()},
                           {"--input-value", !options.input_values.empty()},
                           {"--signature", !options.signature.empty()},
                           {"--widen-weights", options.widen_weights},
                           {"--keep-dead-channels", options.keep_dead_channels}});
  Diagnostics problems;
  for (const Given& given : all)
    if (given.is_given)
      problems.add(options.model,
                   fmt::format("{}: {} says how a model is compiled", what, given.option),
                   fmt::format("leave it out, or compile the model again with {}", given.option));
  if (problems.empty()) return {};
  return problems;
}

Result<BuildSetting> setting_of(Context& context, const CommonOptions& options,
                                const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(options.model, error)) {
    INTARSIA_TRY_VOID(check_nothing_is_compiled(options, "is compiled", Reading::Refused));
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
