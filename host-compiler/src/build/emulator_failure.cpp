#include "build/emulator_failure.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace intarsia::build {
namespace {

std::string place_in(const board::Board& board, const char* key) {
  return fmt::format("{}/board.json: {}", board.folder, key);
}

std::string memories_text(const board::Board& board) {
  std::string text;
  for (const board::Memory& memory : board.memories)
    text += fmt::format("{}'{}' at {:#010x}", text.empty() ? "" : ", ", memory.name, memory.base);
  return text;
}

// A machine that the emulator does not have.
std::optional<Diagnostics> unknown_machine(const board::Board& board) {
  const board::Emulator& emulator = *board.emulator;
  const Result<ProcessOutcome> help = run_process({emulator.program, "-M", "help"});
  if (!help.ok() || !help->succeeded()) return std::nullopt;
  const std::vector<std::string> machines = machines_in(help->out);
  // Properties follow behind a comma.
  const std::string name = emulator.machine.substr(0, emulator.machine.find(','));
  if (machines.empty() || std::find(machines.begin(), machines.end(), name) != machines.end())
    return std::nullopt;
  const std::string near = nearest_name(name, machines);
  return Diagnostics(place_in(board, "run: machine"),
                     fmt::format("{} has no machine '{}'", emulator.program, name),
                     near.empty() ? fmt::format("'{} -M help' lists its machines", emulator.program)
                                  : fmt::format("did you mean '{}'?", near));
}

bool has_text(const ProcessOutcome& outcome, std::string_view words) {
  return outcome.err.find(words) != std::string::npos ||
         outcome.out.find(words) != std::string::npos;
}

}  // namespace

std::vector<std::string> machines_in(const std::string& help) {
  std::vector<std::string> machines;
  std::istringstream lines(help);
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line))
    if (const std::string name = line.substr(0, line.find(' ')); !name.empty())
      machines.push_back(name);
  return machines;
}

std::optional<Diagnostics> emulator_failure(const board::Board& board,
                                            const ProcessOutcome& outcome) {
  if (!board.emulator) return std::nullopt;
  if (std::optional<Diagnostics> unknown = unknown_machine(board)) return unknown;
  // What QEMU says of a core that can fetch neither its first instruction nor its fault handlers, and of a program
  // that lies where the machine has something else.
  if (!has_text(outcome, "Lockup") && !has_text(outcome, "ROM regions are overlapping") &&
      !has_text(outcome, "Could not load kernel"))
    return std::nullopt;
  return Diagnostics(
      place_in(board, "memories"),
      fmt::format("machine '{}' of {} cannot start a program that lies in {}",
                  board.emulator->machine, board.emulator->program, memories_text(board)),
      "give every 'base' as the machine has it; the memory of the role 'code' is where it starts");
}

}  // namespace intarsia::build
