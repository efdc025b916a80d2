#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"

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

void print_board(const board::Board& board) {
  fmt::print("{}: {}\n", board.name, board.summary);
  for (const board::Core& core : board.cores) fmt::print("  core {}\n", core.name);
  for (const board::Memory& memory : board.memories)
    fmt::print("  {:<8} {:<5} {:#010x} {:>10} bytes, {} for a model\n", memory.name,
               memory.kind == board::MemoryKind::Flash ? "flash" : "ram", memory.base, memory.size,
               board::available(board, memory));
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
    boards.push_back(std::move(board).value());
  }
  if (json) {
    Json list = Json::array();
    for (const board::Board& board : boards) list.push_back(board_json(board));
    fmt::print("{}\n", list.dump(2));
    return kDone;
  }
  for (const board::Board& board : boards)
    if (name.empty())
      fmt::print("{:<14} {}\n", board.name, board.summary);
    else
      print_board(board);
  return kDone;
}

}  // namespace intarsia::cli
