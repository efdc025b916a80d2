#include "requests/offload_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "import/tflite/tflite_file.h"
#include "tflite_writer/offload.h"

namespace intarsia::requests {
namespace {

Diagnostics not_kept(const std::string& option, const std::string& format, const char* why,
                     const char* hint) {
  return Diagnostics(option, fmt::format("cannot be kept by --format {}: {}", format, why), hint);
}

// What the CPU runs is as in the file.
Result<void> check_options_of_file(const ModelOptions& options) {
  if (options.io == "int8")
    return not_kept("--io", kOffloadFormat, "inputs and outputs are those of the file",
                    "convert the model with int8 inputs and outputs");
  if (!options.input_values.empty())
    return not_kept("--input-value", kOffloadFormat, "inputs and outputs are those of the file",
                    "convert the model with this value inside");
  if (!options.shapes.empty())
    return not_kept("--shape", kOffloadFormat, "operators of the CPU keep the extents of the file",
                    "convert the model with these extents");
  if (!options.signature.empty())
    return not_kept("--signature", kOffloadFormat,
                    "the file keeps all of its networks, and the first one is compiled",
                    "leave it out");
  return {};
}

// What the device does of the functions that it was given.
void add_work(OffloadedFile& file, const TargetKind& kind, const Target& npu,
              const graph::Module& module, const LoweringOptions& lowering) {
  for (const graph::Function& function : module.functions) {
    if (function.target != npu.name) continue;
    const CostEstimate cost = kind.cost(npu, module, function, lowering);
    file.cycles += cost.cycles;
    file.clock_mhz = cost.clock_mhz;
    for (const graph::Node& node : function.nodes)
      file.kinds[node.name] = std::string(graph::to_string(node.kind));
    if (!kind.work) continue;
    DeviceWork work = kind.work(npu, module, function, lowering);
    if (file.work.memories.empty()) file.work.memories = std::move(work.memories);
    file.work.macs_per_cycle = work.macs_per_cycle;
    std::ranges::move(work.operations, std::back_inserter(file.work.operations));
  }
}

}  // namespace

Result<void> check_kept_options(const ModelOptions& options, const std::string& format) {
  if (options.board != "host")
    return not_kept("--board", format, "where memory lies is up to the program that runs the file",
                    "leave it out, and give --target");
  if (has_ram_budget(options) || options.flash_budget)
    return not_kept(has_ram_budget(options) ? "--ram-budget" : "--flash-budget", format,
                    "what the CPU runs is another program's", "leave it out, or give --sram-limit");
  if (!options.sections.empty())
    return not_kept("--section", format, "the file has no sections", "leave it out");
  if (options.weights_file == "always")
    return not_kept("--weights-file", format, "the file holds the weights", "leave it out");
  return {};
}

Result<OffloadedFile> offload_model(Environment& environment, const ModelOptions& options,
                                    std::span<const uint8_t> bytes, const NoteSink& on_note,
                                    const ProgressListener& on_progress) {
  const bool is_tflite = tflite::has_tflite_identifier(bytes);
  INTARSIA_TRY_VOID(check_kept_options(options, kOffloadFormat));
  if (is_tflite) INTARSIA_TRY_VOID(check_options_of_file(options));
  INTARSIA_TRY(Selection selection, select(environment, options));
  selection.options.on_progress = on_progress;
  INTARSIA_TRY(const Target* npu, tflite_writer::npu_of(environment.registry, selection.target));
  tflite_writer::OffloadedModel model;
  if (is_tflite) {
    INTARSIA_TRY(model, tflite_writer::offload(bytes, options.model, environment.registry,
                                               selection.target, selection.options));
  } else {
    INTARSIA_TRY(const graph::Module module,
                 import_as_asked(environment, options, bytes, on_note, on_progress));
    INTARSIA_TRY(model, tflite_writer::offload_whole(module, environment.registry, selection.target,
                                                     selection.options));
  }
  OffloadedFile file{selection, std::move(model.file)};
  for (tflite_writer::CpuOperator& op : model.on_cpu)
    file.on_cpu.push_back({std::move(op.label), std::move(op.reason)});
  file.npu_operators = model.npu_operators;
  file.macs = model.macs;
  file.weight_bytes = model.weight_bytes;
  file.arena_bytes = model.program.arena_bytes;
  file.fast_bytes = model.program.fast_bytes;
  file.streams = std::ssize(model.program.streams);
  for (const CommandStream& stream : model.program.streams) {
    file.encoded_bytes += std::ssize(stream.constants);
    file.stream_bytes += std::ssize(stream.commands);
  }
  const MemoryMap memory =
      planning_memory(selection.options.memory, environment.registry, selection.target);
  LoweringOptions lowering = selection.options.lowering;
  lowering.memory = &memory;
  add_work(file, environment.registry.kind_of(*npu), *npu, model.program.module, lowering);
  file.selection.options.on_progress = nullptr;  // whoever listens now may be gone later
  return file;
}

}  // namespace intarsia::requests
