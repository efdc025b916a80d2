#include "tflite_writer/offload.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/watched.h"
#include "tflite_writer/file_draft.h"
#include "tflite_writer/state_sides.h"

namespace intarsia::tflite_writer {

namespace {

// How a file holds streams of the device; null where it does not. Region 0 of a stream is its constants, 1 the arena, 2 the fast one.
const ProgramOperator* container_of(const TargetRegistry& registry, const Target& device) {
  const auto& operators = registry.kind_of(device).foreign_formats.operators;
  return operators.empty() ? nullptr : &operators.front();
}

// What is settled before anything is compiled: what no NPU runs, and what the user has pinned.
Result<std::map<int32_t, std::string>> kept_on_cpu(const Original& model, const Setting& setting) {
  std::map<int32_t, std::string> kept;
  for (const tflite::OperatorInfo& op : model.operators()) {
    if (op.program != nullptr)
      return Diagnostics(fmt::format("{}: {}", model.file().name(), op.label()),
                         "holds a command stream already",
                         "give the model as it was before it was compiled");
    if (op.code == tflite::kCUSTOM)
      kept[op.index] = "custom operators stay on the CPU";
    else if (op.code == tflite::kIF || op.code == tflite::kWHILE || op.code == tflite::kCALL_ONCE ||
             has_unknown_handle(model, op))
      kept[op.index] = "what runs other subgraphs, and their state, stays on the CPU";
    else if (op.known == nullptr)
      kept[op.index] = "the compiler does not have this operator";
  }
  for (const auto& [name, device] : setting.options.partition.pins) {
    const auto op = std::ranges::find(model.operators(), name, &tflite::OperatorInfo::name);
    if (op == model.operators().end())
      return Diagnostics("--pin " + name, "names no operator of the model",
                         "'intarsia explain' lists them");
    if (device != setting.npu.name) kept[op->index] = "pinned to " + device;
  }
  return kept;
}

// Neither compute: alone they are no reason to wake the NPU.
bool only_reshapes(const Original& model, const std::vector<int32_t>& operators) {
  return std::ranges::all_of(operators, [&](int32_t index) {
    const int32_t code = model.op(index).code;
    return code == tflite::kRESHAPE || code == tflite::kSQUEEZE || code == tflite::kEXPAND_DIMS ||
           code == tflite::kVAR_HANDLE || code == tflite::kREAD_VARIABLE ||
           code == tflite::kASSIGN_VARIABLE;
  });
}

struct Split {
  std::vector<Run> runs;
  std::map<std::vector<int32_t>, Region> regions;  // by their operators
  std::map<int32_t, std::string> on_cpu;           // and why
};

// Until every run of the NPU is one that it takes: an operator that it refuses splits a run, or ends one.
Result<Split> split_model(const Original& model, const Setting& setting) {
  Split split;
  INTARSIA_TRY(split.on_cpu, kept_on_cpu(model, setting));
  StateSides sides(model, setting);
  sides.begin(split.on_cpu);
  for (bool again = true; again;) {
    INTARSIA_TRY_VOID(watched::goes_on());
    std::set<int32_t> on_cpu;
    for (const auto& [index, reason] : split.on_cpu) on_cpu.insert(index);
    split.runs = runs_of(model, on_cpu, sides.handles());
    again = !sides.place(split.runs, split.on_cpu);
    if (again) continue;
    for (const Run& run : split.runs) {
      if (!run.on_npu || split.regions.contains(run.operators)) continue;
      std::map<int32_t, std::string> refused;
      if (only_reshapes(model, run.operators)) {
        for (const int32_t index : run.operators)
          refused[index] = "alone it is no reason to start the NPU";
      } else {
        INTARSIA_TRY(Region region, compile_region(model, sides.states(), run.operators, setting));
        refused = region.refused;
        if (refused.empty()) split.regions.emplace(run.operators, std::move(region));
      }
      again = again || !refused.empty();
      split.on_cpu.merge(refused);
    }
    sides.settle(split.on_cpu);
  }
  return split;
}

// What is written is read again, so that nothing that our own importer would refuse leaves the compiler.
Result<void> check_written(const std::vector<uint8_t>& file, const std::string& name,
                           const TargetRegistry& registry) {
  const ForeignFormats formats = registry.foreign_formats();
  const Result<Original> read = Original::open(file, name, formats.operators);
  if (!read.ok()) return read.error();
  return {};
}

// Both at the end: the steps as one program, and that as a file.
Result<OffloadedModel> finish(const Original& model, const std::vector<Step>& steps,
                              const Setting& setting, OffloadedModel result) {
  for (const Step& step : steps) {
    if (step.region == nullptr) continue;
    const graph::Function& function = *step.region->module.find(step.region->function);
    for (const graph::Node& node : function.nodes) result.macs += graph::mac_count(function, node);
    for (const graph::Tensor& tensor : function.tensors)
      if (tensor.constant.valid()) result.weight_bytes += tensor.bytes();
  }
  INTARSIA_TRY(result.program, make_program(model, steps, setting));
  INTARSIA_CHECK(
      std::ssize(result.program.streams) ==
          std::ranges::count_if(steps, [](const Step& s) { return s.region != nullptr; }),
      "every region has become a stream");
  const ProgramOperator& container = *container_of(setting.registry, setting.npu);
  const ModelDraft draft = draft_file(model, steps, result.program, container);
  INTARSIA_TRY(result.file, write_model(&model, draft));
  INTARSIA_TRY_VOID(check_written(result.file, model.file().name(), setting.registry));
  return result;
}

}  // namespace

Result<const Target*> npu_of(const TargetRegistry& registry, const TargetSpec& target) {
  const Target* found = nullptr;
  for (const Target& device : target.beside_host()) {
    if (container_of(registry, device) == nullptr || found != nullptr)
      return Diagnostics("--format tflite",
                         fmt::format("is for one CPU and one NPU whose command streams such a file "
                                     "holds, and the target has '{}' too",
                                     to_string(device)),
                         "'intarsia targets' lists targets with an NPU");
    found = &device;
  }
  if (found == nullptr)
    return Diagnostics(
        "--format tflite",
        fmt::format(
            "is for targets with an NPU whose command streams such a file holds, which '{}' is not",
            to_string(target)),
        "'intarsia targets' lists targets with an NPU");
  return found;
}

Result<OffloadedModel> offload(std::span<const uint8_t> bytes, const std::string& name,
                               const TargetRegistry& registry, const TargetSpec& target,
                               const CompileOptions& options) {
  INTARSIA_TRY(const Target* npu, npu_of(registry, target));
  const Setting setting{registry, target, *npu, options};
  const ForeignFormats formats = registry.foreign_formats();
  INTARSIA_TRY(const Original model, Original::open(bytes, name, formats.operators));
  INTARSIA_TRY(const Split split, split_model(model, setting));

  std::vector<Step> steps;
  OffloadedModel result;
  for (const Run& run : split.runs) {
    if (run.on_npu) {
      steps.push_back({&split.regions.at(run.operators)});
      result.npu_operators += std::ssize(run.operators);
      continue;
    }
    for (const int32_t index : run.operators) {
      steps.push_back({nullptr, index});
      result.on_cpu.push_back({model.op(index).label(), split.on_cpu.at(index)});
    }
  }
  const auto ran = static_cast<size_t>(result.npu_operators) + result.on_cpu.size();
  if (ran != model.operators().size())
    return Diagnostics(name,
                       "has operators that wait for each other's results, so that none can run");
  return finish(model, steps, setting, std::move(result));
}

Result<OffloadedModel> offload_whole(const graph::Module& module, const TargetRegistry& registry,
                                     const TargetSpec& target, const CompileOptions& options) {
  INTARSIA_TRY(const Target* npu, npu_of(registry, target));
  const Setting setting{registry, target, *npu, options};
  if (!options.partition.pins.empty())
    return Diagnostics("--pin", "only operators of a .tflite file can stay on the CPU",
                       "leave it out");
  INTARSIA_TRY(Placed placed, place(module, setting));
  Diagnostics refused;
  for (const Explanation::Operator& row : placed.partitioned.explanation.operators)
    if (row.device != npu->name)
      refused.add(fmt::format("{}: operator '{}' ({})", module.name, row.name, row.kind),
                  fmt::format("cannot be in a .tflite file, since the CPU would run it: {}",
                              reason_of(row, npu->name)),
                  row.kind == "quantize" || row.kind == "dequantize"
                      ? "--io int8 leaves conversions at the model's edges to the application; of "
                        "a .tflite "
                        "others may stay on the CPU too"
                      : "convert the model to .tflite, whose operators may stay on the CPU");
  if (!refused.empty()) return refused;

  // A file of one operator stands for the model: its operands are the model's.
  const graph::Function& entry = module.entry_function();
  ModelDraft draft{.name = module.name, .operators = {{.custom_code = "model"}}};
  const auto add = [&](const std::vector<graph::TensorId>& edge, std::vector<int32_t>& side) {
    for (const graph::TensorId id : edge) {
      const graph::Tensor& tensor = entry.tensor(id);
      side.push_back(static_cast<int32_t>(draft.tensors.size()));
      draft.tensors.push_back({.name = tensor.name,
                               .type = tensor.type,
                               .shape = tensor.shape,
                               .quantization = tensor.quantization});
    }
  };
  add(entry.inputs, draft.inputs);
  add(entry.outputs, draft.outputs);
  draft.operators[0].inputs = draft.inputs;
  draft.operators[0].outputs = draft.outputs;
  INTARSIA_TRY(const std::vector<uint8_t> stand_in, write_model(nullptr, draft));
  INTARSIA_TRY(const Original model, Original::open(stand_in, module.name, {}));
  Region region;
  region.operators = {0};
  take_function(region, std::move(placed.partitioned.module), model, draft.inputs, draft.outputs);
  if (!region.refused.empty())
    return Diagnostics(module.name, region.refused.begin()->second,
                       "convert the model to .tflite, whose operators may stay on the CPU");
  OffloadedModel result;
  result.npu_operators = std::ssize(entry.nodes);
  return finish(model, {{&region}}, setting, std::move(result));
}

}  // namespace intarsia::tflite_writer
