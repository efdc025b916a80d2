// Board: everything about one board, read from boards/<name>/board.json (boards/README.md describes
// the fields). The planner's memories, the linker script, the compiler's flags and the emulator's
// command line all come from this one value, so they cannot disagree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/plan.h"
#include "intarsia/result.h"

namespace intarsia::board {

// What a memory is there for.
enum class MemoryKind : uint8_t {
  Flash,  // holds code and constants, only read while the program runs
  Ram,
};

// A memory of the board, at an address of its own.
struct Memory {
  std::string name;  // a C identifier; section .intarsia.<name> lands here
  MemoryKind kind = MemoryKind::Ram;
  uint64_t base = 0;
  uint64_t size = 0;
  uint64_t reserved = 0;  // for the firmware's own code or data: not offered to the planner
  int32_t cycles_per_access = 1;
  std::vector<std::string> accessible_by;  // as MemoryPool's; empty: everyone
  std::optional<MemorySpeed> speed = {};   // for devices beside the CPU
  // Of RAM: what loads the program fills it before the core starts, so that constants may lie there.
  bool loaded = false;

  // The first address behind it.
  uint64_t end() const { return base + size; }
  // Whether no device beside the CPU reaches it.
  bool is_cpus_alone() const {
    return !accessible_by.empty() &&
           std::ranges::all_of(accessible_by, [](const std::string& who) { return who == "cpu"; });
  }
};

// Names of memories.
struct Roles {
  std::string code;
  std::vector<std::string> constants;  // preferred first; what says no memory is in the first
  std::string data;
  std::string stack;
  // Command streams and what they read; if not given, the first of `constants` that not only the CPU reaches.
  std::string streams;
  std::vector<std::string> activations;  // preferred first
};

// A core, and how the compiler is called for it.
struct Core {
  std::string name;                // as the target tag that it has
  std::vector<std::string> flags;  // for the compiler and the linker
  // Attributes of the target, where this core lacks what others of its name have: "-mattr=-dsp". May be empty.
  std::string attributes = {};
};

// How a program of the board prints and reads files: through the debugger or emulator, or as a process of this machine.
enum class Port : uint8_t { Semihosting, Stdio };

// How a program is started without the board.
struct Emulator {
  std::string program;  // "qemu-system-arm"
  std::string machine;
  std::vector<std::string> arguments;
  std::string shared_memory;  // the memory a file on the host can stand in for; may be empty
  // In it, where simulated devices are attached (remote_device.h); size 0: they cannot be.
  uint64_t device_window = 0, device_window_size = 0;
};

// How a program is run on the board itself: by the server of a debug probe, over the GDB remote serial protocol.
struct Probe {
  std::string host;
  int port = 0;
  std::vector<std::string> reset;  // commands of the server that reset and stop the core
};

// A board as its board.json describes it; checked.
struct Board {
  std::string name;
  std::string summary;
  std::string folder;  // that its board.json was read from; empty for a text
  std::string compiler;
  std::vector<std::string>
      zephyr_names;  // of the board in Zephyr trees, the newest last; may be empty
  Port port = Port::Semihosting;
  // Files of `folder` in the place of the script that is made and of the boards' common startup code; empty: those.
  std::string linker_script;
  std::vector<std::string> startup;
  std::vector<Core> cores;      // on the board; the first is the one that boots
  std::vector<Core> also_runs;  // other cores whose code the first one executes
  std::vector<Memory> memories;
  Roles roles;
  uint64_t stack_size = 0;
  uint64_t cache_line = 0;  // bytes, of the CPU's data cache; 0: there is none, or it is never on
  std::map<std::string, int64_t> clocks_mhz;  // of devices, by their names in `accessible_by`
  // At most one of them. Neither: a program for it cannot be started from here.
  std::optional<Emulator> emulator;
  std::optional<Probe> probe;

  // Whether devices that the board itself lacks can be simulated beside its emulator.
  bool takes_simulated_devices() const { return emulator && emulator->device_window_size > 0; }
  // Whether a program for it can be started from here.
  bool can_run() const { return native() || emulator || probe; }
  // The machine we run on: no memory map of ours, no linker script, programs start directly.
  bool native() const { return port == Port::Stdio; }
  // Its startup code and fault handler are RISC-V's, else those of Arm's M profile.
  bool is_riscv() const { return !cores.empty() && cores.front().name.starts_with("rv32"); }
  const Memory* find_memory(std::string_view memory_name) const;  // null when there is none
};

// `where` names the text in diagnostics. All problems of the text are reported together.
Result<Board> parse_board(std::string_view text, const std::string& where);
// Reads a board.json; its folder must have the board's name.
Result<Board> load_board(const std::string& path);
// The folders in `directory` that hold a board.json, sorted. Empty when there is no such directory.
std::vector<std::string> list_boards(const std::string& directory);
// The board of that name in one directory. The failure names the boards that are there.
Result<Board> find_board(const std::string& directory, const std::string& name);
// In the first of the directories that has it. What holds a '/', or is "." or "..", is not a name but the path of a
// board's folder or of its board.json.
Result<Board> find_board(std::span<const std::string> directories, const std::string& name_or_path);

// The board's core, or one it also runs code of. A native board takes any name, without flags.
Result<Core> core_for(const Board& board, const std::string& core_name);

// What is left of a memory for a model: its size without `reserved` and, in its role, the stack.
uint64_t available(const Board& board, const Memory& memory);
// What the planner sees: the memories of the role activations, preferred first, then the read-only
// ones, and RAM that holds nothing but constants as one of these. Unlimited on a native board.
MemoryMap memory_map(const Board& board);

// For GNU ld. Not for native boards.
std::string linker_script(const Board& board);

}  // namespace intarsia::board
