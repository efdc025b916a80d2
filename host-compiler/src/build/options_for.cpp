#include "board/process_board.h"
#include "intarsia/build.h"

namespace intarsia {

CompileOptions options_for(const board::Board& board, const board::Core& core,
                           const std::string& resource_root) {
  CompileOptions options;
  options.memory = board::memory_map(board);
  options.package = {board.name,
                     core.name,
                     resource_root,
                     board.native(),
                     board.takes_simulated_devices(),
                     core.flags,
                     board::runs_processes(board, core, resource_root + "/boards")};
  return options;
}

}  // namespace intarsia
