#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "board/board_firmware.h"
#include "build/count_cycles.h"
#include "build/emulator_failure.h"
#include "build/exchanged_files.h"
#include "build/link_failure.h"
#include "build/link_libraries.h"
#include "build/objects.h"
#include "build/run_on_probe.h"
#include "build/run_package.h"
#include "build/tool_options.h"
#include "intarsia/build.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia {
namespace {

using build::kSimulatorsInWorkFolder;

// The board's own script as it is, or the one that is made into the work folder; none on this machine.
Result<std::string> script_for(const board::Board& board, const std::string& work_folder) {
  if (board.native()) return std::string();
  if (!board.linker_script.empty()) return board.folder + "/" + board.linker_script;
  std::string path = work_folder + "/link.ld";
  INTARSIA_TRY_VOID(write_file(path, board::linker_script(board)));
  return path;
}

// A script of the board's own may know other memories than its board.json.
Result<void> check_placed(const board::Board& board, const std::string& program) {
  if (board.linker_script.empty()) return {};
  INTARSIA_TRY(const board::ElfImage image, board::read_elf(program));
  Diagnostics problems;
  for (const board::ElfSection& section : image.sections) {
    const uint64_t end = uint64_t{section.address} + section.size;
    const bool is_in_memory =
        std::any_of(board.memories.begin(), board.memories.end(), [&](const board::Memory& memory) {
          return section.address >= memory.base && end <= memory.end();
        });
    if (!is_in_memory)
      problems.add(
          fmt::format("{}/{}", board.folder, board.linker_script),
          fmt::format("section '{}' is at {:#010x} to {:#010x}, where board.json has no memory",
                      section.name, section.address, end),
          "give both the same memories");
  }
  if (!problems.empty()) return problems;
  return {};
}

bool runs_beside_simulators(const BuildSetting& setting) {
  return setting.board.takes_simulated_devices() && !setting.manifest.simulator_sources.empty();
}

// The program that serves simulated devices beside the emulator; empty: there is none.
std::string simulators_of(const BuildSetting& setting, const build::PackageRun* package,
                          const std::string& work_folder) {
  if (package != nullptr) return package->simulators;
  return runs_beside_simulators(setting) ? work_folder + kSimulatorsInWorkFolder : "";
}

}  // namespace

Result<std::string> build_program(const BuildSetting& setting, const std::string& work_folder) {
  const bool simulates = runs_beside_simulators(setting);
  if (simulates) INTARSIA_TRY_VOID(board::check_memories_of_devices(setting.board));
  const bool has_devices = std::filesystem::exists(setting.board.folder + "/devices.c");
  if (!setting.board.native() && !setting.manifest.devices.empty() && !simulates && !has_devices)
    return Diagnostics(
        fmt::format("--board {}", setting.board.name),
        fmt::format("the board has no device for {}", fmt::join(setting.manifest.devices, ", ")),
        "run it with --board host, where the device is simulated; 'compile' makes the sources for "
        "a board of your own, whose devices.c says where its registers are");
  if (!setting.board.native() && !simulates) {
    INTARSIA_TRY(const std::vector<std::string> missing, build::libraries_not_found(setting));
    if (!missing.empty())
      return Diagnostics(
          fmt::format("--board {}", setting.board.name),
          fmt::format("the program links {}, which the board does not bring",
                      fmt::join(missing, ", ")),
          "a board of your own brings a library by -LFOLDER among its core's "
          "flags; 'compile' makes the sources for a program of your own that links it; --board "
          "host needs none");
  }
  const std::string cores = setting.board.folder + "/second_core.c";
  if (!setting.manifest.parts.empty() && !std::filesystem::exists(cores))
    return Diagnostics(fmt::format("--board {}", setting.board.name),
                       fmt::format("the board has one core, and the parts {} run at the same time",
                                   fmt::join(setting.manifest.parts, ", ")),
                       "run them with --board host; 'compile' makes the sources of every part for "
                       "boards of your own");
  INTARSIA_TRY(const build::Objects objects, build::compile_objects(setting, work_folder));
  INTARSIA_TRY(const std::string script, script_for(setting.board, work_folder));
  INTARSIA_TRY(const std::vector<std::string> support,
               build::compile_board_support(setting, work_folder));
  const std::string output = work_folder + "/program";
  std::vector<std::string> command = {setting.board.compiler, setting.optimise};
  const auto append = [&](const std::vector<std::string>& words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  append(objects.model);
  append(objects.program);
  append(support);
  append(board::link_flags(setting.board, setting.core, script));
  append({"-o", output});
  const bool cpp = std::any_of(setting.manifest.sources.begin(), setting.manifest.sources.end(),
                               [](const std::string& s) { return s.ends_with(".cpp"); });
  if (cpp && setting.board.native()) command.push_back("-lstdc++");
  for (const std::string& library : setting.manifest.link_libraries)
    command.push_back("-l" + library);
  if (!setting.manifest.parts.empty() && setting.board.native()) command.push_back("-pthread");
  if (setting.on_progress) setting.on_progress({"linking"});
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command, build::tool_options(output)));
  if (!outcome.succeeded()) return build::link_failure(setting, "the program", outcome);
  INTARSIA_TRY_VOID(check_placed(setting.board, output));
  if (simulates)
    INTARSIA_TRY_VOID(
        build::build_simulators(setting, work_folder, work_folder + kSimulatorsInWorkFolder));
  return output;
}

