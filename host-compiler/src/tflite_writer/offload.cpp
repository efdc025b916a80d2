#include "tflite_writer/offload.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/watched.h"
#include "tflite_writer/model_draft.h"
#include "tflite_writer/runs.h"

namespace intarsia::tflite_writer {

namespace {

constexpr const char* kAddresses = "OfflineMemoryAllocation";

// What interpreters look for in the options of an operator that holds a stream: a FlexBuffer of the number 1, a payload for Arm's driver.
constexpr uint8_t kPayloadOptions[] = {1, 4, 1};

// How a file holds streams of the device; null where it does not. Region 0 of a stream is its constants, 1 the arena, 2 the fast one.
const ProgramOperator* container_of(const TargetRegistry& registry, const Target& device) {
  const auto& operators = registry.kind_of(device).foreign_formats.operators;
  return operators.empty() ? nullptr : &operators.front();
}

// What is settled before anything is compiled: who keeps state, and what the user has pinned.
Result<std::map<int32_t, std::string>> kept_on_cpu(const Original& model, const Setting& setting) {
  std::map<int32_t, std::string> kept;
  for (const tflite::OperatorInfo& op : model.operators()) {
    if (op.program != nullptr)
      return Diagnostics(fmt::format("{}: {}", model.file().name(), op.label()),
                         "holds a command stream already",
                         "give the model as it was before it was compiled");
    if (keeps_state(model, op))
      kept[op.index] = op.code == tflite::kCUSTOM ? "custom operators stay on the CPU"
                                                  : "what keeps state stays on the CPU";
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
    return code == tflite::kRESHAPE || code == tflite::kSQUEEZE || code == tflite::kEXPAND_DIMS;
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
  for (bool again = true; again;) {
    INTARSIA_TRY_VOID(watched::goes_on());
    again = false;
    std::set<int32_t> on_cpu;
    for (const auto& [index, reason] : split.on_cpu) on_cpu.insert(index);
    split.runs = runs_of(model, on_cpu);
    for (const Run& run : split.runs) {
      if (!run.on_npu || split.regions.contains(run.operators)) continue;
      std::map<int32_t, std::string> refused;
      if (only_reshapes(model, run.operators)) {
        for (const int32_t index : run.operators)
          refused[index] = "alone it is no reason to start the NPU";
      } else {
        INTARSIA_TRY(Region region, compile_region(model, run.operators, setting));
        refused = region.refused;
        if (refused.empty()) split.regions.emplace(run.operators, std::move(region));
      }
      again = again || !refused.empty();
      split.on_cpu.merge(refused);
    }
  }
  return split;
}

// Of a tensor that the file's metadata places: its offset, else that the interpreter chooses.
std::vector<uint8_t> addresses_of(const std::vector<int32_t>& offsets) {
  std::vector<int32_t> words = {0, 1, static_cast<int32_t>(offsets.size())};
  words.insert(words.end(), offsets.begin(), offsets.end());
  std::vector<uint8_t> bytes;
  for (const int32_t word : words)
    for (int i = 0; i < 4; ++i)
      bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(word) >> (8 * i)));
  return bytes;
}

// The draft of the whole file, tensors in the order of the original, then those of the streams.
class Draft {
 public:
  Draft(const Original& model, const Program& program, const ProgramOperator& container)
      : model_(model), program_(program), container_(container) {}

  ModelDraft run(const std::vector<Step>& steps) {
    keep_tensors(steps);
    size_t stream = 0;
    for (const Step& step : steps) {
      if (step.region != nullptr)
        add_stream(*step.region, program_.streams[stream++]);
      else
        draft_.operators.push_back({.original = step.op,
                                    .inputs = mapped(model_.op(step.op).inputs),
                                    .outputs = mapped(model_.op(step.op).outputs)});
    }
    draft_.inputs = mapped(model_.inputs());
    draft_.outputs = mapped(model_.outputs());
    draft_.metadata.push_back({kAddresses, addresses_of(offsets_)});
    return std::move(draft_);
  }

 private:
  int32_t add(TensorDraft tensor, int64_t offset) {
    draft_.tensors.push_back(std::move(tensor));
    offsets_.push_back(static_cast<int32_t>(offset));
    return static_cast<int32_t>(offsets_.size() - 1);
  }

  void keep_tensors(const std::vector<Step>& steps) {
    std::set<int32_t> kept(model_.inputs().begin(), model_.inputs().end());
    kept.insert(model_.outputs().begin(), model_.outputs().end());
    for (const Step& step : steps) {
      if (step.region == nullptr) {
        for (const int32_t id : model_.tensors_of(step.op)) kept.insert(id);
        continue;
      }
      kept.insert(step.region->inputs.begin(), step.region->inputs.end());
      kept.insert(step.region->outputs.begin(), step.region->outputs.end());
    }
    for (const int32_t id : kept) {
      const auto place = program_.places.find(id);
      number_[id] = add({id}, place == program_.places.end() ? -1 : place->second.offset);
    }
  }

  int32_t add_bytes(const char* name, int64_t bytes, int64_t offset, SharedBytes data = {}) {
    return add({.name = name, .shape = {bytes}, .data = std::move(data)}, offset);
  }

