// The demo: a trained network from .tflite to firmware, run in an emulator over every held-out image.
// Also an example of Intarsia as a library: each step is one call.
//
//   digits_demo FOLDER ROOT BOARD    FOLDER holds digits.tflite and the test images,
//                                    ROOT boards/ and device-runtime/
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "intarsia/build.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/package.h"
#include "intarsia/report.h"
#include "support/files.h"

namespace {

using namespace intarsia;

constexpr size_t kPixels = 64, kClasses = 10, kBatch = 12, kShown = 1;

struct TestSet {
  std::vector<uint8_t> images, labels;
  size_t size() const { return labels.size(); }
};

struct Outcome {
  size_t correct = 0;
  std::vector<uint8_t> scores;  // int8, kClasses per image
  uint64_t instructions = 0;    // of the last inference
  int64_t stack = -1;
};

void draw_progress(size_t done, size_t all) {
  if (!isatty(STDOUT_FILENO)) return;
  constexpr size_t kWidth = 40;
  const size_t filled = done * kWidth / all;
  fmt::print("\r  [{}{}] {}/{} images", std::string(filled, '#'), std::string(kWidth - filled, '.'), done, all);
  if (done == all) fmt::print("\n");
  std::fflush(stdout);
}

size_t best_class(const uint8_t* scores) {
  const auto* values = reinterpret_cast<const int8_t*>(scores);
  return static_cast<size_t>(std::max_element(values, values + kClasses) - values);
}

Result<Outcome> classify_all(const BuildSetting& setting, const std::string& program, const TestSet& set,
                             const std::string& work) {
  Outcome outcome;
  for (size_t first = 0; first < set.size(); first += kBatch) {
    const size_t count = std::min(kBatch, set.size() - first);
    ExecuteRequest request;
    request.program = program;
    request.repeat = static_cast<int32_t>(count);
    request.keep_all = true;
    request.count_instructions = true;
    const auto begin = set.images.begin() + static_cast<std::ptrdiff_t>(first * kPixels);
    request.inputs = {{begin, begin + static_cast<std::ptrdiff_t>(count * kPixels)}};
    INTARSIA_TRY(const ExecuteResult result, execute(setting, request, work));
    outcome.scores.insert(outcome.scores.end(), result.outputs[0].begin(), result.outputs[0].end());
    outcome.stack = std::max(outcome.stack, result.stack_run);
    if (!result.instructions.empty()) outcome.instructions = result.instructions.back();
    draw_progress(first + count, set.size());
  }
  for (size_t i = 0; i < set.size(); ++i)
    if (best_class(&outcome.scores[i * kClasses]) == set.labels[i]) ++outcome.correct;
  return outcome;
}

// The image as shades of a terminal, the scores as bars beside it.
void draw_digit(const TestSet& set, const Outcome& outcome, size_t index) {
  static const char* const kShades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  const uint8_t* scores = &outcome.scores[index * kClasses];
  fmt::print("\n  image {}, a {}:\n", index, set.labels[index]);
  for (size_t row = 0; row < kClasses; ++row) {
    fmt::print("    ");
    for (size_t column = 0; column < 8; ++column) {
      const int value = row < 8 ? static_cast<int8_t>(set.images[index * kPixels + row * 8 + column]) + 128 : 0;
      fmt::print("{}", kShades[std::min(4, value * 5 / 256)]);
    }
    const int score = static_cast<int8_t>(scores[row]) + 128;
    fmt::print("    {} {:<26}{:5.1f} %\n", row, std::string(static_cast<size_t>(score / 10), '='), score / 2.56);
  }
}

Result<void> demo(const std::string& folder, const std::string& root, const std::string& board_name) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  INTARSIA_TRY(const board::Board board, board::find_board(root + "/boards", board_name));
  const board::Core core = board.cores.front();
  INTARSIA_TRY(const TargetSpec target, parse_target(registry.catalogue(), core.name));

  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(folder + "/digits.tflite"));
  CompileOptions options;
  options.memory = board::memory_map(board);
  INTARSIA_TRY(const CompiledModel model, compile(bytes, "digits.tflite", registry, target, options));
  INTARSIA_TRY(const PackageContents package, make_package({model, registry, target, board.name, core.name, root, false}));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path() + "/package", package.files));
  const BuildSetting setting{work.path() + "/package", package.manifest, board, core, root};
  INTARSIA_TRY(const Measurements measured, measure(setting));
  INTARSIA_TRY(const std::string program, build_program(setting, work.path()));
  fmt::print("digits.tflite compiled to C for {} and built for board {} ({})\n", core.name, board.name,
             board.summary);

  TestSet set;
  INTARSIA_TRY(set.images, read_file(folder + "/test_images.bin"));
  INTARSIA_TRY(set.labels, read_file(folder + "/test_labels.bin"));
  INTARSIA_TRY(const std::vector<uint8_t> golden, read_file(folder + "/golden_outputs.bin"));
  fmt::print("running the firmware in {} over {} held-out images\n", board.emulator->program, set.size());
  INTARSIA_TRY(const Outcome outcome, classify_all(setting, program, set, work.path()));

  const Report report = make_report(model, core.name, board.name);
  int64_t ram = 0;
  bool proven = true;
  for (const PoolRow& pool : report.pools) ram += pool.peak, proven &= pool.proven_optimal;
  fmt::print("\n  accuracy      {:8.2f} %  ({} of {})\n", 100.0 * static_cast<double>(outcome.correct) /
                 static_cast<double>(set.size()), outcome.correct, set.size());
  fmt::print("  flash         {:8} bytes: code {}, weights {}, tables {}\n",
             measured.code_bytes + measured.constant_bytes, measured.code_bytes, report.weight_bytes,
             report.table_bytes);
  fmt::print("  RAM           {:8} bytes for activations{}\n", ram, proven ? ", proven minimal" : "");
  fmt::print("  stack         {:8} bytes at most, {} used\n", measured.stack_bytes, outcome.stack);
  fmt::print("  instructions  {:8} per inference ({:.2f} per multiply-accumulate)\n", outcome.instructions,
             static_cast<double>(outcome.instructions) / static_cast<double>(report.macs));
  fmt::print("  outputs       {}\n", outcome.scores == golden ? "equal to TensorFlow Lite Micro's, bit for bit"
                                                              : "DIFFER from TensorFlow Lite Micro's");
  draw_digit(set, outcome, kShown);
  if (outcome.scores != golden)
    return Diagnostics("digits", "the firmware's outputs differ from the golden ones", "please report this");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: digits_demo FOLDER ROOT BOARD\n");
    return 2;
  }
  const Result<void> result = demo(argv[1], argv[2], argv[3]);
  if (result.ok()) return 0;
  std::fputs(result.error().to_string().c_str(), stderr);
  return 1;
}
