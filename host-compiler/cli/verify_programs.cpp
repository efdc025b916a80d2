#include "verify_programs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "board/process_board.h"
#include "build/object_machine.h"
#include "emission/emit.h"
#include "intarsia/graph/tensor_values.h"
#include "program.h"
#include "run_in_process.h"
#include "support/files.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

// One value after another, per tensor; and one of `count` such slices.
Values joined(const std::vector<Values>& samples) {
  Values all(samples.front().size());
  for (const Values& sample : samples)
    for (size_t i = 0; i < sample.size(); ++i)
      all[i].insert(all[i].end(), sample[i].begin(), sample[i].end());
  return all;
}
Values slice(const Values& all, size_t index, size_t count) {
  Values one;
  for (const graph::TensorValue& values : all) {
    const auto bytes = static_cast<int64_t>(values.size() / count);
    const auto begin = values.begin() + static_cast<int64_t>(index) * bytes;
    one.emplace_back(begin, begin + bytes);
  }
  return one;
}

Result<std::vector<std::string>> sample_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = entry.path().extension().string();
    if (entry.is_regular_file() && (ending == ".bin" || ending == ".npy"))
      files.push_back(entry.path().string());
  }
  if (error)
    return Diagnostics(folder, "cannot be read: " + error.message(),
                       "check the path and its permissions");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<Platforms> platforms_of(const Context& context, const Selection& selection) {
  Platforms platforms;
  if (board::is_this_machine(selection.board)) {
    platforms.all.push_back({selection.board.name, selection});
    platforms.all.push_back({"engine", selection, true});
    return platforms;
  }
  // The options are the board's, its memories among them: the plan and the streams are the same.
  Selection here = selection;
  INTARSIA_TRY(here.board, board::find_board(context.boards_folder(), "host"));
  INTARSIA_TRY(here.core, board::core_for(here.board, selection.core.name));
  platforms.all.push_back({here.board.name, here});
  if (selection.board.can_run())
    platforms.all.push_back({selection.board.name, selection});
  else
    platforms.left_out = fmt::format(
        "neither an emulator nor a debug probe is known for board {}: its firmware is not part of "
        "this check; 'intarsia "
        "build' makes it, and docs/debugging.md says how to compare on the board itself",
        selection.board.name);
  platforms.all.push_back({"engine", std::move(here), true});
  return platforms;
}

namespace {

Result<Ran> run_in_engine(const Context& context, const Selection& selection,
                          const graph::Module& module, const std::vector<Values>& samples) {
  INTARSIA_TRY(CompiledModel model,
               compile_on(context, selection, imported_model(module), Stage::Emit));
  Ran ran;
  INTARSIA_TRY(std::optional<Engine> engine, make_engine(context, model, {}, ran.cannot));
  for (const Values& sample : samples) {
    if (!engine) break;
    INTARSIA_TRY(Values results,
                 engine->run(std::vector<std::span<const uint8_t>>(sample.begin(), sample.end())));
    ran.results.push_back(std::move(results));
  }
  ran.explanation = std::move(model.partitioned.explanation);
  return ran;
}

}  // namespace

Result<Ran> run_module(const Context& context, const CommonOptions& options,
                       const Platform& platform, const graph::Module& module,
                       const std::vector<Values>& samples, bool counts_cycles) {
  const Selection& selection = platform.selection;
  if (platform.is_engine) return run_in_engine(context, selection, module, samples);
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  const std::string folder = work.path() + "/package";
  INTARSIA_TRY(CompiledModel model, compile_into(context, selection, module, folder));
  const BuildSetting setting =
      build_setting(context, options, selection, folder, model.package.manifest);
  Ran ran;
  ran.explanation = std::move(model.partitioned.explanation);
  // Of a model whose code is for another machine, firmware and loops are compared.
  for (const std::string& source : setting.manifest.sources) {
    if (!source.ends_with(".o")) continue;
    ran.is_object = true;
    if (board::is_this_machine(setting.board))
      if (const Result<void> runs = build::check_machine(setting.board, folder + "/" + source);
          !runs.ok()) {
        ran.cannot = runs.error().items().front().to_string();
        return ran;
      }
  }
  counts_cycles = counts_cycles && setting.board.emulator.has_value();
  INTARSIA_TRY(ran.results, run_package(setting, samples, work.path(),
                                        {.cycles = counts_cycles ? &ran.cycles : nullptr}));
  return ran;
}

