#include "build/run_on_probe.h"

#include <algorithm>

#include <fmt/format.h>

#include "board/board_firmware.h"
#include "build/operator_at.h"
#include "debug_probe/session.h"
#include "debug_probe/socket_link.h"
#include "support/files.h"

namespace intarsia::build {
namespace {

using debug_probe::Ending;
using debug_probe::FaultState;
using debug_probe::HostFiles;
using debug_probe::SessionResult;

constexpr std::chrono::milliseconds kConnectLimit{5'000};

constexpr const char* kRunFile = "run";
constexpr const char* kReport = "report";
constexpr const char* kResults = "results";

std::string text_of(const std::vector<uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

// What the firmware is to do, with names of its own for the files: they are in our memory.
Result<HostFiles> files_for(const BuildSetting& setting, const ExecuteRequest& request,
                            board::RunRequest& run) {
  HostFiles files;
  run.repeat = request.repeat;
  run.keep_all = request.keep_all;
  run.report = kReport;
  if (!request.results_file.empty()) run.results = kResults;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    run.inputs.push_back(fmt::format("in{}", i));
    files.read[run.inputs.back()] = text_of(request.inputs[i]);
  }
  for (size_t i = 0; i < setting.manifest.outputs.size(); ++i) {
    run.outputs.push_back(fmt::format("out{}", i));
    files.written[run.outputs.back()];
  }
  files.written[kReport];
  files.written[kResults];
  INTARSIA_TRY(files.read[kRunFile], board::run_file_text(run));
  files.command_line = fmt::format("intarsia {}", kRunFile);
  return files;
}

// "in operator 3 'conv_2d'", of the innermost place that belongs to one.
std::string operator_text(const BuildSetting& setting, const std::string& program,
                          const FaultState& state) {
  const Result<OperatorMap> map = OperatorMap::of(setting, program);
  if (!map.ok()) return {};
  const board::OperatorLines* found = map->at(state.registers[debug_probe::kPc]);
  if (found == nullptr) found = map->before(state.registers[debug_probe::kLr] & ~1u);
  for (size_t i = 0; i < state.returns.size() && found == nullptr; ++i)
    found = map->before(state.returns[i]);
  return found == nullptr ? "outside of the model's operators"
                          : fmt::format("in operator {} '{}'", found->index, found->name);
}

Diagnostics trouble(const BuildSetting& setting, const ExecuteRequest& request,
                    const board::ElfImage& image, const SessionResult& ran) {
  const std::string where =
      fmt::format("{} on board {}", setting.manifest.model, setting.board.name);
  const FaultState& state = *ran.state;
  std::string what, hint;
  if (ran.ending == Ending::Faulted) {
    const std::string reason = reason_of(state);
    what = board::exit_status_meaning(14) + (reason.empty() ? "" : fmt::format(" ({})", reason));
    hint =
        "the registers are those at the fault; 'intarsia verify' runs the same code on this "
        "machine too";
  } else if (ran.ending == Ending::TimedOut) {
    what = fmt::format("the program was stopped after {} s",
                       std::chrono::duration<double>(setting.time_limit).count());
    hint = "if it is slow rather than stuck, give it longer with --timeout SECONDS";
  } else {
    what = fmt::format("the core stopped where nobody stopped it (signal {})", ran.signal);
    hint = "end other debuggers of the board, and breakpoints that they left";
  }
  const bool has_place = ran.ending != Ending::Faulted || state.has_frame;
  what += fmt::format(
      ", {} {}\n{}", operator_text(setting, request.program, state),
      has_place ? "at " + debug_probe::place_text(image, state.registers[debug_probe::kPc])
                : "at a place that is lost with the stack",
      registers_text(state));
  while (what.ends_with('\n')) what.pop_back();
  if (!ran.console.empty()) what += "\n" + ran.console;
  return Diagnostics(where, std::move(what), std::move(hint));
}

Result<ExecuteResult> result_of(const ExecuteRequest& request, const board::RunRequest& run,
                                HostFiles& files, SessionResult&& ran,
                                const std::string& work_folder) {
  const std::string report_path = work_folder + "/run_report.json";
  INTARSIA_TRY_VOID(write_file(report_path, std::string_view(files.written[kReport])));
  INTARSIA_TRY(const board::RunReport report, board::read_run_report(report_path));
  if (!request.results_file.empty())
    INTARSIA_TRY_VOID(write_file(request.results_file, std::string_view(files.written[kResults])));
  ExecuteResult result;
  result.stack_run = report.stack_run;
  result.stack_total = report.stack_total;
  result.console = std::move(ran.console);
  for (const std::string& name : run.outputs) {
    const std::string& bytes = files.written[name];
    result.outputs.emplace_back(bytes.begin(), bytes.end());
  }
  result.counted_cycles = std::move(ran.cycles);
  result.counted_cycles_note = std::move(ran.cycles_note);
  return result;
}

}  // namespace

Result<ExecuteResult> execute_on_probe(const BuildSetting& setting, const ExecuteRequest& request,
                                       const std::string& work_folder) {
  board::RunRequest run;
  INTARSIA_TRY(HostFiles files, files_for(setting, request, run));
  debug_probe::SessionRequest session;
  session.reset = setting.board.probe->reset;
  INTARSIA_TRY(session.image, board::read_elf(request.program));
  const auto clock = setting.board.clocks_mhz.find("cpu");
  if (clock != setting.board.clocks_mhz.end()) session.clock_mhz = clock->second;
  session.time_limit = setting.time_limit;
  if (setting.on_progress)
    session.on_progress = [&](const char* what) { setting.on_progress({what}); };
  INTARSIA_TRY(const std::unique_ptr<debug_probe::Link> link,
               debug_probe::connect_to(*setting.board.probe, kConnectLimit));
  INTARSIA_TRY(SessionResult ran, debug_probe::run_session(*link, session, files));
  if (ran.ending != Ending::Exited) return trouble(setting, request, session.image, ran);
  if (ran.exit_status != 0)
    return Diagnostics(fmt::format("{} on board {}", setting.manifest.model, setting.board.name),
                       fmt::format("the program ended with exit status {}: {}{}{}", ran.exit_status,
                                   board::exit_status_meaning(ran.exit_status),
                                   ran.console.empty() ? "" : "\n", ran.console),
                       "'intarsia explain-error CODE' explains status codes of the runtime");
  return result_of(request, run, files, std::move(ran), work_folder);
}

}  // namespace intarsia::build
