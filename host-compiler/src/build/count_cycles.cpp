#include "build/count_cycles.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "board/board_firmware.h"
#include "support/c_identifier.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::build {
namespace {

namespace fs = std::filesystem;

// A line of the plugin's table: CORE("name", Core, pipeline, "architecture").
struct TimedCore {
  std::string name, architecture;
};

Result<std::vector<TimedCore>> cores_with_timings(const std::string& resource_root) {
  INTARSIA_TRY(const std::string table,
               read_text_file(resource_root + "/boards/common/qemu_plugin/core_timings.def"));
  static const std::regex core("\nCORE\\(\"([^\"]*)\",[^\"\n]*\"([^\"]*)\"\\)");
  std::vector<TimedCore> cores;
  for (std::sregex_iterator found(table.begin(), table.end(), core), end; found != end; ++found)
    cores.push_back({(*found)[1], (*found)[2]});
  return cores;
}

// Refuses a core that is not in the table.
Result<TimedCore> timed_core(const BuildSetting& setting) {
  INTARSIA_TRY(const std::vector<TimedCore> cores, cores_with_timings(setting.resource_root));
  std::vector<std::string> known;
  for (const TimedCore& core : cores) {
    if (core.name == setting.core.name) return core;
    known.push_back(core.name);
  }
  return Diagnostics("--count-cycles", fmt::format("no timings are known of {}", setting.core.name),
                     fmt::format("they are known of {}", fmt::join(known, ", ")));
}

Result<std::vector<board::CodeInstruction>> code_of(const BuildSetting& setting,
                                                    const std::string& program) {
  INTARSIA_TRY(const TimedCore core, timed_core(setting));
  std::vector<std::string> command = {disassembler_of(setting.board.compiler)};
  for (std::string& argument : board::disassembler_arguments(core.architecture, program))
    command.push_back(std::move(argument));
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command));
  if (!outcome.succeeded())
    return Diagnostics("--count-cycles",
                       fmt::format("{} cannot read the program:\n{}", command[0], outcome.err),
                       "install the packages of the set-up script");
  return board::parse_disassembly(outcome.out);
}

CycleEstimate estimate_of(const board::EstimatedCycles& cycles) {
  return {cycles.optimistic, cycles.nominal, cycles.pessimistic};
}

}  // namespace

std::string disassembler_of(const std::string& compiler) {
  const size_t name = compiler.rfind("gcc");
  return name == std::string::npos ? "objdump" : compiler.substr(0, name) + "objdump";
}

Result<std::vector<board::OperatorLines>> operators_of(const BuildSetting& setting) {
  const std::string hook = upper_case(setting.manifest.model) + "_TRACE";
  std::vector<board::OperatorLines> operators;
  for (const std::string& source : setting.manifest.sources) {
    const std::string path = fs::absolute(fs::path(setting.folder) / source).string();
    INTARSIA_TRY(const std::string text, read_text_file(path));
    const std::vector<board::OperatorLines> lines = board::operator_lines(path, text, hook);
    operators.insert(operators.end(), lines.begin(), lines.end());
  }
  return operators;
}

Result<void> write_cycle_listing(const BuildSetting& setting, const std::string& program,
                                 const std::string& path) {
  INTARSIA_TRY(const auto code, code_of(setting, program));
  INTARSIA_TRY(const auto operators, operators_of(setting));
  return write_file(path, std::string_view(board::cycle_listing(setting.board, code, operators)));
}

Result<std::vector<RunCycles>> read_run_cycles(const BuildSetting& setting,
                                               const std::string& program,
                                               const std::string& path) {
  INTARSIA_TRY(const std::vector<board::CycleCount> counts, board::read_cycle_counts(path));
  INTARSIA_TRY(const auto operators, operators_of(setting));
  std::map<int32_t, std::string> names;
  for (const board::OperatorLines& lines : operators)
    names[lines.index] =
        lines.starts_stream ? fmt::format("(driver, up to {})", lines.name) : lines.name;
  std::vector<RunCycles> runs;
  for (const board::CycleCount& count : counts) {
    if (count.unknown) {
      INTARSIA_TRY(const auto code, code_of(setting, program));
      const auto at = std::find_if(code.begin(), code.end(), [&](const auto& instruction) {
        return instruction.address == *count.unknown;
      });
      return Diagnostics("--count-cycles",
                         fmt::format("no timing is known of the instruction {} on {}",
                                     at == code.end() ? "?" : at->mnemonic, setting.core.name),
                         "count instructions instead, with --count-instructions");
    }
    RunCycles run{count.instructions, estimate_of(count.cycles), {}};
    for (const board::CycleCount::Part& part : count.parts)
      run.operators.push_back(
          {part.index < 0 ? "" : names[part.index], part.instructions, estimate_of(part.cycles)});
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace intarsia::build

namespace intarsia {

Result<void> check_cycles_are_countable(const board::Board& board) {
  if (board.emulator && !board.native()) return {};
  return Diagnostics(
      "--count-cycles",
      fmt::format("cycles are counted in an emulator, and board {} has none", board.name),
      "choose another board with --board");
}

Result<void> prepare_to_count_cycles(BuildSetting& setting) {
  INTARSIA_TRY_VOID(check_cycles_are_countable(setting.board));
  if (!setting.manifest.parts.empty())
    return Diagnostics("--count-cycles", "a model in several parts runs on several cores at a time",
                       "count each part's cycles in a firmware of its own");
  INTARSIA_TRY_VOID(build::timed_core(setting));
  setting.more_flags.push_back("-g");
  return {};
}

}  // namespace intarsia
