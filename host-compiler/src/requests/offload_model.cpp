#include "requests/offload_model.h"

#include <fmt/format.h>

#include "import/tflite/tflite_file.h"
#include "tflite_writer/offload.h"

namespace intarsia::requests {
namespace {

Result<void> check_options(const ModelOptions& options, bool is_tflite) {
  const auto refuse = [](const char* option, const char* why, const char* hint) {
    return Diagnostics(option, std::string("cannot be kept by --format tflite: ") + why, hint);
  };
  if (options.board != "host")
    return refuse("--board", "where the arena lies is up to the program that runs the file",
                  "leave it out, and give --target");
  if (is_tflite && options.io == "int8")
    return refuse("--io", "inputs and outputs are those of the file",
                  "convert the model with int8 inputs and outputs");
  if (is_tflite && !options.shapes.empty())
    return refuse("--shape", "operators of the CPU keep the extents of the file",
                  "convert the model with these extents");
  if (has_ram_budget(options) || options.flash_budget)
    return refuse(has_ram_budget(options) ? "--ram-budget" : "--flash-budget",
                  "what the CPU runs is the interpreter's", "leave it out, or give --sram-limit");
  if (!options.sections.empty())
    return refuse("--section", "the file has no sections", "leave it out");
  return {};
}

}  // namespace

Result<OffloadedFile> offload_model(Environment& environment, const ModelOptions& options,
                                    std::span<const uint8_t> bytes, const NoteSink& on_note,
                                    const ProgressListener& on_progress) {
  const bool is_tflite = tflite::has_tflite_identifier(bytes);
  INTARSIA_TRY_VOID(check_options(options, is_tflite));
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
  for (const graph::Function& function : model.program.module.functions) {
    if (function.target != npu->name) continue;
    const CostEstimate cost =
        environment.registry.kind_of(*npu).cost(*npu, model.program.module, function, lowering);
    file.cycles += cost.cycles;
    file.clock_mhz = cost.clock_mhz;
  }
  file.selection.options.on_progress = nullptr;  // whoever listens now may be gone later
  return file;
}

}  // namespace intarsia::requests
