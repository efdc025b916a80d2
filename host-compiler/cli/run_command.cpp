#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "device_profile.h"
#include "program.h"
#include "support/c_identifier.h"
#include "support/files.h"
#include "verify_operators.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

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

// What the files of outputs are called: out0.bin, out1.bin, ... those of the model, by operator those that
// the user asked for.
struct Files {
  std::vector<std::string> names;

  std::string name(size_t output) const {
    return output < names.size() ? names[output] : fmt::format("out{}.bin", output);
  }
};

Files files_of(const graph::Function& function, size_t own_outputs) {
  Files files;
  std::set<std::string> taken;
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    std::string name = fmt::format("out{}", i);
    if (i >= own_outputs)
      for (const graph::Node& node : function.nodes)
        if (std::find(node.outputs.begin(), node.outputs.end(), function.outputs[i]) !=
            node.outputs.end())
          name = c_identifier(node.name, "operator");
    const std::string wanted = name;
    for (int n = 1; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
    files.names.push_back(name + ".bin");
  }
  return files;
}

Result<BuildSetting> setting_for_run(Context& context, const RunCommand& command,
                                     const std::string& folder, Files& files) {
  if (command.intermediates.empty()) return setting_of(context, command.common, folder);
  std::error_code error;
  if (fs::is_directory(command.common.model, error))
    return Diagnostics(command.common.model, "is compiled: it has no other results than its own",
                       "name the model to have --outputs of it");
  INTARSIA_TRY(const Selection selection, select(context, command.common));
  INTARSIA_TRY(const graph::Module module, import_file(context, command.common));
  INTARSIA_TRY(const graph::Module opened, with_outputs(module, command.intermediates));
  files = files_of(opened.entry_function(), module.entry_function().outputs.size());
  INTARSIA_TRY(const CompiledModel model, compile_into(context, selection, opened, folder));
  return build_setting(context, command.common, selection, folder, model.package.manifest);
}

void print_result(const RunCommand& command, const BuildSetting& setting, const Files& files,
                  const ExecuteResult& result) {
  const PackageManifest& manifest = setting.manifest;
  nlohmann::ordered_json json;
  json["model"] = manifest.model;
  json["outputs"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const TensorInfo& tensor = manifest.outputs[i];
    const std::string file = fmt::format("{}/{}", command.output_folder, files.name(i));
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
  Files files;
  INTARSIA_TRY(const BuildSetting setting,
               setting_for_run(context, command, work.path() + "/package", files));
  if (!setting.board.native() && !setting.board.emulator)
    return Diagnostics(
        fmt::format("--board {}", setting.board.name), "no emulator is known for this board",
        fmt::format("'intarsia build {} --board {} -o FILE' writes the program, for a debug probe "
                    "that offers semihosting",
                    command.common.model, setting.board.name));
  if (command.count && !setting.board.emulator)
    return Diagnostics("--count-instructions",
                       fmt::format("instructions are counted in an emulator, and board {} has none",
                                   setting.board.name),
                       "choose another board with --board");
  if (!command.trace_file.empty() && !setting.board.native() &&
      !setting.board.takes_simulated_devices())
    return Diagnostics(
        "--trace",
        fmt::format("no simulated devices can be beside the emulator of board {}",
                    setting.board.name),
        fmt::format("these boards can trace: {}", fmt::join(boards_that_trace(context), ", ")));
  ExecuteRequest request;
  if (!command.trace_file.empty()) request.trace_file = work.path() + "/trace.json";
  INTARSIA_TRY(request.inputs, read_inputs(command, setting.manifest));
  request.repeat = command.repeat;
  request.keep_all = command.keep_all;
  request.count_instructions = command.count;
  const OutputFolder folder(command.output_folder);
  if (folder.error())
    return Diagnostics(command.output_folder, "cannot be made: " + folder.error().message(),
                       "check the path and its permissions");
  INTARSIA_TRY(request.program, build_program(setting, work.path()));
  INTARSIA_TRY(const ExecuteResult result, execute(setting, request, work.path()));
  for (size_t i = 0; i < result.outputs.size(); ++i)
    INTARSIA_TRY_VOID(
        write_file(fmt::format("{}/{}", command.output_folder, files.name(i)), result.outputs[i]));
  if (!command.trace_file.empty()) {
    if (!fs::exists(request.trace_file, error))
      return Diagnostics(
          "--trace",
          fmt::format("no part of {} runs on a simulated device", setting.manifest.model),
          "choose a target with one; 'intarsia explain' says who runs each operator");
    INTARSIA_TRY(const std::vector<uint8_t> trace, read_file(request.trace_file));
    INTARSIA_TRY_VOID(write_file(command.trace_file, trace));
  }
  clear_progress();
  print_result(command, setting, files, result);
  return static_cast<int>(kDone);
}

}  // namespace

int run_run(Context& context, const RunCommand& command) {
  const Result<int> result = run(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
