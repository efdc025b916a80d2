#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "board/process_board.h"
#include "commands.h"
#include "cycles_report.h"
#include "device_profile.h"
#include "program.h"
#include "run_in_process.h"
#include "run_package.h"
#include "support/c_identifier.h"
#include "support/files.h"
#include "support/shown_text.h"
#include "trace_of_cpus.h"
#include "verify_operators.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

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

Result<void> check_counting(const RunCommand& command, const board::Board& board) {
  if (command.count_cycles) return check_cycles_are_countable(board);
  if ((board.emulator && !board.native()) || !command.count) return {};
  return Diagnostics(
      "--count-instructions",
      fmt::format("instructions are counted in an emulator, and board {} has none", board.name),
      "choose another board with --board");
}

// What has run, whichever way.
struct FinishedRun {
  std::string model;
  std::vector<TensorInfo> outputs;
  Files files;
  ExecuteResult result;
  size_t samples = 0;  // of --batch
};

void print_result(const RunCommand& command, const FinishedRun& ran) {
  const ExecuteResult& result = ran.result;
  nlohmann::ordered_json json;
  json["model"] = ran.model;
  if (command.batch) json["samples"] = ran.samples;
  json["outputs"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < ran.outputs.size(); ++i) {
    const TensorInfo& tensor = ran.outputs[i];
    const std::string file = fmt::format("{}/{}", command.output_folder, ran.files.name(i));
    nlohmann::ordered_json row = {{"file", file},
                                  {"name", tensor.name},
                                  {"type", to_string(tensor.type)},
                                  {"shape", tensor.shape},
                                  {"scale", tensor.quantization.scale},
                                  {"zero_point", tensor.quantization.zero_point}};
    json["outputs"].push_back(std::move(row));
    if (command.common.json) continue;
    fmt::print("{}: '{}' {}[{}]", file, shown_text(tensor.name), to_string(tensor.type),
               fmt::join(tensor.shape, ","));
    if (tensor.quantization.per_channel())
      fmt::print(" with a scale for each index of axis {}", tensor.quantization.axis);
    else if (tensor.quantization.present())
      fmt::print(" real = {:.9g} * (q - {})", tensor.quantization.scale[0],
                 tensor.quantization.zero_point[0]);
    fmt::print("\n");
  }
  if (result.stack_run >= 0) json["stack_run_bytes"] = result.stack_run;
  if (!result.instructions.empty()) json["instructions"] = result.instructions;
  if (!result.cycles.empty()) json["cycles"] = cycles_json(result.cycles);
  if (!result.counted_cycles.empty()) json["counted_cycles"] = result.counted_cycles;
  const nlohmann::ordered_json devices = read_device_profile(result.device_profile);
  if (!devices.empty()) json["devices"] = devices;
  if (command.common.json) {
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  if (result.stack_run >= 0) fmt::print("stack used by a run: {} bytes\n", result.stack_run);
  if (!result.instructions.empty())
    fmt::print("instructions of the last run: {}\n", result.instructions.back());
  if (!result.cycles.empty()) fmt::print("{}", cycles_text(result.cycles.back()));
  if (!result.counted_cycles.empty())
    fmt::print("cycles of the last run: {}\n", result.counted_cycles.back());
  if (!result.counted_cycles_note.empty())
    fmt::print("cycles: not counted: {}\n", result.counted_cycles_note);
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

Result<void> make_folder(const RunCommand& command, const OutputFolder& folder) {
  if (!folder.error()) return {};
  return Diagnostics(command.output_folder, "cannot be made: " + folder.error().message(),
                     "check the path and its permissions");
}

Result<void> write_results(const RunCommand& command, const FinishedRun& ran,
                           const std::string& trace) {
  if (!command.trace_file.empty() && trace.empty())
    return Diagnostics(
        "--trace",
        fmt::format("no part of {} runs on a simulated device that keeps time", ran.model),
        "choose a target with one; 'intarsia explain' says who runs each operator");
  for (size_t i = 0; i < ran.result.outputs.size(); ++i)
    INTARSIA_TRY_VOID(write_file(fmt::format("{}/{}", command.output_folder, ran.files.name(i)),
                                 ran.result.outputs[i]));
  if (command.trace_file.empty()) return {};
  return write_file(command.trace_file, std::string_view(trace));
}

Result<int> finish(const RunCommand& command, const FinishedRun& ran, const std::string& trace) {
  INTARSIA_TRY_VOID(write_results(command, ran, trace));
  clear_progress();
  print_result(command, ran);
  return static_cast<int>(kDone);
}

// The compiled model, with the results that were asked for among its outputs.
Result<CompiledModel> compile_to_run(Context& context, const RunCommand& command,
                                     const Selection& selection, Stage last, Files& files) {
  if (command.intermediates.empty()) return compile_file(context, selection, command.common, last);
  INTARSIA_TRY(const graph::Module module, import_file(context, command.common));
  INTARSIA_TRY(const graph::Module opened, with_outputs(module, command.intermediates));
  files = files_of(opened.entry_function(), module.entry_function().outputs.size());
  return compile_on(context, selection, imported_model(opened), last);
}

Result<BuildSetting> setting_for_run(Context& context, const RunCommand& command,
                                     const std::string& folder, Files& files) {
  if (command.intermediates.empty()) return setting_of(context, command.common, folder);
  std::error_code error;
  if (fs::is_directory(command.common.model, error))
    return Diagnostics(command.common.model, "is compiled: it has no other results than its own",
                       "name the model to have --outputs of it");
  INTARSIA_TRY(const Selection selection, select(context, command.common));
  INTARSIA_TRY(const CompiledModel model,
               compile_to_run(context, command, selection, Stage::Package, files));
  INTARSIA_TRY_VOID(write_folder(folder, model.package.files));
  return build_setting(context, command.common, selection, folder, model.package.manifest);
}

// Its path may be the only way to it; a folder that was compiled names it otherwise.
std::string board_as_given(const CommonOptions& options, const board::Board& board) {
  return options.board == "host" ? board.name : options.board;
}

// Nothing where a program has to be built.
Result<std::optional<int>> run_without_building(Context& context, const RunCommand& command) {
  std::error_code error;
  if (command.native || fs::is_directory(command.common.model, error)) return std::optional<int>();
  INTARSIA_TRY(Selection selection, select(context, command.common));
  if (!board::is_this_machine(selection.board)) return std::optional<int>();
  selection.options.partition.cycles = !command.trace_file.empty();
  INTARSIA_TRY_VOID(check_counting(command, selection.board));
  FinishedRun ran;
  INTARSIA_TRY(const CompiledModel model,
               compile_to_run(context, command, selection, Stage::Emit, ran.files));
  std::string reason;
  INTARSIA_TRY(
      std::optional<Engine> engine,
      make_engine(context, model, {.trace = !command.trace_file.empty(), .profile = true}, reason));
  if (!engine) {
    if (command.batch)
      return Diagnostics("--batch", reason, "run the samples one after another, with --repeat");
    print_note(reason + ": running a program built from the generated C");
    return std::optional<int>();
  }
  report_idle_devices(context, selection, model);
  ran.model = model.partitioned.module.name;
  ran.outputs = engine->outputs();
  INTARSIA_TRY(const auto inputs, read_run_inputs(command, ran.model, engine->inputs()));
  const OutputFolder folder(command.output_folder);
  INTARSIA_TRY_VOID(make_folder(command, folder));
  INTARSIA_TRY(ProcessRun run, run_engine(context, command, model, std::move(*engine), inputs));
  ran.result = std::move(run.result);
  ran.samples = run.samples;
  if (!run.trace.empty())
    run.trace = with_cpu_operators(run.trace, timeline_steps(model.partitioned));
  INTARSIA_TRY(const int code, finish(command, ran, run.trace));
  return std::optional<int>(code);
}

// What the estimates say of the order in which a model or a compiled folder runs.
Result<std::vector<TimelineStep>> steps_of_run(Context& context, const RunCommand& command) {
  std::error_code error;
  if (fs::is_directory(command.common.model, error))
    return timeline_steps_of_package(command.common.model);
  INTARSIA_TRY(Selection selection, select(context, command.common));
  selection.options.partition.cycles = true;
  FinishedRun unused;
  INTARSIA_TRY(const CompiledModel model,
               compile_to_run(context, command, selection, Stage::Partition, unused.files));
  return timeline_steps(model.partitioned);
}

Result<int> run_built(Context& context, const RunCommand& command) {
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  std::error_code error;
  FinishedRun ran;
  INTARSIA_TRY(BuildSetting setting,
               setting_for_run(context, command, work.path() + "/package", ran.files));
  if (!setting.board.can_run())
    return Diagnostics(
        fmt::format("--board {}", setting.board.name),
        "neither an emulator nor a debug probe is known for this board",
        fmt::format(
            "give it one by 'run' (docs/running.md); 'intarsia build {} --board {} -o FILE' "
            "writes the program, for a debug probe that offers semihosting",
            command.common.model, board_as_given(command.common, setting.board)));
  INTARSIA_TRY_VOID(check_counting(command, setting.board));
  if (command.count_cycles) INTARSIA_TRY_VOID(prepare_to_count_cycles(setting));
  if (!command.trace_file.empty() && !setting.board.native() &&
      !setting.board.takes_simulated_devices())
    return Diagnostics(
        "--trace",
        fmt::format("no simulated devices can be beside the emulator of board {}",
                    setting.board.name),
        fmt::format("these boards can trace: {}", fmt::join(boards_that_trace(context), ", ")));
  if (command.batch)
    return Diagnostics("--batch", "samples run side by side where nothing is built",
                       "leave --native and --board out and name a model, or run the samples one "
                       "after another with --repeat");
  ExecuteRequest request;
  if (!command.trace_file.empty()) request.trace_file = work.path() + "/trace.json";
  ran.model = setting.manifest.model;
  ran.outputs = setting.manifest.outputs;
  INTARSIA_TRY(request.inputs, read_run_inputs(command, ran.model, setting.manifest.inputs));
  request.repeat = command.repeat;
  request.keep_all = command.keep_all;
  request.count_instructions = command.count;
  request.count_cycles = command.count_cycles;
  const OutputFolder folder(command.output_folder);
  INTARSIA_TRY_VOID(make_folder(command, folder));
  INTARSIA_TRY(request.program, build_program(setting, work.path()));
  INTARSIA_TRY(ran.result, execute(setting, request, work.path()));
  std::string trace;
  if (!request.trace_file.empty() && fs::exists(request.trace_file, error)) {
    INTARSIA_TRY(trace, read_text_file(request.trace_file));
    INTARSIA_TRY(const std::vector<TimelineStep> steps, steps_of_run(context, command));
    trace = with_cpu_operators(trace, steps);
  }
  return finish(command, ran, trace);
}

Result<int> run_on_firmware(Context& context, const RunCommand& command) {
  const OutputFolder folder(command.output_folder);
  INTARSIA_TRY_VOID(make_folder(command, folder));
  INTARSIA_TRY(PackageResult package, run_package_on_firmware(context, command));
  const FinishedRun ran{package.model, package.outputs, {}, std::move(package.result)};
  return finish(command, ran, {});
}

Result<int> run(Context& context, const RunCommand& command) {
  if (command.batch && !command.trace_file.empty())
    return Diagnostics("--trace", "is of one inference after another, not of --batch",
                       "leave one of the two out; --repeat runs samples one after another");
  if (command.batch && command.repeat > 1)
    return Diagnostics("--repeat", "is of one state, and each sample of --batch has its own",
                       "leave one of the two out");
  if (!command.firmware.empty()) return run_on_firmware(context, command);
  if (command.in_flash)
    return Diagnostics("--in-flash", "is of packages that a firmware runs",
                       "name it with --firmware");
  INTARSIA_TRY(const std::optional<int> done, run_without_building(context, command));
  return done ? *done : run_built(context, command);
}

}  // namespace

int run_run(Context& context, const RunCommand& command) {
  const Result<int> result = run(context, command);
  return result.ok() ? *result : fail(result.error());
}

}  // namespace intarsia::cli
