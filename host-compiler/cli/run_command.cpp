#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "device_profile.h"
#include "program.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

// A folder that `compile` wrote, as a setting to build.
Result<BuildSetting> setting_of_folder(Context& context, const CommonOptions& options) {
  INTARSIA_TRY(const PackageManifest manifest, read_manifest(options.model));
  if (options.board != "host" && options.board != manifest.board)
    return Diagnostics(
        options.model,
        fmt::format("was compiled for board {}, not {}", manifest.board, options.board),
        "compile the model again for the other board");
  if (!options.target.empty()) {
    if (!options.tags_file.empty())
      INTARSIA_TRY_VOID(context.registry.catalogue().load_tags_file(options.tags_file));
    INTARSIA_TRY(const TargetSpec target,
                 parse_target_argument(context.registry.catalogue(), options.target));
    if (to_string(target) != manifest.target)
      return Diagnostics(
          options.model,
          fmt::format("was compiled for target {}, not {}", manifest.target, to_string(target)),
          "compile the model again for the other target");
  }
  INTARSIA_TRY(const board::Board board,
               board::find_board(context.boards_folder(), manifest.board));
  board::Core core{"native", {}};
  if (!board.native()) {
    INTARSIA_TRY(core, board::core_for(board, manifest.core));
  }
  return BuildSetting{options.model,         manifest, board, core, context.resource_root,
                      optimise_flag(options)};
}

Result<std::vector<std::vector<uint8_t>>> read_inputs(const RunCommand& command,
                                                      const PackageManifest& manifest) {
  if (command.inputs.size() != manifest.inputs.size())
    return Diagnostics("--input",
                       fmt::format("{} given, {} takes {}", command.inputs.size(), manifest.model,
                                   manifest.inputs.size()),
                       "give --input once per model input, in order");
  Diagnostics problems;
  std::vector<std::vector<uint8_t>> inputs;
  for (size_t i = 0; i < command.inputs.size(); ++i) {
    Result<std::vector<uint8_t>> bytes =
        read_tensor_file(command.inputs[i], manifest.inputs[i], command.repeat);
    if (bytes.ok())
      inputs.push_back(std::move(bytes).value());
    else
      problems.append(bytes.error());
  }
  if (!problems.empty()) return problems;
  return inputs;
}

void print_result(const RunCommand& command, const PackageManifest& manifest,
                  const ExecuteResult& result) {
  nlohmann::ordered_json json;
  json["model"] = manifest.model;
  json["outputs"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const TensorInfo& tensor = manifest.outputs[i];
    const std::string file = fmt::format("{}/out{}.bin", command.output_folder, i);
    nlohmann::ordered_json row = {{"file", file},
                                  {"name", tensor.name},
                                  {"type", to_string(tensor.type)},
                                  {"shape", tensor.shape},
                                  {"scale", tensor.quantization.scale},
                                  {"zero_point", tensor.quantization.zero_point}};
    json["outputs"].push_back(std::move(row));
    if (command.common.json) continue;
    fmt::print("{}: '{}' {}[{}]", file, tensor.name, to_string(tensor.type),
               fmt::join(tensor.shape, ","));
    if (tensor.quantization.present())
      fmt::print(" real = {:.9g} * (q - {})", tensor.quantization.scale[0],
                 tensor.quantization.zero_point[0]);
    fmt::print("\n");
  }
  if (result.stack_run >= 0) json["stack_run_bytes"] = result.stack_run;
  if (!result.instructions.empty()) json["instructions"] = result.instructions;
  const nlohmann::ordered_json devices = read_device_profile(result.device_profile);
  if (!devices.empty()) json["devices"] = devices;
  if (command.common.json) {
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  if (result.stack_run >= 0) fmt::print("stack used by a run: {} bytes\n", result.stack_run);
  if (!result.instructions.empty())
    fmt::print("instructions of the last run: {}\n", result.instructions.back());
  fmt::print("{}", device_profile_text(devices));
}

// The folder for outputs, made early so that a bad path is not found out after a long run. What it made and nothing
// was written to goes away with it.
class OutputFolder {
 public:
  explicit OutputFolder(const fs::path& folder) {
    std::error_code error;
    for (fs::path at = fs::absolute(folder, error);
         !fs::exists(at, error) && at.has_relative_path(); at = at.parent_path())
      missing_.push_back(at);
    fs::create_directories(folder, error_);
  }
  ~OutputFolder() {
    std::error_code error;  // of a folder that is not empty
    for (const fs::path& made : missing_) fs::remove(made, error);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  const std::error_code& error() const { return error_; }

 private:
  std::vector<fs::path> missing_;  // the innermost first
  std::error_code error_;
};

Result<int> run(Context& context, const RunCommand& command) {
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  std::error_code error;
  std::optional<BuildSetting> setting;
  if (fs::is_directory(command.common.model, error)) {
    INTARSIA_TRY(setting, setting_of_folder(context, command.common));
  } else {
    INTARSIA_TRY(const Selection selection, select(context, command.common));
    INTARSIA_TRY(const CompiledProgram program,
                 compile_program(context, selection, command.common.model));
    const std::string folder = work.path() + "/package";
    INTARSIA_TRY(const PackageManifest manifest,
                 write_package(context, selection, program, folder));
    setting = build_setting(context, command.common, selection, folder, manifest);
  }
  if (command.count && !setting->board.emulator)
    return Diagnostics("--count-instructions",
                       fmt::format("instructions are counted in an emulator, and board {} has none",
                                   setting->board.name),
                       "choose another board with --board");
  if (!command.trace_file.empty() && !setting->board.native() &&
      !setting->board.takes_simulated_devices())
    return Diagnostics(
        "--trace",
        fmt::format("devices are simulated on this machine, not on board {}", setting->board.name),
        "leave --board out");
  ExecuteRequest request;
  if (!command.trace_file.empty()) request.trace_file = work.path() + "/trace.json";
  INTARSIA_TRY(request.inputs, read_inputs(command, setting->manifest));
  request.repeat = command.repeat;
  request.keep_all = command.keep_all;
  request.count_instructions = command.count;
  const OutputFolder folder(command.output_folder);
  if (folder.error())
    return Diagnostics(command.output_folder, "cannot be made: " + folder.error().message(),
                       "check the path and its permissions");
  INTARSIA_TRY(request.program, build_program(*setting, work.path()));
  INTARSIA_TRY(const ExecuteResult result, execute(*setting, request, work.path()));
  for (size_t i = 0; i < result.outputs.size(); ++i)
    INTARSIA_TRY_VOID(write_file(
        fmt::format("{}/out{}.bin", command.output_folder, i),
        {reinterpret_cast<const char*>(result.outputs[i].data()), result.outputs[i].size()}));
  if (!command.trace_file.empty()) {
    if (!fs::exists(request.trace_file, error))
      return Diagnostics(
          "--trace",
          fmt::format("no part of {} runs on a simulated device", setting->manifest.model),
          "choose a target with one; 'intarsia explain' says who runs each operator");
    INTARSIA_TRY(const std::vector<uint8_t> trace, read_file(request.trace_file));
    INTARSIA_TRY_VOID(write_file(command.trace_file,
                                 {reinterpret_cast<const char*>(trace.data()), trace.size()}));
  }
  print_result(command, setting->manifest, result);
  return static_cast<int>(kDone);
}

}  // namespace

int run_run(Context& context, const RunCommand& command) {
  const Result<int> result = run(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
