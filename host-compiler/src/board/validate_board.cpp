#include "board/validate_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "board/process_board.h"
#include "support/c_identifier.h"

namespace intarsia::board {
namespace {

constexpr uint64_t kAddressSpace = uint64_t{1} << 32;
constexpr uint64_t kAlignment = 16;  // what the linker script aligns to
constexpr uint64_t kLineMax = 1024;

bool is_identifier(const std::string& name) {
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Section names of our own begin with the same prefix; `data` and `bss` have symbols for their ends as every memory has;
// the rest are words of GNU ld in the block that lists memories.
constexpr std::array kTakenByScript = {
    "vectors", "weights", "constants", "streams", "unknown", "data", "bss", "o", "org", "l", "len"};

// A memory is a variable in the run of a model, beside these, a member of its resources and the middle of a macro.
bool taken_by_code(const std::string& name) {
  for (const char* variable : {"model", "pools", "status", "name", "package"})
    if (name == variable) return true;
  for (const std::string_view numbered : {"iteration", "device", "input", "output"})
    if (name.starts_with(numbered) && name.size() > numbered.size() &&
        name.find_first_not_of("0123456789", numbered.size()) == std::string::npos)
      return true;
  return is_c_keyword(name);
}

// One board's checks; each reports with the place in the file.
class Validator {
 public:
  Validator(const Board& board, const std::string& where, Diagnostics& problems)
      : board_(board), where_(where), problems_(problems) {}

  void run() {
    check_cores();
    check_cache();
    check_memories();
    check_overlaps();
    check_roles();
    check_stack();
    check_files();
    check_emulator();
  }

 private:
  void complain(const std::string& place, std::string what, std::string hint = {}) {
    problems_.add(fmt::format("{}: {}", where_, place), std::move(what), std::move(hint));
  }

  void check_cores() {
    if (is_this_machine(board_)) {
      if (!board_.also_runs.empty())
        complain("also_runs",
                 "without 'cores' the board is the machine itself, which takes any core",
                 "name in 'cores' the one that a program is for if nothing is said");
      return;
    }
    if (board_.cores.empty()) complain("cores", "a board has at least one core");
    std::vector<std::string> seen;
    for (const std::vector<Core>* list : {&board_.cores, &board_.also_runs}) {
      for (const Core& core : *list) {
        // Two equal cores are one entry: what is built for one is built for the other.
        if (std::find(seen.begin(), seen.end(), core.name) != seen.end()) {
          complain("cores", fmt::format("'{}' is listed twice", core.name));
        }
        seen.push_back(core.name);
      }
    }
  }

  void check_cache() {
    const uint64_t line = board_.cache_line;
    if (line == 0 || (std::has_single_bit(line) && line >= kAlignment && line <= kLineMax)) return;
    complain("cache_line",
             fmt::format("{} is not a power of two from {} to {}", line, kAlignment, kLineMax),
             "write the bytes of a line of the data cache, as the manual of the core has it");
  }

  void check_memories() {
    std::vector<std::string> seen;
    for (const Memory& memory : board_.memories) {
      const std::string place = fmt::format("memory '{}'", memory.name);
      if (!is_identifier(memory.name)) {
        complain(place, "the name is not lower-case letters, digits and _ after a letter");
      }
      if (std::ranges::find(kTakenByScript, memory.name) != kTakenByScript.end())
        complain(place, "this name is taken by a section of the linker script",
                 fmt::format("call it '{}_memory'", memory.name));
      else if (taken_by_code(memory.name))
        complain(place, "this name has another meaning in the code that is generated",
                 fmt::format("call it '{}_memory'", memory.name));
      if (std::find(seen.begin(), seen.end(), memory.name) != seen.end()) {
        complain(place, "two memories have this name");
      }
      seen.push_back(memory.name);
      check_range(memory, place);
    }
  }

  void check_range(const Memory& memory, const std::string& place) {
    if (memory.size == 0) complain(place, "the size is 0");
    if (memory.size > kAddressSpace || memory.base > kAddressSpace - memory.size) {
      complain(place, "reaches beyond the 4 GB that 32-bit addresses span");
    }
    const uint64_t alignment = std::max(kAlignment, board_.cache_line);
    if (memory.base % alignment != 0 || memory.size % alignment != 0) {
      complain(place, fmt::format("base and size are not multiples of {}", alignment));
    }
    if (memory.reserved > memory.size) complain(place, "reserves more than its size");
    if (memory.loaded && memory.kind == MemoryKind::Flash)
      complain(place, "'loaded' is for RAM: flash keeps its bytes");
  }

  void check_overlaps() {
    const std::vector<Memory>& all = board_.memories;
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) {
        if (all[i].base >= all[j].end() || all[j].base >= all[i].end()) continue;
        complain("memories",
                 fmt::format("'{}' ({:#010x} to {:#010x}) and '{}' ({:#010x} to {:#010x}) overlap",
                             all[i].name, all[i].base, all[i].end(), all[j].name, all[j].base,
                             all[j].end()));
      }
    }
  }

  void check_role(const char* role, const std::string& name, MemoryKind kind) {
    const std::string place = fmt::format("roles: {}", role);
    const Memory* memory = board_.find_memory(name);
    if (memory == nullptr) {
      std::vector<std::string> names;
      for (const Memory& candidate : board_.memories) names.push_back(candidate.name);
      const std::string meant = nearest_name(name, names);
      complain(place, fmt::format("there is no memory '{}'", name),
               meant.empty() ? "" : fmt::format("did you mean '{}'?", meant));
      return;
    }
    if (memory->kind != kind) {
      complain(place, fmt::format("'{}' is of kind {}, but this role needs {}", name,
                                  kind == MemoryKind::Flash ? "ram" : "flash",
                                  kind == MemoryKind::Flash ? "flash" : "ram"));
    }
  }

