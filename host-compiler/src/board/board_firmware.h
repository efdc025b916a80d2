// Firmware for a board: the flags, sources and command lines that build a program and run it, and
// what can be read from the result. `root` is the folder that holds boards/ and device-runtime/ as
// the repository (or the installed share/intarsia) does. Command lines are argument vectors for
// run_process; no shell is involved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/board.h"

namespace intarsia::board {

// --- build ---

// The core's flags and what the linker script needs (-ffunction-sections, INTARSIA_BOARD_MEMORIES).
// Neither language standard nor warnings nor optimisation: those belong to the caller.
std::vector<std::string> compile_flags(const Board& board, const Core& core);
// From reset to the inference main: the board's own files, or those of boards/common.
std::vector<std::string> startup_sources(const Board& board, const std::string& root);
// -I for the contract's headers and the boards' common code.
std::vector<std::string> include_flags(const std::string& root);
// The inference main with the board's port and startup: C files, absolute when `root` is.
std::vector<std::string> support_sources(const Board& board, const std::string& root);
// After the objects. Empty paths: no script (native) or no map file.
std::vector<std::string> link_flags(const Board& board, const Core& core,
                                    const std::string& linker_script_path,
                                    const std::string& map_path = {});

struct BuildRequest {
  std::vector<std::string> sources;  // the model's; the support sources are added
  std::vector<std::string> flags;    // "-Os", more -I ...
  std::string linker_script_path;    // written by the caller from linker_script(); empty if native
  std::string output;                // the program
  std::string map_path;              // may be empty
};
// One compiler call that makes the program. Sources are C.
std::vector<std::string> build_command(const Board& board, const Core& core,
                                       const std::string& root, const BuildRequest& request);

// --- run ---

// A simulated device is a program beside the emulator, which shares one memory with it: whether all that the board has for devices lies there.
Result<void> check_memories_of_devices(const Board& board);

// What the inference main is to do; see boards/README.md.
struct RunRequest {
  int32_t repeat = 1;
  bool keep_all = false;             // append every run's outputs instead of the last one's
  std::vector<std::string> inputs;   // one file per model input: one slice, or `repeat` of them
  std::vector<std::string> outputs;  // one file per model output
  // Where there are more than can be open at once: one file each for all inputs and for all outputs, run by run.
  std::string joined_inputs, joined_outputs;
  std::string report;   // may be empty
  std::string results;  // of each operator; may be empty
  std::string package;  // of firmware that takes its model from one; may be empty
};
// The run file's text. Refuses paths the firmware could not take.
Result<std::string> run_file_text(const RunRequest& request);

// Counts instructions between two addresses with boards/common/qemu_plugin.
struct CountRequest {
  std::string plugin;  // the shared library made by count_plugin_command
  uint32_t begin = 0;  // addresses of intarsia_mark_begin and intarsia_mark_end
  uint32_t end = 0;
  std::string output;  // one decimal number per interval
  uint32_t pause =
      0;  // of intarsia_mark_pause and intarsia_mark_resume, where firmware has them; 0: none
  uint32_t resume = 0;
  // Of the plugin that estimates cycles, which is made by cycles_plugin_command: an -mcpu, and the file with
  // cycle_listing's text. Empty for the one that counts instructions.
  std::string core;
  std::string listing;
};
std::vector<std::string> count_plugin_command(const std::string& root, const std::string& output);
Result<std::vector<uint64_t>> read_counts(const std::string& path);

std::vector<std::string> cycles_plugin_command(const std::string& root, const std::string& output);
struct EstimatedCycles {
  double optimistic = 0, nominal = 0, pessimistic = 0;
};
// Of one interval.
struct CycleCount {
  struct Part {
    int32_t index = -1;  // of an operator; -1: of none
    uint64_t instructions = 0;
    EstimatedCycles cycles;
  };
  uint64_t instructions = 0;
  EstimatedCycles cycles;
  std::vector<Part> parts;
  std::optional<uint32_t>
      unknown;  // address of an instruction that was executed and has no timing on the core
};
Result<std::vector<CycleCount>> read_cycle_counts(const std::string& path);

struct StartRequest {
  std::string program;
  std::string run_file;
  std::optional<CountRequest> count;  // ignored on native boards
  std::string shared_memory_file;     // stands in for Emulator::shared_memory; may be empty
  // A file that is in the board's memory when the program starts; may be empty.
  std::string loaded_file;
  uint64_t loaded_at = 0;
};
// Refuses a board that has no emulator and is not native.
Result<std::vector<std::string>> run_command(const Board& board, const StartRequest& request);

// What the inference main reports. -1: not measured.
struct RunReport {
  int32_t exit_status = 0;
  int32_t model_status = 0;
  int32_t runs = 0;
  int64_t stack_run = -1;    // most used by one run of the model
  int64_t stack_total = -1;  // most used since reset
  int64_t stack_size = -1;
};
Result<RunReport> read_run_report(const std::string& path);
// The firmware's exit status in words, for a diagnostic: "the processor took a fault".
std::string exit_status_meaning(int exit_status);

// --- the result ---

struct ElfSection {
  std::string name;
  uint32_t address = 0;
  uint32_t size = 0;
  uint32_t index = 0;      // in the file
  bool has_bytes = false;  // false: memory that is only set aside
};

// Bytes of the file, and where they are loaded to.
struct ElfSegment {
  uint32_t address = 0;
  std::vector<uint8_t> bytes;
};

struct ElfFunction {
  std::string name;
  uint32_t address = 0;  // of its first instruction
  uint32_t size = 0;
};

// Of a 32-bit little-endian ELF file: the sections that occupy memory, the symbols, and what is loaded.
struct ElfImage {
  std::vector<ElfSection> sections;
  std::map<std::string, uint32_t, std::less<>> symbols;
  std::map<std::string, uint32_t, std::less<>> homes;  // of the symbols: their section's index
  std::vector<ElfSegment> segments;
  std::vector<ElfFunction> functions;
};
Result<ElfImage> parse_elf(std::string_view bytes, const std::string& where);
Result<ElfImage> read_elf(const std::string& path);

struct MemoryUse {
  std::string memory;
  uint64_t used = 0;  // stack included
  uint64_t size = 0;
};
std::vector<MemoryUse> memory_use(const Board& board, const ElfImage& image);

}  // namespace intarsia::board