Result<std::vector<Values>> run_package(const BuildSetting& package,
                                        const std::vector<Values>& samples,
                                        const std::string& work_folder,
                                        const PackageRunNotes& notes) {
  BuildSetting setting = package;
  ExecuteRequest request;
  if (notes.shown != nullptr) request.results_file = work_folder + "/results.bin";
  if (notes.cycles != nullptr) {
    INTARSIA_TRY_VOID(prepare_to_count_cycles(setting));
    request.count_cycles = true;
  }
  INTARSIA_TRY(request.program, build_program(setting, work_folder));
  request.inputs = joined(samples);
  request.repeat = static_cast<int32_t>(samples.size());
  request.keep_all = true;
  INTARSIA_TRY(const ExecuteResult result, execute(setting, request, work_folder));
  if (notes.shown != nullptr) {
    INTARSIA_TRY(*notes.shown, read_shown_results(request.results_file));
  }
  if (notes.cycles != nullptr) *notes.cycles = result.cycles;
  std::vector<Values> results;
  for (size_t s = 0; s < samples.size(); ++s)
    results.push_back(slice(result.outputs, s, samples.size()));
  return results;
}

Result<std::vector<Values>> read_samples(const graph::Function& function,
                                         const std::vector<std::string>& inputs) {
  const std::vector<TensorInfo> tensors = tensor_infos(function, function.inputs);
  std::error_code error;
  if (inputs.size() == 1 && fs::is_directory(inputs[0], error)) {
    INTARSIA_TRY(const std::vector<std::string> files, sample_files(inputs[0]));
    if (files.empty() || tensors.empty() || files.size() % tensors.size() != 0)
      return Diagnostics(
          inputs[0],
          fmt::format("holds {} files .bin or .npy, a sample is {}", files.size(), tensors.size()),
          "put one file per sample and input there, named so that they sort in that order");
    std::vector<Values> samples(files.size() / tensors.size());
    Diagnostics problems;
    for (size_t i = 0; i < files.size(); ++i) {
      Result<std::vector<uint8_t>> bytes =
          read_tensor_file(files[i], tensors[i % tensors.size()], 1);
      if (!bytes.ok())
        problems.append(bytes.error());
      else
        samples[i / tensors.size()].push_back(std::move(bytes).value());
    }
    if (!problems.empty()) return problems;
    return samples;
  }
  if (inputs.size() != tensors.size())
    return Diagnostics(
        "--input",
        fmt::format("{} given, {} takes {}", inputs.size(), function.name, tensors.size()),
        "give a folder, or --input once per model input, in order");
  Diagnostics problems;
  Values all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Result<std::vector<uint8_t>> bytes = read_tensor_file(inputs[i], tensors[i], kAnySlices);
    if (!bytes.ok())
      problems.append(bytes.error());
    else
      all.push_back(std::move(bytes).value());
  }
  if (!problems.empty()) return problems;
  INTARSIA_TRY(const size_t count, sample_count(inputs, tensors, all));
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() != static_cast<size_t>(tensors[i].bytes)) continue;
    const graph::TensorValue one = all[i];
    for (size_t n = 1; n < count; ++n) all[i].insert(all[i].end(), one.begin(), one.end());
  }
  std::vector<Values> samples;
  for (size_t s = 0; s < count; ++s) samples.push_back(slice(all, s, count));
  return samples;
}

Result<Subject> subject_of(const Context& context, const VerifyCommand& command,
                           const std::string& model) {
  Subject subject;
  CommonOptions options = command.common;
  options.model = model;
  INTARSIA_TRY(subject.module, import_file(context, options));
  const graph::Function& entry = subject.module.entry_function();
  if (command.inputs.empty()) {
    for (int i = 0; i < command.samples; ++i)
      subject.samples.push_back(graph::make_sample(subject.module, i));
  } else {
    INTARSIA_TRY(subject.samples, read_samples(entry, command.inputs));
  }
  show_progress("computing the reference");
  INTARSIA_TRY(subject.expected, evaluate(subject.module, subject.samples));
  return subject;
}

}  // namespace intarsia::cli