  void check_roles() {
    const Roles& roles = board_.roles;
    check_role("code", roles.code, MemoryKind::Flash);
    check_constants();
    check_role("data", roles.data, MemoryKind::Ram);
    check_role("stack", roles.stack, MemoryKind::Ram);
    const bool is_missing = board_.find_memory(roles.streams) == nullptr;
    if (is_missing && !roles.streams.empty())
      check_role("streams", roles.streams, MemoryKind::Flash);  // says that there is none
    check_list("activations", roles.activations);
    for (const std::string& name : roles.activations)
      check_role("activations", name, MemoryKind::Ram);
    check_room("activations", roles.activations);
    check_room("constants", roles.constants);
    if (std::ranges::find(roles.constants, roles.streams) == roles.constants.end())
      check_room("streams", {roles.streams});
  }

  // A plan takes no bytes of a memory for bytes without end.
  void check_room(const char* role, const std::vector<std::string>& names) {
    if (board_.native()) return;
    for (const std::string& name : names) {
      const Memory* memory = board_.find_memory(name);
      if (memory == nullptr || memory->size == 0) continue;
      const uint64_t stack = name == board_.roles.stack ? board_.stack_size : 0;
      if (memory->reserved + stack != memory->size) continue;  // more is complained of elsewhere
      complain(fmt::format("roles: {}", role),
               fmt::format("'{}' has nothing left for a model: all of it is for {}", name,
                           stack > 0 && memory->reserved > 0 ? "'reserved' and the stack"
                           : stack > 0                       ? "the stack"
                                                             : "'reserved'"),
               "leave the memory out of this role, or leave something of it");
    }
  }

  // Each memory once.
  void check_list(const char* role, const std::vector<std::string>& names) {
    const std::string place = fmt::format("roles: {}", role);
    if (names.empty()) complain(place, "the list is empty");
    for (auto name = names.begin(); name != names.end(); ++name) {
      const bool is_first = std::find(names.begin(), name, *name) == name;
      if (is_first && std::count(name, names.end(), *name) > 1)
        complain(place, fmt::format("'{}' is listed twice", *name));
    }
  }

  // Flash, or RAM that has its bytes when the core starts; the CPU reads them.
  void check_constants() {
    const std::vector<std::string>& names = board_.roles.constants;
    check_list("constants", names);
    for (const std::string& name : names) {
      const Memory* memory = board_.find_memory(name);
      const bool is_ram = memory != nullptr && memory->kind == MemoryKind::Ram;
      if (is_ram && !memory->loaded)
        complain("roles: constants",
                 fmt::format("'{}' is of kind ram, but this role needs flash", name),
                 "or RAM with \"loaded\": true, which a loader fills before the core starts");
      if (!is_ram) check_role("constants", name, MemoryKind::Flash);
      if (memory != nullptr && !memory->accessible_by.empty() &&
          std::ranges::find(memory->accessible_by, "cpu") == memory->accessible_by.end())
        complain("roles: constants", fmt::format("the CPU does not reach '{}'", name),
                 "devices have their own constants, in the memory of the role streams");
    }
  }

  void check_stack() {
    const Memory* memory = board_.find_memory(board_.roles.stack);
    if (board_.stack_size == 0 || board_.stack_size % kAlignment != 0) {
      complain("stack_size", fmt::format("is not a multiple of {} above 0", kAlignment));
    } else if (memory != nullptr && board_.stack_size > memory->size - memory->reserved) {
      complain("stack_size", fmt::format("{} bytes are more than memory '{}' has",
                                         board_.stack_size, memory->name));
    }
  }

  void check_files() {
    if (!board_.native()) return;
    if (!board_.linker_script.empty())
      complain("linker_script", "a process is linked by its system's own script");
    if (!board_.startup.empty())
      complain("startup", "a process is started by its system, without code of the board");
  }

  void check_emulator() {
    if (board_.probe && board_.native()) complain("run", "a process needs no debug probe");
    if (board_.probe && board_.is_riscv())
      complain("run: gdb", "a debug probe runs programs on Arm's cores of the M profile only",
               "leave 'run' out, or name an emulator");
    if (!board_.emulator) return;
    if (is_this_machine(board_)) complain("run", "the machine itself needs no emulator");
    const std::string& shared = board_.emulator->shared_memory;
    if (!shared.empty() && board_.find_memory(shared) == nullptr) {
      complain("run: shared_memory", fmt::format("there is no memory '{}'", shared));
    }
    if (board_.emulator->device_window_size == 0) return;
    const Memory* memory = board_.find_memory(shared);
    const uint64_t begin = board_.emulator->device_window,
                   size = board_.emulator->device_window_size;
    // The end of the memory is what its `reserved` keeps free.
    if (memory == nullptr || begin < memory->end() - memory->reserved || begin > memory->end() ||
        begin % 64 != 0 || size > memory->end() - begin)
      complain(
          "run: device_window",
          fmt::format(
              "{:#x} and {:#x} bytes from there are not in the reserved end of the shared memory",
              begin, size),
          "the firmware and the devices talk there");
  }

  const Board& board_;
  const std::string& where_;
  Diagnostics& problems_;
};

}  // namespace

void validate_board(const Board& board, const std::string& where, Diagnostics& problems) {
  Validator(board, where, problems).run();
}

}  // namespace intarsia::board
