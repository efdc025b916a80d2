// A firmware that is built once and runs packages, and the packages: `firmware`, and `compile --format executor`.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "board/board_firmware.h"
#include "board/process_board.h"
#include "build/run_package.h"
#include "commands.h"
#include "executable/firmware.h"
#include "firmware_file.h"
#include "program.h"
#include "support/amounts.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

Result<CompiledModel> compile_for_package(Context& context, const Selection& selection,
                                          const CommonOptions& options) {
  INTARSIA_TRY(CompiledModel model, compile_file(context, selection, options, Stage::Emit));
  if (!model.multicore.segments.empty())
    return Diagnostics(options.model, "runs on several CPUs, which one package cannot say",
                       "choose a target with one CPU");
  return model;
}

// Weights and their places are of what a package holds, in one piece; the firmware that it lies beside has none.
Result<void> check_holds_no_weights(const CommonOptions& options) {
  if (!options.sections.empty())
    return Diagnostics("--section", "a package has no sections: it lies where the firmware has it",
                       "leave it out");
  if (options.weights_file == "always")
    return Diagnostics("--weights-file", "a package holds the weights, and its firmware has none",
                       "leave it out");
  return {};
}

Result<int> write_package_file(Context& context, const CompileCommand& command) {
  CompileCommand folder = command;
  folder.common.json = false;  // which the package's figures can be printed as
  INTARSIA_TRY_VOID(check_no_folder_options(folder));
  if (command.common.flash_budget)
    return Diagnostics("--flash-budget", "is of code and constants, and a package has no code",
                       "leave it out; 'compile' says how large the package is");
  INTARSIA_TRY_VOID(check_holds_no_weights(command.common));
  if (fs::is_directory(command.output_folder))
    return Diagnostics(command.output_folder, "is a folder, and --format executor writes a file",
                       "for example -o kws.intarsia");
  INTARSIA_TRY(const Selection selection, select(context, command.common));
  INTARSIA_TRY(const CompiledModel model, compile_for_package(context, selection, command.common));
  report_idle_devices(context, selection, model);
  INTARSIA_TRY(const executable::ExecutableModel made,
               executable::make_executable(model.program(), context.registry));
  const std::vector<uint8_t> bytes = made.package();
  INTARSIA_TRY_VOID(write_file(command.output_folder, bytes));
  clear_progress();
  if (command.common.json) {
    fmt::print("{}\n", package_json(made, bytes.size()).dump(2));
    return static_cast<int>(kDone);
  }
  fmt::print("{}: {}, {} bytes: {} kernels, {} bytes of constants, {} command streams\n",
             command.output_folder, made.name, bytes.size(), made.kernels.size(),
             made.program.constants.size(), made.streams.size());
  for (size_t i = 0; i < made.contract.pool_bytes.size(); ++i)
    if (made.contract.pool_bytes[i] > 0)
      fmt::print("memory {}: {} bytes\n", made.program.memories[i], made.contract.pool_bytes[i]);
  return static_cast<int>(kDone);
}

Result<executable::Room> room_of(const FirmwareCommand& command) {
  executable::Room room;
  room.package_bytes = command.package_bytes.value_or(0);
  for (const std::string& text : command.arenas) {
    const size_t equals = text.find('=');
    const std::optional<int64_t> bytes =
        equals == std::string::npos ? std::nullopt : parse_bytes(text.substr(equals + 1));
    if (!bytes)
      return Diagnostics("--arena", fmt::format("'{}' is not MEMORY=BYTES", text),
                         "for example --arena sram=64K");
    room.memories.push_back({text.substr(0, equals), *bytes});
  }
  return room;
}

// Written beside the program: what `run` has to know of it.
Result<void> write_programs(const FirmwareCommand& command, const FirmwareFile& file,
                            const std::string& program, const std::string& simulators) {
  const auto copy = [](const std::string& from, const std::string& to) -> Result<void> {
    INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(from));
    INTARSIA_TRY_VOID(write_file(to, bytes));
    std::error_code error;
    fs::permissions(to, fs::perms::owner_exec | fs::perms::group_exec, fs::perm_options::add,
                    error);
    return {};
  };
  INTARSIA_TRY_VOID(copy(program, command.output_file));
  std::error_code error;
  if (fs::exists(simulators, error)) {
    INTARSIA_TRY_VOID(copy(simulators, simulators_path(command.output_file)));
  } else {
    fs::remove(simulators_path(command.output_file), error);
  }
  return write_file(description_path(command.output_file),
                    std::string_view(firmware_json(file).dump(2) + "\n"));
}

