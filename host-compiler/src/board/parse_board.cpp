// board.json as a Board: types and spelling here, sense in validate_board.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "board/validate_board.h"
#include "intarsia/board.h"
#include "support/files.h"
#include "support/json_reader.h"
#include "support/strict_json.h"

namespace intarsia::board {
namespace {

using nlohmann::json;

MemoryKind parse_kind(JsonReader& reader, Diagnostics& problems) {
  const std::string kind = reader.text("kind");
  if (kind == "flash") return MemoryKind::Flash;
  if (!kind.empty() && kind != "ram") {
    problems.add(reader.where(), fmt::format("unknown kind '{}'", kind), "write flash or ram");
  }
  return MemoryKind::Ram;
}

// A whole number within bounds; the least of them where it is not.
int64_t number_within(uint64_t value, const char* key, uint64_t least, uint64_t most,
                      const std::string& where, Diagnostics& problems) {
  if (value < least || value > most) {
    problems.add(where, fmt::format("'{}' is not between {} and {}", key, least, most));
    return static_cast<int64_t>(least);
  }
  return static_cast<int64_t>(value);
}

MemorySpeed parse_speed(const json& value, const std::string& where, Diagnostics& problems) {
  JsonReader reader(value, where, problems);
  const auto number = [&](const char* key, uint64_t least, uint64_t most) {
    return number_within(reader.amount(key), key, least, most, where, problems);
  };
  MemorySpeed speed;
  speed.bytes_per_second = number("bytes_per_second", 1000, 1'000'000'000'000);
  speed.read_latency_ns = number("read_latency_ns", 0, 1'000'000);
  speed.write_latency_ns = number("write_latency_ns", 0, 1'000'000);
  speed.burst_bytes = number("burst_bytes", 1, 4096);
  reader.finish();
  return speed;
}

Memory parse_memory(const json& value, const std::string& where, Diagnostics& problems) {
  JsonReader reader(value, where, problems);
  Memory memory;
  memory.name = reader.text("name");
  memory.kind = parse_kind(reader, problems);
  memory.base = reader.amount("base");
  memory.size = reader.amount("size");
  memory.reserved = reader.optional_amount("reserved", 0);
  const uint64_t cycles = reader.optional_amount("cycles_per_access", 1);
  if (cycles < 1 || cycles > 10000) {
    problems.add(where, "'cycles_per_access' is not between 1 and 10000");
  } else {
    memory.cycles_per_access = static_cast<int32_t>(cycles);
  }
  memory.accessible_by = reader.optional_texts("accessible_by");
  memory.loaded = reader.optional_flag("loaded");
  if (const json* speed = reader.optional_object("speed"))
    memory.speed = parse_speed(*speed, where + ": speed", problems);
  reader.finish();
  return memory;
}

std::map<std::string, int64_t> parse_clocks(const json& value, const std::string& where,
                                            Diagnostics& problems) {
  JsonReader reader(value, where, problems);
  std::map<std::string, int64_t> clocks;
  for (const auto& [name, clock] : value.items())
    clocks[name] =
        number_within(reader.amount(name.c_str()), name.c_str(), 1, 10000, where, problems);
  reader.finish();
  return clocks;
}

Core parse_core(const json& value, const std::string& where, Diagnostics& problems) {
  JsonReader reader(value, where, problems);
  Core core;
  core.name = reader.text("name");
  core.flags = reader.texts("flags");
  core.attributes = reader.optional_text("attributes");
  reader.finish();
  return core;
}

template <typename Item>
std::vector<Item> parse_list(const json* values, const std::string& where,
                             Item (*parse)(const json&, const std::string&, Diagnostics&),
                             Diagnostics& problems) {
  std::vector<Item> items;
  if (values == nullptr) return items;
  for (const json& value : *values) {
    items.push_back(parse(value, fmt::format("{}[{}]", where, items.size()), problems));
  }
  return items;
}

Roles parse_roles(const json& value, const std::string& where, Diagnostics& problems) {
  JsonReader reader(value, where, problems);
  Roles roles;
  roles.code = reader.text("code");
  roles.constants = reader.text_or_texts("constants");
  roles.data = reader.text("data");
  roles.stack = reader.text("stack");
  roles.streams = reader.optional_text("streams");
  roles.activations = reader.texts("activations");
  reader.finish();
  return roles;
}

// Where devices find their streams when the board does not say: in the first memory of constants that not only the CPU
// reaches.
std::string memory_of_streams(const Board& board) {
  for (const std::string& name : board.roles.constants) {
    const Memory* memory = board.find_memory(name);
    if (memory == nullptr || !memory->is_cpus_alone()) return name;
  }
  return board.roles.constants.empty() ? "" : board.roles.constants.front();
}

Emulator parse_emulator(const json& value, const std::string& where, Port port,
                        Diagnostics& problems) {
  JsonReader reader(value, where, problems);
  Emulator emulator;
  emulator.program = reader.text("emulator");
  // A process has no machine around it.
  if (port != Port::Stdio) emulator.machine = reader.text("machine");
  emulator.arguments = reader.optional_texts("arguments");
  emulator.shared_memory = reader.optional_text("shared_memory");
  emulator.device_window = reader.optional_amount("device_window", 0);
  emulator.device_window_size = reader.optional_amount("device_window_size", 0);
  reader.finish();
  return emulator;
}

// "HOST:PORT", of which a host may be left out; one with colons is in brackets.
void parse_place(std::string_view text, const std::string& where, Probe& probe,
                 Diagnostics& problems) {
  const size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), probe.port);
  const bool has_port = problem == std::errc() && end == port.data() + port.size() &&
                        probe.port >= 1 && probe.port <= 65535;
  if (!has_port || host.find_first_of(in_brackets ? " /" : " /:") != std::string_view::npos)
    problems.add(where, fmt::format("'gdb' is '{}', which is not HOST:PORT", text),
                 "write where the debug probe's GDB server listens: localhost:3333 is OpenOCD's");
  probe.host = host.empty() ? "localhost" : host;
}

