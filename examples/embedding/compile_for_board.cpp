// Compiles a model for a board and writes its package: compile_for_board MODEL BOARD FOLDER
#include <cstdio>
#include <fstream>
#include <iterator>

#include "intarsia/build.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"

using namespace intarsia;

Result<void> compile_for_board(const char* path, const char* board_name, const char* folder) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  TargetRegistry registry;
  add_builtin_targets(registry);
  INTARSIA_TRY(const board::Board board,
               board::find_board(INTARSIA_RESOURCES "/boards", board_name));
  INTARSIA_TRY(const board::Core core, board::core_for(board, board.cores.front().name));
  INTARSIA_TRY(const TargetSpec target, parse_target(registry.catalogue(), core.name));
  const CompileOptions options = options_for(board, core, INTARSIA_RESOURCES);
  INTARSIA_TRY(CompiledModel model,
               run_pipeline(ModelFile{bytes, {path}}, registry, target, options, Stage::Package));
  std::printf("%s: %zu files\n", folder, model.package.files.size());
  return write_package_folder(folder, std::move(model.package));
}

int main(int count, char** words) {
  if (count != 4) return std::fputs("compile_for_board MODEL BOARD FOLDER\n", stderr), 2;
  const Result<void> done = compile_for_board(words[1], words[2], words[3]);
  if (!done.ok()) std::fputs(done.error().to_string().c_str(), stderr);
  return done.ok() ? 0 : 1;
}
