#include "requests/board_list.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace intarsia::requests {
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
Diagnostics wrong_cores(const Environment& environment, const board::Board& board) {
  Diagnostics problems;
  const auto check = [&](const char* key, const std::vector<board::Core>& cores) {
    for (size_t i = 0; i < cores.size(); ++i) {
      const std::string& more = cores[i].attributes;
      const Result<TargetSpec> target =
          parse_target(environment.registry.catalogue(),
                       more.empty() ? cores[i].name : cores[i].name + " " + more,
                       fmt::format("{}/board.json: {}[{}]", board.folder, key, i));
      if (!target.ok()) problems.append(target.error());
    }
  };
  check("cores", board.cores);
  check("also_runs", board.also_runs);
  return problems;
}

}  // namespace

Result<std::vector<board::Board>> boards_named(const Environment& environment,
                                               const std::string& name) {
  INTARSIA_TRY(const std::vector<std::string> folders, environment.board_folders());
  std::vector<std::string> names = {name};
  if (name.empty()) {  // by folder; what has the name of an earlier one is not found
    names.clear();
    for (const std::string& folder : folders)
      for (std::string& each : board::list_boards(folder))
        if (std::find(names.begin(), names.end(), each) == names.end())
          names.push_back(std::move(each));
  }
  std::vector<board::Board> boards;
  for (const std::string& each : names) {
    INTARSIA_TRY(board::Board board, board::find_board(folders, each));
    // One that is looked at is looked at closely; the list shows what there is.
    if (const Diagnostics problems = wrong_cores(environment, board);
        !name.empty() && !problems.empty())
      return problems;
    boards.push_back(std::move(board));
  }
  return boards;
}

std::string boards_json(const std::vector<board::Board>& boards) {
  Json list = Json::array();
  for (const board::Board& board : boards) list.push_back(board_json(board));
  return list.dump(2) + "\n";
}

}  // namespace intarsia::requests
