#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "support/amounts.h"
#include "text_table.h"

namespace intarsia::cli {
namespace {

using Json = nlohmann::ordered_json;

Json board_json(const board::Board& board) {
  Json memories = Json::array(), cores = Json::array();
  for (const board::Core& core : board.cores) cores.push_back(core.name);
  for (const board::Memory& memory : board.memories)
    memories.push_back({{"name", memory.name},
                        {"kind", memory.kind == board::MemoryKind::Flash ? "flash" : "ram"},
                        {"base", memory.base},
                        {"size", memory.size},
                        {"available", board::available(board, memory)},
                        {"cycles_per_access", memory.cycles_per_access}});
  return {{"name", board.name},
          {"summary", board.summary},
          {"cores", std::move(cores)},
          {"memories", std::move(memories)},
          {"emulated", board.emulator.has_value()}};
}

// Cores that no target of this build is for.
Diagnostics wrong_cores(const Context& context, const board::Board& board) {
  Diagnostics problems;
  const auto check = [&](const char* key, const std::vector<board::Core>& cores) {
    for (size_t i = 0; i < cores.size(); ++i) {
      const std::string& more = cores[i].attributes;
      const Result<TargetSpec> target = parse_target(
          context.registry.catalogue(), more.empty() ? cores[i].name : cores[i].name + " " + more,
          fmt::format("{}/board.json: {}[{}]", board.folder, key, i));
      if (!target.ok()) problems.append(target.error());
    }
  };
  check("cores", board.cores);
  check("also_runs", board.also_runs);
  return problems;
}

// What its programs are run in.
std::string runs_in(const board::Board& board) {
  if (board.native()) return "this machine, simulated devices too";
  if (!board.emulator) return "nothing from here: 'build' makes a program for a debug probe";
  return fmt::format("{} -M {}{}", board.emulator->program, board.emulator->machine,
                     board.takes_simulated_devices() ? ", simulated devices beside it" : "");
}

void print_board(const board::Board& board) {
  const Terminal& terminal = output_terminal();
  fmt::print("{}: {}\n", tinted(terminal, Tint::Heading, board.name), board.summary);
  std::vector<TableRow> rows;
  for (const board::Core& core : board.cores) rows.push_back({{"core", Tint::Name}, {core.name}});
  rows.push_back({{"runs in", Tint::Name}, {runs_in(board)}});
  fmt::print("{}", table_text(rows, terminal, {.indent = 2}));
  if (board.memories.empty()) return;
  rows = {{{"memory"}, {"kind"}, {"base"}, {"bytes"}, {""}, {"for a model"}, {""}}};
  for (const board::Memory& memory : board.memories) {
    const auto free = static_cast<int64_t>(board::available(board, memory));
    rows.push_back({{memory.name, Tint::Name},
                    {memory.kind == board::MemoryKind::Flash ? "flash" : "ram"},
                    {fmt::format("{:#010x}", memory.base)},
                    {fmt::format("{}", memory.size)},
                    {readable_room(static_cast<int64_t>(memory.size))},
                    {fmt::format("{}", free)},
                    {readable_room(free)}});
  }
  fmt::print("{}",
             table_text(rows, terminal, {.indent = 2, .has_heading = true, .right = {3, 4, 5, 6}}));
}

}  // namespace

int run_boards(Context& context, const std::string& name, bool json) {
  const Result<std::vector<std::string>> folders = context.board_folders();
  if (!folders.ok()) return fail(folders.error());
  std::vector<std::string> names = {name};
  if (name.empty()) {  // by folder; what has the name of an earlier one is not found
    names.clear();
    for (const std::string& folder : *folders)
      for (std::string& each : board::list_boards(folder))
        if (std::find(names.begin(), names.end(), each) == names.end())
          names.push_back(std::move(each));
  }
  std::vector<board::Board> boards;
  for (const std::string& each : names) {
    Result<board::Board> board = board::find_board(*folders, each);
    if (!board.ok()) return fail(board.error());
    // One that is looked at is looked at closely; the list shows what there is.
    if (const Diagnostics problems = wrong_cores(context, *board);
        !name.empty() && !problems.empty())
      return fail(problems);
    boards.push_back(std::move(board).value());
  }
  if (json) {
    Json list = Json::array();
    for (const board::Board& board : boards) list.push_back(board_json(board));
    fmt::print("{}\n", list.dump(2));
    return kDone;
  }
  if (!name.empty()) {
    print_board(boards.front());
    return kDone;
  }
  std::vector<TableRow> rows;
  for (const board::Board& board : boards)
    rows.push_back({{board.name, Tint::Name}, {board.summary}});
  fmt::print("{}", table_text(rows, output_terminal()));
  return kDone;
}

}  // namespace intarsia::cli
