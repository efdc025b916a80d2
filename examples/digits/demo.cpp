// The demo: a trained network from .tflite to firmware, run in an emulator over every held-out image.
// Also an example of Intarsia as a library: each step is one call.
//
//   digits_demo FOLDER ROOT BOARD    FOLDER holds digits.tflite and the test images,
//                                    ROOT boards/ and device-runtime/
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  uint64_t npu_cycles = 0;      // of the last inference; 0: no NPU
  int64_t stack = -1;
};

// Of all streams in the profile.
uint64_t cycles_of(const std::string& profile) {
  double cycles = 0;
  for (const nlohmann::json& stream : nlohmann::json::parse(profile, nullptr, false))
    cycles += stream.value("cycles", 0.0);
  return static_cast<uint64_t>(cycles);
}

void draw_progress(size_t done, size_t all) {
  if (!isatty(STDOUT_FILENO)) return;
  constexpr size_t kWidth = 40;
  const size_t filled = done * kWidth / all;
  fmt::print("\r  [{}{}] {}/{} images", std::string(filled, '#'), std::string(kWidth - filled, '.'),
             done, all);
  if (done == all) fmt::print("\n");
  std::fflush(stdout);
}

size_t best_class(const uint8_t* scores) {
  const auto* values = reinterpret_cast<const int8_t*>(scores);
  return static_cast<size_t>(std::max_element(values, values + kClasses) - values);
}

Result<Outcome> classify_all(const BuildSetting& setting, const std::string& program,
                             const TestSet& set, const std::string& work) {
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
    if (!result.device_profile.empty()) outcome.npu_cycles = cycles_of(result.device_profile);
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
      const int value =
          row < 8 ? static_cast<int8_t>(set.images[index * kPixels + row * 8 + column]) + 128 : 0;
      fmt::print("{}", kShades[std::min(4, value * 5 / 256)]);
    }
    const int score = static_cast<int8_t>(scores[row]) + 128;
    fmt::print("    {} {:<26}{:5.1f} %\n", row, std::string(static_cast<size_t>(score / 10), '='),
               score / 2.56);
  }
}

// One way to run the network on the board: its program, and what it costs.
struct Deployment {
  std::string target;
  Measurements measured;
  Report report;
  Outcome outcome;
};

Result<Deployment> deploy(const std::string& folder, const std::string& root,
                          const board::Board& board, const std::string& target_text,
                          const TestSet& set) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  const board::Core core = board.cores.front();
  INTARSIA_TRY(const TargetSpec target, parse_target(registry.catalogue(), target_text));

  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(folder + "/digits.tflite"));
  CompileOptions options;
  options.memory = board::memory_map(board);
  options.package = {board.name, core.name, root, false, board.takes_simulated_devices()};
  INTARSIA_TRY(const CompiledModel model, run_pipeline(ModelFile{bytes, {"digits.tflite"}},
                                                       registry, target, options, Stage::Package));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY_VOID(write_folder(work.path() + "/package", model.package.files));
  const BuildSetting setting{work.path() + "/package", model.package.manifest, board, core, root};
  Deployment result;
  result.target = target_text;
  result.report = make_report(model, core.name, board.name);
  INTARSIA_TRY(result.measured, measure(setting));
  INTARSIA_TRY(const std::string program, build_program(setting, work.path()));
  fmt::print("digits.tflite compiled for {}, built for board {} ({})\n", target_text, board.name,
             board.summary);
  fmt::print("running the firmware in {} over {} held-out images\n", board.emulator->program,
             set.size());
  INTARSIA_TRY(result.outcome, classify_all(setting, program, set, work.path()));
  return result;
}

struct Row {
  std::string name;
  std::function<std::string(const Deployment&)> value;
};

std::string ram_text(const Deployment& d) {
  int64_t ram = 0;
  bool proven = true;
  for (const PoolRow& pool : d.report.pools) ram += pool.peak, proven &= pool.proven_optimal;
  return fmt::format("{} bytes{}", ram,
                     proven ? ", proven minimal for this order of operators" : "");
}

