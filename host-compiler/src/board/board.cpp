#include "intarsia/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "board/process_board.h"

namespace intarsia::board {
namespace fs = std::filesystem;

const Memory* Board::find_memory(std::string_view memory_name) const {
  const auto found = std::find_if(memories.begin(), memories.end(),
                                  [&](const Memory& memory) { return memory.name == memory_name; });
  return found == memories.end() ? nullptr : &*found;
}

std::vector<std::string> list_boards(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (fs::is_regular_file(entry->path() / "board.json", ignored)) {
      names.push_back(entry->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text == "." || text == "..";
}

Result<Board> board_at(const std::string& text) {
  std::error_code error;
  fs::path path = text;
  if (fs::is_directory(path, error)) path /= "board.json";
  if (fs::is_regular_file(path, error)) return load_board(path.string());
  return Diagnostics("--board",
                     fs::is_directory(text, error)
                         ? fmt::format("there is no board.json in the folder '{}'", text)
                         : fmt::format("there is no folder '{}'", text),
                     "a text with '/' is the path of a board's folder; 'intarsia boards' lists the "
                     "boards that have a name");
}

}  // namespace

Result<Board> find_board(const std::string& directory, const std::string& name) {
  return find_board(std::span(&directory, 1), name);
}

Result<Board> find_board(std::span<const std::string> directories,
                         const std::string& name_or_path) {
  if (is_path(name_or_path)) return board_at(name_or_path);
  std::error_code error;
  for (const std::string& directory : directories) {
    const fs::path file = fs::path(directory) / name_or_path / "board.json";
    if (!name_or_path.empty() && fs::is_regular_file(file, error)) return load_board(file.string());
  }
  std::vector<std::string> all;
  for (const std::string& directory : directories) {
    const std::vector<std::string> names = list_boards(directory);
    all.insert(all.end(), names.begin(), names.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const std::string meant = nearest_name(name_or_path, all);
  std::string hint = meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant);
  if (fs::is_regular_file(fs::path(name_or_path) / "board.json", error))
    hint = fmt::format("for the folder of that name write './{}'; ", name_or_path);
  hint += all.empty() ? fmt::format("there are no boards in {}", fmt::join(directories, ", "))
                      : fmt::format("boards: {}", fmt::join(all, ", "));
  return Diagnostics("--board", fmt::format("there is no board '{}'", name_or_path), hint);
}

Result<Core> core_for(const Board& board, const std::string& core_name) {
  if (is_this_machine(board)) return Core{core_name, {}};
  std::vector<std::string> names;
  for (const std::vector<Core>* list : {&board.cores, &board.also_runs}) {
    for (const Core& core : *list) {
      if (core.name == core_name) return core;
      names.push_back(core.name);
    }
  }
  return Diagnostics(
      fmt::format("--board {}", board.name),
      fmt::format("the board does not run code for {}", core_name),
      fmt::format("choose a target for {}, or another board", fmt::join(names, " or ")));
}

uint64_t available(const Board& board, const Memory& memory) {
  uint64_t taken = memory.reserved;
  if (memory.name == board.roles.stack) taken += board.stack_size;
  return memory.size - taken;
}

namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

MemoryPool pool_of(const Board& board, const Memory& memory) {
  MemoryPool pool;
  pool.name = memory.name;
  pool.size = board.native() ? 0 : static_cast<int64_t>(available(board, memory));
  const auto constants = std::ranges::find(board.roles.constants, memory.name);
  pool.holds_constants = constants != board.roles.constants.end();
  if (pool.holds_constants)
    pool.constants_order = static_cast<int32_t>(constants - board.roles.constants.begin());
  pool.read_only = memory.kind == MemoryKind::Flash ||
                   (pool.holds_constants && !is_among(board.roles.activations, memory.name));
  pool.cycles_per_access = memory.cycles_per_access;
  pool.accessible_by = memory.accessible_by;
  pool.alignment = std::max(pool.alignment, static_cast<int32_t>(board.cache_line));
  pool.speed = memory.speed;
  return pool;
}

}  // namespace

MemoryMap memory_map(const Board& board) {
  MemoryMap map;
  map.open = board.native();
  for (const std::string& name : board.roles.activations) {
    const Memory* memory = board.find_memory(name);
    INTARSIA_CHECK(memory != nullptr, "a role of a loaded board names one of its memories");
    map.pools.push_back(pool_of(board, *memory));
  }
  for (const Memory& memory : board.memories) {
    const bool is_planned = is_among(board.roles.activations, memory.name);
    if (!is_planned &&
        (memory.kind == MemoryKind::Flash || is_among(board.roles.constants, memory.name)))
      map.pools.push_back(pool_of(board, memory));
  }
  if (const Memory* streams = board.find_memory(board.roles.streams); streams && !board.native())
    map.streams = pool_of(board, *streams);
  map.clocks_mhz = board.clocks_mhz;
  return map;
}

}  // namespace intarsia::board