// The place of a package beside the program, which may not lie in it.
Result<void> check_kept(const board::Board& board, const executable::Image& image,
                        const std::string& program) {
  if (board.native() || image.kept_bytes == 0) return {};
  INTARSIA_TRY(const board::ElfImage elf, board::read_elf(program));
  for (const board::ElfSection& section : elf.sections)
    if (section.address < image.kept_at + image.kept_bytes &&
        section.address + section.size > image.kept_at)
      return Diagnostics(
          "--package-bytes",
          fmt::format("the place for a package at {:#x} lies in the section '{}' of the firmware",
                      image.kept_at, section.name),
          "give it fewer bytes");
  return {};
}

Result<int> make(Context& context, const FirmwareCommand& command) {
  if (command.output_file.empty() && command.sources_folder.empty())
    return Diagnostics("intarsia firmware", "there is nothing to write",
                       "name the program with -o, or a folder with --sources");
  INTARSIA_TRY_VOID(check_holds_no_weights(command.common));
  CommonOptions options = command.common;
  options.model = command.models.front();
  INTARSIA_TRY(const Selection selection, select(context, options));
  std::vector<CompiledModel> compiled;
  std::vector<executable::ExecutableModel> models;
  for (const std::string& path : command.models) {
    options.model = path;
    INTARSIA_TRY(CompiledModel model, compile_for_package(context, selection, options));
    INTARSIA_TRY(executable::ExecutableModel made,
                 executable::make_executable(model.program(), context.registry));
    models.push_back(std::move(made));
    compiled.push_back(std::move(model));
  }
  std::vector<const CompiledProgram*> programs;
  for (const CompiledModel& model : compiled) programs.push_back(&model.program());
  INTARSIA_TRY(const executable::Room room, room_of(command));
  const PackageOptions package_options =
      options_for(selection.board, selection.core, context.resource_root).package;
  INTARSIA_TRY(const executable::Firmware firmware,
               executable::make_firmware({programs, models, selection.board, context.registry,
                                          package_options, room, command.same_interface}));
  if (!command.sources_folder.empty())
    INTARSIA_TRY_VOID(write_folder(command.sources_folder, firmware.package.files));
  if (command.output_file.empty()) {
    clear_progress();
    fmt::print("{}: the sources of a firmware that runs packages for {}\n", command.sources_folder,
               to_string(selection.target));
    return static_cast<int>(kDone);
  }
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  const std::string folder = work.path() + "/firmware";
  INTARSIA_TRY_VOID(write_folder(folder, firmware.package.files));
  BuildSetting setting =
      build_setting(context, options, selection, folder, firmware.package.manifest);
  setting.has_descriptor = true;
  setting.when_too_large = fmt::format(
      "it has room for a package of {} bytes: --package-bytes gives it less, with 'run --in-flash' "
      "a few are enough; else choose a board with more memory",
      firmware.image.package_buffer.bytes);
  INTARSIA_TRY(const std::string program, build_program(setting, work.path()));
  INTARSIA_TRY_VOID(check_kept(selection.board, firmware.image, program));
  const FirmwareFile file{board::is_this_machine(selection.board) ? "host" : options.board,
                          to_string(selection.target),
                          selection.core.name,
                          firmware.image.kept_at,
                          firmware.image.kept_bytes,
                          firmware.image.package_buffer.bytes,
                          firmware.image};
  INTARSIA_TRY_VOID(
      write_programs(command, file, program, work.path() + build::kSimulatorsInWorkFolder));
  clear_progress();
  if (command.common.json)
    fmt::print("{}\n", firmware_json(file).dump(2));
  else
    fmt::print("{}", firmware_text(command.output_file, file));
  return static_cast<int>(kDone);
}

}  // namespace

int run_executable(Context& context, const CompileCommand& command) {
  const Result<int> result = write_package_file(context, command);
  return result.ok() ? *result : fail(result.error());
}

int run_firmware(Context& context, const FirmwareCommand& command) {
  const Result<int> result = make(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