// One column for each deployment.
void print_figures(const std::vector<Deployment>& deployments, const std::vector<uint8_t>& golden) {
  const std::vector<Row> rows = {
      {"", [](const Deployment& d) { return d.target; }},
      {"accuracy",
       [](const Deployment& d) {
         const size_t all = d.outcome.scores.size() / kClasses;
         return fmt::format(
             "{:.2f} %  ({} of {})",
             100.0 * static_cast<double>(d.outcome.correct) / static_cast<double>(all),
             d.outcome.correct, all);
       }},
      {"code", [](const Deployment& d) { return fmt::format("{} bytes", d.measured.code_bytes); }},
      {"constants",
       [](const Deployment& d) {
         return d.report.stream_bytes > 0
                    ? fmt::format("{} bytes with the NPU's commands",
                                  d.measured.constant_bytes + d.report.stream_bytes)
                    : fmt::format("{} bytes", d.measured.constant_bytes);
       }},
      {"activations", ram_text},
      {"stack",
       [](const Deployment& d) {
         // The emulator has each access to the NPU's registers as a fault, whose frame lies on the same stack.
         return fmt::format("{} bytes at most, {} used{}", d.measured.stack_bytes, d.outcome.stack,
                            d.outcome.npu_cycles > 0 ? " with the emulator's faults" : "");
       }},
      {"CPU",
       [](const Deployment& d) {
         // Beside a simulated device the CPU waits for as long as the simulation takes.
         return d.outcome.npu_cycles > 0 ? std::string("waits for the NPU")
                                         : fmt::format("{} instructions", d.outcome.instructions);
       }},
      {"NPU",
       [](const Deployment& d) {
         return d.outcome.npu_cycles > 0
                    ? fmt::format("{} cycles (our model of its timing)", d.outcome.npu_cycles)
                    : std::string("-");
       }},
      {"outputs",
       [&](const Deployment& d) {
         return std::string(d.outcome.scores == golden ? "equal to TFLite Micro's, bit for bit"
                                                       : "DIFFER from TFLite Micro's");
       }},
  };
  fmt::print("\n");
  for (const Row& row : rows) {
    fmt::print("  {:<12}", row.name);
    for (const Deployment& deployment : deployments) fmt::print("  {:<46}", row.value(deployment));
    fmt::print("\n");
  }
  if (std::any_of(deployments.begin(), deployments.end(),
                  [](const Deployment& d) { return d.outcome.npu_cycles > 0; }))
    fmt::print(
        "\nThe NPU's cycles are those of Arm's Ethos_U55_High_End_Embedded system (500 MHz, SRAM "
        "at 4 GB/s,\n"
        "flash at 0.5 GB/s), for which the compiler schedules too, and not of this board's "
        "memories.\n");
}

Result<void> demo(const std::string& folder, const std::string& root,
                  const std::string& board_name) {
  INTARSIA_TRY(const board::Board board, board::find_board(root + "/boards", board_name));
  TestSet set;
  INTARSIA_TRY(set.images, read_file(folder + "/test_images.bin"));
  INTARSIA_TRY(set.labels, read_file(folder + "/test_labels.bin"));
  INTARSIA_TRY(const std::vector<uint8_t> golden, read_file(folder + "/golden_outputs.bin"));

  const std::string core = board.cores.front().name;
  std::vector<std::string> targets = {core};
  if (board.takes_simulated_devices()) targets.push_back(core + "+ethos-u55-128");
  std::vector<Deployment> deployments;
  for (const std::string& target : targets) {
    INTARSIA_TRY(Deployment deployment, deploy(folder, root, board, target, set));
    deployments.push_back(std::move(deployment));
  }
  print_figures(deployments, golden);
  draw_digit(set, deployments.front().outcome, kShown);
  for (const Deployment& deployment : deployments)
    if (deployment.outcome.scores != golden)
      return Diagnostics(fmt::format("digits on {}", deployment.target),
                         "the firmware's outputs differ from the golden ones",
                         "please report this");
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
