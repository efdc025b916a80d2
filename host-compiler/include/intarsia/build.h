// Build: a package becomes a program for a board, is measured, and is run: on this machine, in the
// board's emulator, or on the board itself by a debug probe. All tools are called as programs; nothing here goes through a shell.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/board.h"
#include "intarsia/compile.h"
#include "intarsia/package.h"
#include "intarsia/plugin/progress.h"
#include "intarsia/report.h"

namespace intarsia {

// What a model is compiled with for a board and one of its cores, everything else left at its default.
// `resource_root` is as in PackageOptions: Intarsia_RESOURCES of find_package, INTARSIA_RESOURCES in C++.
CompileOptions options_for(const board::Board& board, const board::Core& core,
                           const std::string& resource_root);

// What is built, for which core of which board, and how.
struct BuildSetting {
  std::string folder;  // of the package
  PackageManifest manifest;
  board::Board board;
  board::Core core;
  std::string resource_root;
  std::string optimise = "-Os";
  std::vector<std::string> more_flags;  // for the compiler of the package's sources
  // The program can show each operator's result (ExecuteRequest::results_file). Not of a model in parts.
  bool shows_results = false;
  // A source of the package defines `intarsia_model`, which the boards' generic main runs; otherwise it is made from the
  // manifest. Models in parts always do.
  bool has_descriptor = false;
  // What to do where the program does not fit into the board's memories.
  std::string when_too_large = "choose a board with more memory, or a smaller model";
  // For each program that is called, the compiler and the built one; 0: none.
  std::chrono::milliseconds time_limit{0};
  ProgressListener on_progress = {};
};

// Code size and stack bound of the model alone, without board support. Fails with one clear line when
// the board's compiler is absent.
Result<Measurements> measure(const BuildSetting& setting);

// A program with the boards' generic main; `work_folder` gets objects, linker script and map.
Result<std::string> build_program(const BuildSetting& setting, const std::string& work_folder);

// A program, and what it is run on.
struct ExecuteRequest {
  std::string program;
  std::vector<std::vector<uint8_t>> inputs;  // per model input: one slice, or `repeat` of them
  int32_t repeat = 1;
  bool keep_all = false;            // outputs of every run, one after another
  bool count_instructions = false;  // emulated boards only
  // Estimates cycles, and counts instructions. Of a program that was built with a setting of prepare_to_count_cycles().
  bool count_cycles = false;
  // On this machine, where devices are simulated: a file for a trace of what they did, in Chrome's JSON format.
  // Not written when the program has no such device.
  std::string trace_file;
  // Of a program that shows them: a file for the results of all operators, for read_shown_results.
  std::string results_file;
};
// What came of it.
struct ExecuteResult {
  std::vector<std::vector<uint8_t>> outputs;
  int64_t stack_run = -1, stack_total = -1;  // bytes used, by the painted stack; -1: not measured
  std::vector<uint64_t> instructions;        // per run
  std::vector<RunCycles> cycles;             // per run
  // By the core's own counter, of a board that a debug probe holds: per run, or why there are none.
  std::vector<uint64_t> counted_cycles;
  std::string counted_cycles_note;
  std::string console;  // what the program printed
  // What the simulated devices tell of the last run of each of their streams: a JSON array. Empty: there are none.
  std::string device_profile;
};
// Cycles are counted in an emulator: refuses a board without one.
Result<void> check_cycles_are_countable(const board::Board& board);
// Before a program is built whose cycles are counted: lines of the sources will say which operator an instruction
// belongs to, the code stays the same. Refuses a board without an emulator, a model in several parts and a core that no timings
// are known of.
Result<void> prepare_to_count_cycles(BuildSetting& setting);
// Runs the program, on this machine or in the board's emulator; `work_folder` gets its files. Fails with what the program
// printed when it ends with an error, or when the time limit is over.
Result<ExecuteResult> execute(const BuildSetting& setting, const ExecuteRequest& request,
                              const std::string& work_folder);

// What the model's trace hook was called with (docs/debugging.md): `index` counts the calls in the text of the model's
// run function, the outputs of one call have the same.
struct ShownResult {
  int32_t index;
  std::string name;
  std::vector<uint8_t> bytes;
};
// By run, in the order of the calls.
Result<std::vector<std::vector<ShownResult>>> read_shown_results(const std::string& path);

// A tensor file: raw little-endian bytes, or .npy of the tensor's type (C order), recognised by its
// first bytes. `slices` slices, or one for all; kAnySlices: one or more. Sizes are checked against the
// tensor, of .npy files types and shapes as well (dimensions of 1 may be there or not, and a
// flat array is taken).
inline constexpr int32_t kAnySlices = 0;
Result<std::vector<uint8_t>> read_tensor_file(const std::string& path, const TensorInfo& tensor,
                                              int32_t slices);

}  // namespace intarsia