namespace {

// The emulator's command line, started by the program that simulates its devices.
Result<std::vector<std::string>> beside_simulators(const BuildSetting& setting,
                                                   board::StartRequest start,
                                                   const std::string& simulators,
                                                   const std::string& work_folder) {
  const board::Emulator& emulator = *setting.board.emulator;
  const board::Memory* memory = setting.board.find_memory(emulator.shared_memory);
  INTARSIA_CHECK(memory != nullptr, "a board's window is in the memory that its emulator shares");
  start.shared_memory_file = work_folder + "/shared_memory";
  std::vector<std::string> command = {simulators,
                                      start.shared_memory_file,
                                      fmt::format("{:#x}", memory->base),
                                      fmt::format("{:#x}", memory->size),
                                      fmt::format("{:#x}", emulator.device_window),
                                      "--"};
  INTARSIA_TRY(const std::vector<std::string> started, board::run_command(setting.board, start));
  command.insert(command.end(), started.begin(), started.end());
  return command;
}

// The plugin that counts, and where the markers around a run are.
Result<board::CountRequest> prepare_count(const BuildSetting& setting,
                                          const ExecuteRequest& request,
                                          const std::string& work_folder) {
  board::CountRequest count;
  count.plugin = work_folder + "/count.so";
  count.output = work_folder + "/count.txt";
  if (request.count_cycles) {
    count.core = setting.core.name;
    count.listing = work_folder + "/code.txt";
    INTARSIA_TRY_VOID(build::write_cycle_listing(setting, request.program, count.listing));
  }
  INTARSIA_TRY(const ProcessOutcome outcome,
               run_process(request.count_cycles
                               ? board::cycles_plugin_command(setting.resource_root, count.plugin)
                               : board::count_plugin_command(setting.resource_root, count.plugin),
                           build::tool_options(count.plugin)));
  if (!outcome.succeeded())
    return Diagnostics("instruction counter",
                       "the emulator's plugin does not compile:\n" + outcome.err,
                       "install the packages of the set-up script");
  INTARSIA_TRY(const board::ElfImage image, board::read_elf(request.program));
  const auto begin = image.symbols.find("intarsia_mark_begin");
  const auto end = image.symbols.find("intarsia_mark_end");
  INTARSIA_CHECK(begin != image.symbols.end() && end != image.symbols.end(),
                 "the generic main marks the run");
  count.begin = begin->second;
  count.end = end->second;
  const auto pause = image.symbols.find("intarsia_mark_pause");
  const auto resume = image.symbols.find("intarsia_mark_resume");
  if (pause != image.symbols.end() && resume != image.symbols.end())
    count.pause = pause->second, count.resume = resume->second;
  return count;
}

// `package`: of firmware that takes its model from one; or null.
Result<ExecuteResult> execute_program(const BuildSetting& setting, const ExecuteRequest& request,
                                      const build::PackageRun* package,
                                      const std::string& work_folder) {
  board::RunRequest run;
  run.repeat = request.repeat;
  run.keep_all = request.keep_all;
  run.report = work_folder + "/run_report.json";
  run.results = request.results_file;
  if (package != nullptr && !package->kept_at) run.package = package->file;
  INTARSIA_TRY_VOID(build::exchange_files(setting.manifest, request, work_folder, run));
  INTARSIA_TRY(const std::string run_text, board::run_file_text(run));
  board::StartRequest start;
  start.program = request.program;
  start.run_file = work_folder + "/run.txt";
  INTARSIA_TRY_VOID(write_file(start.run_file, run_text));
  if ((request.count_instructions || request.count_cycles) && !setting.board.native()) {
    INTARSIA_TRY(start.count, prepare_count(setting, request, work_folder));
  }
  if (package != nullptr && package->kept_at) {
    start.loaded_file = package->file;
    start.loaded_at = *package->kept_at;
  }
  const std::string simulators = simulators_of(setting, package, work_folder);
  const bool simulates = !simulators.empty();
  INTARSIA_TRY(const std::vector<std::string> command,
               simulates ? beside_simulators(setting, start, simulators, work_folder)
                         : board::run_command(setting.board, start));
  ProcessOptions options;
  const std::string profile = work_folder + "/device_profile.json";
  if (setting.board.native() || simulates) {
    options.environment.push_back("INTARSIA_DEVICE_PROFILE=" + profile);
    options.environment.push_back(
        fmt::format("INTARSIA_DEVICE_MARKS={}/{}.marks", setting.folder, setting.manifest.model));
    if (!request.trace_file.empty())
      options.environment.push_back("INTARSIA_DEVICE_TRACE=" + request.trace_file);
  }
  options.timeout = setting.time_limit;
  if (setting.on_progress)
    setting.on_progress({setting.board.emulator ? "running in the emulator of " + setting.board.name
                                                : "running on this machine"});
  const Result<ProcessOutcome> ended = run_process(command, options);
  if (!ended.ok() && setting.board.emulator && command[0] == setting.board.emulator->program)
    return Diagnostics(setting.board.folder + "/board.json: run: emulator",
                       fmt::format("'{}' {}", command[0], ended.error().items().front().what),
                       ended.error().items().front().hint);
  INTARSIA_TRY(const ProcessOutcome outcome, ended);

  const std::string where =
      fmt::format("{} on board {}", setting.manifest.model, setting.board.name);
  if (outcome.timed_out)
    return Diagnostics(where,
                       fmt::format("the program was stopped after {} s",
                                   std::chrono::duration<double>(setting.time_limit).count()),
                       "if it is slow rather than stuck, give it longer with --timeout SECONDS");
  if (!outcome.succeeded() && !setting.board.native())
    if (std::optional<Diagnostics> failure = build::emulator_failure(setting.board, outcome))
      return *std::move(failure);
  if (!outcome.succeeded())
    return Diagnostics(where,
                       fmt::format("the program ended with {}: {}{}{}", outcome.ending(),
                                   board::exit_status_meaning(outcome.exit_code),
                                   outcome.err.empty() && outcome.out.empty() ? "" : "\n",
                                   outcome.out + outcome.err),
                       "'intarsia explain-error CODE' explains status codes of the runtime");
  INTARSIA_TRY(const board::RunReport report, board::read_run_report(run.report));
  ExecuteResult result;
  result.stack_run = report.stack_run;
  result.stack_total = report.stack_total;
  result.console = outcome.out;
  INTARSIA_TRY(result.outputs, build::read_outputs(setting.manifest, run));
  if (std::filesystem::exists(profile)) {
    INTARSIA_TRY(const std::vector<uint8_t> text, read_file(profile));
    result.device_profile.assign(text.begin(), text.end());
  }
  if (start.count && request.count_cycles) {
    INTARSIA_TRY(result.cycles,
                 build::read_run_cycles(setting, request.program, start.count->output));
    for (const RunCycles& cycles : result.cycles)
      result.instructions.push_back(cycles.instructions);
  } else if (start.count) {
    INTARSIA_TRY(result.instructions, board::read_counts(start.count->output));
  }
  return result;
}

}  // namespace

Result<ExecuteResult> execute(const BuildSetting& setting, const ExecuteRequest& request,
                              const std::string& work_folder) {
  if (setting.board.probe) return build::execute_on_probe(setting, request, work_folder);
  return execute_program(setting, request, nullptr, work_folder);
}

Result<ExecuteResult> build::execute_package(const BuildSetting& setting,
                                             const ExecuteRequest& request,
                                             const PackageRun& package,
                                             const std::string& work_folder) {
  return execute_program(setting, request, &package, work_folder);
}

}  // namespace intarsia
