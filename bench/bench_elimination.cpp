// What dead-channel elimination takes out of each model: a table, and the time it takes.
//   bench_elimination [MODEL...]     default: the digits of examples/, and the models beside the repository
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "intarsia/import.h"
#include "passes/dead_channel_elimination.h"

namespace {

namespace fs = std::filesystem;
using namespace intarsia;

std::vector<fs::path> default_models() {
  const fs::path root(INTARSIA_SOURCE_DIR);
  std::vector<fs::path> models;
  const char* given = std::getenv("INTARSIA_SHARED");
  const fs::path shared = (given != nullptr ? fs::path(given) : root / ".." / "shared") / "models";
  std::error_code error;
  for (fs::directory_iterator it(shared, error), end; !error && it != end; it.increment(error))
    models.push_back(it->path() / "model.tflite");
  std::sort(models.begin(), models.end());
  models.insert(models.begin(), root / "examples" / "digits" / "digits.tflite");
  return models;
}

void print_row(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)),
                                   std::istreambuf_iterator<char>());
  const std::string name = path.stem() == "model" ? path.parent_path().filename() : path.stem();
  const Result<graph::Module> module = import_model(bytes, {name + ".tflite"});
  if (!module.ok()) {
    fmt::print("{:<26} {}\n", name, module.error().items().front().to_string());
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const Result<ReducedModule> reduced = eliminate_dead_channels(*module);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (!reduced.ok()) {
    fmt::print("{:<26} {}", name, reduced.error().to_string());
    return;
  }
  const EliminationFigures &a = reduced->before, &b = reduced->after;
  fmt::print("{:<26} {:>4} -> {:<4} {:>5} -> {:<5} {:>9} -> {:<9} {:>7} -> {:<7} {:>7.1f}\n", name,
             a.operators, b.operators, a.channels, b.channels, a.macs, b.macs, a.weight_bytes,
             b.weight_bytes, time.count());
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print("{:<26} {:^12} {:^14} {:^22} {:^18} {:>7}\n", "model", "operators", "channels", "MACs",
             "weight bytes", "ms");
  if (argc > 1)
    for (int i = 1; i < argc; ++i) print_row(argv[i]);
  else
    for (const fs::path& model : default_models()) print_row(model);
}