Probe parse_probe(const json& value, const std::string& where, Diagnostics& problems) {
  JsonReader reader(value, where, problems);
  Probe probe;
  const std::string place = reader.text("gdb");
  if (value["gdb"].is_string()) parse_place(place, where, probe, problems);
  probe.reset = reader.optional_texts("reset");
  for (const std::string& command : probe.reset)
    if (command.empty() || command == "$") problems.add(where, "a command in 'reset' is empty");
  if (value.contains("emulator"))
    problems.add(where, "both 'gdb' and 'emulator' are there: a program runs in one of them",
                 "make a board of its own for the other");
  else
    reader.finish();
  return probe;
}

Port parse_port(JsonReader& reader, Diagnostics& problems) {
  const std::string port = reader.text("port");
  if (port == "stdio") return Port::Stdio;
  if (!port.empty() && port != "semihosting") {
    problems.add(reader.where(), fmt::format("unknown port '{}'", port),
                 "write semihosting, or stdio for the machine itself");
  }
  return Port::Semihosting;
}

}  // namespace

Result<Board> parse_board(std::string_view text, const std::string& where) {
  INTARSIA_TRY(const json root, parse_strict_json(text, where));
  Diagnostics problems;
  JsonReader reader(root, where, problems);
  const auto at = [&where](const char* key) { return fmt::format("{}: {}", where, key); };
  Board board;
  board.name = reader.text("name");
  board.summary = reader.text("summary");
  board.compiler = reader.text("compiler");
  board.zephyr_names = reader.optional_texts("zephyr");
  board.port = parse_port(reader, problems);
  board.linker_script = reader.optional_text("linker_script");
  board.startup = reader.optional_texts("startup");
  board.cores = parse_list(reader.array("cores"), at("cores"), parse_core, problems);
  board.also_runs =
      parse_list(reader.optional_array("also_runs"), at("also_runs"), parse_core, problems);
  board.memories = parse_list(reader.array("memories"), at("memories"), parse_memory, problems);
  if (const json* roles = reader.object("roles")) {
    board.roles = parse_roles(*roles, at("roles"), problems);
    if (board.roles.streams.empty()) board.roles.streams = memory_of_streams(board);
  }
  board.stack_size = reader.amount("stack_size");
  board.cache_line = reader.optional_amount("cache_line", 0);
  if (const json* clocks = reader.optional_object("clocks_mhz"))
    board.clocks_mhz = parse_clocks(*clocks, at("clocks_mhz"), problems);
  if (const json* run = reader.optional_object("run")) {
    if (run->contains("gdb"))
      board.probe = parse_probe(*run, at("run"), problems);
    else
      board.emulator = parse_emulator(*run, at("run"), board.port, problems);
  }
  reader.finish();
  // Checking sense on half-read values would report consequences of what is reported already.
  if (problems.empty()) validate_board(board, where, problems);
  if (!problems.empty()) return problems;
  return board;
}

namespace {

// Files that a board brings are in its folder.
Result<void> check_files(const Board& board, const std::string& where) {
  Diagnostics problems;
  const auto check = [&](const char* key, const std::string& name, const char* otherwise) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::path(board.folder) / name, error))
      problems.add(fmt::format("{}: {}", where, key),
                   fmt::format("there is no file '{}' in the board's folder", name),
                   fmt::format("write it, or leave the key out: {}", otherwise));
  };
  if (!board.linker_script.empty())
    check("linker_script", board.linker_script, "a script is made from the memories then");
  for (const std::string& name : board.startup)
    check("startup", name, "the boards' common startup code is taken then");
  if (!problems.empty()) return problems;
  return {};
}

}  // namespace

Result<Board> load_board(const std::string& path) {
  INTARSIA_TRY(const std::string text, read_text_file(path));
  INTARSIA_TRY(Board board, parse_board(text, path));
  const std::filesystem::path folder =
      std::filesystem::absolute(path).lexically_normal().parent_path();
  const std::string name = folder.filename().string();
  if (!name.empty() && name != board.name) {
    return Diagnostics(
        path, fmt::format("the board is called '{}' but its folder is '{}'", board.name, name),
        "give both the same name");
  }
  board.folder = folder.string();
  INTARSIA_TRY_VOID(check_files(board, path));
  return board;
}

}  // namespace intarsia::board
