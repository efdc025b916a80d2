// Compiles a model given as text, with the installed libraries, and prints what it needs on a board.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "intarsia/build.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"

namespace {

intarsia::Result<int> print_needs(const std::string& path, const std::string& board_name) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  intarsia::TargetRegistry registry;
  intarsia::add_builtin_targets(registry);
  INTARSIA_TRY(const auto board,
               intarsia::board::find_board(INTARSIA_RESOURCES "/boards", board_name));
  INTARSIA_TRY(const auto target,
               intarsia::parse_target(registry.catalogue(), board.cores.front().name));
  const auto options = intarsia::options_for(board, board.cores.front(), INTARSIA_RESOURCES);
  INTARSIA_TRY(const auto model,
               intarsia::run_pipeline(intarsia::ModelFile{bytes, {path}}, registry, target, options,
                                      intarsia::Stage::Package));
  std::printf("%s for %s: %d bytes of %s, %d files\n", model.program().emitted.name.c_str(),
              board.name.c_str(), static_cast<int>(model.program().plan.use[0].peak),
              model.program().plan.memory.pools[0].name.c_str(),
              static_cast<int>(model.package.files.size()));
  return 0;
}

}  // namespace

int main(int, char** argv) {
  const auto done = print_needs(argv[1], argv[2]);
  if (!done.ok()) std::fputs(done.error().to_string().c_str(), stderr);
  return done.ok() ? *done : 1;
}