  void add_stream(const Region& region, const CommandStream& stream) {
    // Streams work in one arena, of which every tensor is a part.
    if (arena_ < 0) {
      arena_ = add_bytes("scratch", program_.arena_bytes, 0);
      fast_ = program_.fast_bytes == 0
                  ? arena_
                  : add_bytes("scratch_fast", program_.fast_bytes, program_.arena_bytes);
    }
    const SharedBytes constants = stream.constants;
    std::vector<int32_t> inputs(container_.first_input);
    inputs[container_.payload] =
        add_bytes("ethos_u_command_stream", std::ssize(stream.commands), -1, stream.commands);
    auto known = std::ranges::find(read_only_, constants, &std::pair<SharedBytes, int32_t>::first);
    if (known == read_only_.end()) {
      const int32_t id = add_bytes("read_only", std::ssize(stream.constants), -1, constants);
      known = read_only_.insert(known, {constants, id});
    }
    inputs[container_.constants] = known->second;
    inputs[container_.arena] = arena_;
    inputs[container_.fast_arena] = fast_;
    for (const int32_t id : region.inputs) inputs.push_back(number_.at(id));
    std::vector<int32_t> outputs;
    for (const int32_t id : region.outputs) outputs.push_back(number_.at(id));
    draft_.operators.push_back(
        {.custom_code = container_.custom_code,
         .custom_options = {std::begin(kPayloadOptions), std::end(kPayloadOptions)},
         .inputs = std::move(inputs),
         .outputs = std::move(outputs)});
  }

  std::vector<int32_t> mapped(std::span<const int32_t> ids) const {
    std::vector<int32_t> result;
    for (const int32_t id : ids) result.push_back(id < 0 ? -1 : number_.at(id));
    return result;
  }

  const Original& model_;
  const Program& program_;
  const ProgramOperator& container_;
  ModelDraft draft_;
  std::vector<int32_t> offsets_;
  std::map<int32_t, int32_t> number_;
  std::vector<std::pair<SharedBytes, int32_t>> read_only_;
  int32_t arena_ = -1, fast_ = -1;
};

// What is written is read again, so that nothing that our own importer would refuse leaves the compiler.
Result<void> check_written(const std::vector<uint8_t>& file, const std::string& name,
                           const TargetRegistry& registry) {
  const ForeignFormats formats = registry.foreign_formats();
  const Result<Original> read = Original::open(file, name, formats.operators);
  if (!read.ok()) return read.error();
  return {};
}

}  // namespace

Result<const Target*> npu_of(const TargetRegistry& registry, const TargetSpec& target) {
  const Target* found = nullptr;
  for (const Target& device : target.beside_host()) {
    if (container_of(registry, device) == nullptr || found != nullptr)
      return Diagnostics("--format tflite",
                         fmt::format("is for one CPU and one Ethos-U, and the target has '{}' too",
                                     to_string(device)),
                         "for example --target ethos-u55-128");
    found = &device;
  }
  if (found == nullptr)
    return Diagnostics(
        "--format tflite",
        fmt::format("is for targets with an Ethos-U, which '{}' is not", to_string(target)),
        "for example --target ethos-u55-128");
  return found;
}

Result<OffloadedModel> offload(std::span<const uint8_t> bytes, const std::string& name,
                               const TargetRegistry& registry, const TargetSpec& target,
                               const CompileOptions& options) {
  INTARSIA_TRY(const Target* npu, npu_of(registry, target));
  const ProgramOperator& container = *container_of(registry, *npu);
  const Setting setting{registry, target, *npu, options};
  const ForeignFormats formats = registry.foreign_formats();
  INTARSIA_TRY(const Original model, Original::open(bytes, name, formats.operators));
  INTARSIA_TRY(const Split split, split_model(model, setting));

  std::vector<Step> steps;
  OffloadedModel result;
  for (const Run& run : split.runs) {
    if (!run.on_npu) {
      for (const int32_t index : run.operators) {
        steps.push_back({nullptr, index});
        result.on_cpu.push_back({model.op(index).label(), split.on_cpu.at(index)});
      }
      continue;
    }
    const Region& region = split.regions.at(run.operators);
    steps.push_back({&region});
    result.npu_operators += std::ssize(run.operators);
    const graph::Function& function = *region.module.find(region.function);
    for (const graph::Node& node : function.nodes) result.macs += graph::mac_count(function, node);
    for (const graph::Tensor& tensor : function.tensors)
      if (tensor.constant.valid()) result.weight_bytes += tensor.bytes();
  }
  const auto ran = static_cast<size_t>(result.npu_operators) + result.on_cpu.size();
  if (ran != model.operators().size())
    return Diagnostics(name,
                       "has operators that wait for each other's results, so that none can run");
  INTARSIA_TRY(result.program, make_program(model, steps, setting));
  INTARSIA_CHECK(
      std::ssize(result.program.streams) ==
          std::ranges::count_if(steps, [](const Step& s) { return s.region != nullptr; }),
      "every region has become a stream");
  const ModelDraft draft = Draft(model, result.program, container).run(steps);
  INTARSIA_TRY(result.file, write_model(&model, draft));
  INTARSIA_TRY_VOID(check_written(result.file, name, registry));
  return result;
}

}  // namespace intarsia::tflite_writer
