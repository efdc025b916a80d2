// End to end in one call: model bytes to a program for a board, run over samples.
#pragma once

#include <string>
#include <vector>

#include "intarsia/build.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "needs.h"
#include "support/files.h"

namespace intarsia::test {

struct EndToEnd {
  CompiledModel model;
  std::optional<Measurements> measured;  // cross-compiled boards
  ExecuteResult run;
};

struct EndToEndRequest {
  std::string name;  // of the model, for messages and symbols
  std::vector<uint8_t> bytes;
  std::string target;  // empty: the board's first core, or c on the host
  std::string board;
  std::vector<std::vector<uint8_t>> inputs;  // all samples of each input, one after another
  int32_t samples = 1;
  bool measure = false, count_instructions = false;
  bool count_cycles = false;  // of a board with one core; counts instructions as well
  std::string optimise = "-Os";
  std::optional<int64_t> ram_budget = {};
};

inline Result<EndToEnd> run_end_to_end(const EndToEndRequest& request) {
  const std::string root = INTARSIA_SOURCE_DIR;
  TargetRegistry registry;
  add_builtin_targets(registry);
  INTARSIA_TRY(const board::Board board, board::find_board(root + "/boards", request.board));
  std::string text = request.target;
  if (text.empty()) text = board.cores.empty() ? "c" : board.cores.front().name;
  INTARSIA_TRY(const TargetSpec target, parse_target(registry.catalogue(), text));
  board::Core core{"native", {}};
  if (!board.cores.empty()) {
    INTARSIA_TRY(core, board::core_for(board, target.host().get_string("mcpu")));
  }
  CompileOptions options;
  options.memory = board::memory_map(board);
  options.lowering.ram_budget = request.ram_budget;
  EndToEnd ran;
  INTARSIA_TRY(ran.model,
               compile(request.bytes, request.name + ".tflite", registry, target, options));
  INTARSIA_TRY(
      const PackageContents package,
      make_package(ran.model, registry, target, {board.name, core.name, root, board.native()}));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path() + "/package", package.files));
  BuildSetting setting{work.path() + "/package", package.manifest, board, core, root,
                       request.optimise};
  if (request.measure) {
    INTARSIA_TRY(ran.measured, intarsia::measure(setting));
  }
  // Only now: what is measured is built as everyone builds it.
  if (request.count_cycles) INTARSIA_TRY_VOID(prepare_to_count_cycles(setting));
  ExecuteRequest execution;
  INTARSIA_TRY(execution.program, build_program(setting, work.path()));
  execution.inputs = request.inputs;
  execution.repeat = request.samples;
  execution.keep_all = true;
  execution.count_instructions = request.count_instructions;
  execution.count_cycles = request.count_cycles;
  INTARSIA_TRY(ran.run, execute(setting, execution, work.path()));
  return ran;
}

inline bool is_riscv(const std::string& board) {
  return board.starts_with("riscv");
}

// Its programs are processes, whose stack and instructions are not measured.
inline bool is_process(const std::string& board) {
  return board == "host" || board.ends_with("-linux");
}

inline bool can_run(const std::string& board) {
  const auto is_there = [](const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
  };
  if (board == "host") return true;
  if (board == "x86_64-linux") return is_there("x86_64-linux-gnu-gcc");
  if (is_process(board)) return is_there("aarch64-linux-gnu-gcc") && is_there("qemu-aarch64");
  return is_riscv(board) ? is_there("riscv64-unknown-elf-gcc") && is_there("qemu-system-riscv32")
                         : is_there("arm-none-eabi-gcc") && is_there("qemu-system-arm");
}

// For a GTEST_SKIP() where it cannot run.
inline std::string board_needs(const std::string& board) {
  return (is_riscv(board)     ? needs("riscv-toolchain")
          : is_process(board) ? needs("linux-toolchain")
                              : needs("cross-toolchain")) +
         "no compiler or no emulator for the board";
}

}  // namespace intarsia::test
