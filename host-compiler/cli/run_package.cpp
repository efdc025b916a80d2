#include "run_package.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "build/run_package.h"
#include "firmware_file.h"
#include "package_writer/package_writer.h"
#include "program.h"
#include "run_in_process.h"
#include "support/files.h"
#include "support/shown_text.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

std::vector<TensorInfo> tensors_of(const std::vector<PackageProgram::Tensor>& from) {
  std::vector<TensorInfo> tensors;
  for (const PackageProgram::Tensor& tensor : from) {
    TensorInfo info;
    info.name = shown_text(tensor.name);
    info.type = data_type_from_string(tensor.type).value_or(DataType::Int8);
    info.shape.assign(tensor.shape.begin(), tensor.shape.end());
    info.quantization.scale.assign(tensor.scale.begin(), tensor.scale.end());
    info.quantization.zero_point.assign(tensor.zero_point.begin(), tensor.zero_point.end());
    info.bytes = tensor.bytes;
    tensors.push_back(std::move(info));
  }
  return tensors;
}

// Options that say how a model is compiled have nothing to say here.
Result<void> check_options(const RunCommand& command) {
  const auto refuse = [](const char* option) {
    return Diagnostics(option, "is of models, and with --firmware a package is run",
                       "leave it out");
  };
  if (command.batch) return refuse("--batch");
  if (command.count_cycles) return refuse("--count-cycles");
  if (command.native) return refuse("--native");
  if (!command.trace_file.empty()) return refuse("--trace");
  if (!command.intermediates.empty()) return refuse("--outputs");
  return check_nothing_is_compiled(command.common, "is a package", Reading::Refused);
}

// The firmware says so itself; here all of them are named.
Result<void> check_kernels(const RunCommand& command, const PackageProgram& program,
                           const FirmwareFile& firmware) {
  std::vector<std::string> missing;
  for (const PackageProgram::Kernel& kernel : program.kernels) {
    const bool there = std::ranges::any_of(
        firmware.image.kernels,
        [&](const executable::KernelCode& linked) { return linked.id == kernel.id; });
    if (!there) missing.push_back("'" + kernel.name + "'");
  }
  if (missing.empty()) return {};
  return Diagnostics(command.common.model,
                     fmt::format("calls kernels that are not in {}: {}", command.firmware,
                                 fmt::join(missing, ", ")),
                     "'intarsia firmware' with the package's model among the models builds a "
                     "firmware that has them");
}

// A firmware of an earlier version does not say how many it takes.
Result<void> check_tensors(const RunCommand& command, const PackageProgram& program,
                           const FirmwareFile& firmware) {
  const size_t tensors = std::max(program.inputs.size(), program.outputs.size());
  if (firmware.image.tensors == 0 || tensors <= firmware.image.tensors) return {};
  return Diagnostics(
      command.common.model,
      fmt::format("has {} inputs and {} outputs, and {} takes {} of each", program.inputs.size(),
                  program.outputs.size(), command.firmware, firmware.image.tensors),
      "'intarsia firmware' with the package's model among the models builds a "
      "firmware that takes them");
}

}  // namespace

Result<PackageResult> run_package_on_firmware(Context& context, const RunCommand& command) {
  INTARSIA_TRY_VOID(check_options(command));
  INTARSIA_TRY(const FirmwareFile firmware, read_firmware_file(command.firmware));
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(command.common.model));
  INTARSIA_TRY(const StreamPackage package, read_package(bytes, command.common.model));
  if (!package.program)
    return Diagnostics(command.common.model, "holds command streams and no program",
                       "compile the model with --format executor");
  INTARSIA_TRY_VOID(check_kernels(command, *package.program, firmware));
  INTARSIA_TRY_VOID(check_tensors(command, *package.program, firmware));
  CommonOptions options = command.common;
  if (options.board == "host") options.board = firmware.board;
  INTARSIA_TRY(const std::vector<std::string> folders, context.board_folders());
  INTARSIA_TRY(const board::Board board, board::find_board(folders, options.board));
  if (board.probe)
    return Diagnostics(fmt::format("--board {}", board.name),
                       "a package cannot be put on it by a debug probe from here",
                       "write it to flash by the probe's own tools (docs/executor.md)");
  if (command.in_flash && (board.native() || firmware.kept_bytes == 0))
    return Diagnostics(
        "--in-flash",
        fmt::format("the firmware for board {} keeps no place for a package", board.name),
        "leave it out: the firmware reads the file");
  if (command.in_flash && bytes.size() > firmware.kept_bytes)
    return Diagnostics(command.common.model,
                       fmt::format("has {} bytes, and the firmware keeps room for {}", bytes.size(),
                                   firmware.kept_bytes),
                       "build the firmware with a larger --package-bytes");
  INTARSIA_TRY(const board::Core core, board::core_for(board, firmware.core));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  PackageManifest manifest;
  manifest.model = package.model;
  manifest.inputs = tensors_of(package.program->inputs);
  manifest.outputs = tensors_of(package.program->outputs);
  PackageResult ran{package.model, manifest.outputs, {}};
  BuildSetting setting = build_setting(context, options, board, core, work.path(), manifest);
  ExecuteRequest request;
  request.program = fs::absolute(command.firmware).string();
  request.repeat = command.repeat;
  request.keep_all = command.keep_all;
  request.count_instructions = command.count;
  INTARSIA_TRY(request.inputs, read_run_inputs(command, package.model, manifest.inputs));
  build::PackageRun run;
  run.file = fs::absolute(command.common.model).string();
  if (command.in_flash) run.kept_at = firmware.kept_at;
  const std::string simulators = fs::absolute(simulators_path(command.firmware)).string();
  std::error_code error;
  if (fs::exists(simulators, error)) run.simulators = simulators;
  INTARSIA_TRY(ran.result, build::execute_package(setting, request, run, work.path()));
  return ran;
}

}  // namespace intarsia::cli
