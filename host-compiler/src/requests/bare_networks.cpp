#include "requests/bare_networks.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "requests/offload_model.h"

namespace intarsia::requests {
namespace {

using Json = nlohmann::ordered_json;

const ProgramFile* file_of(const TargetKind& kind, const std::string& format) {
  for (const ProgramFile& file : kind.foreign_formats.files)
    if (file.write && file.extension == format) return &file;
  return nullptr;
}

Result<const Target*> device_of(const TargetRegistry& registry, const TargetSpec& target,
                                const std::string& format) {
  const Target* found = nullptr;
  for (const Target& device : target.beside_host()) {
    if (found != nullptr || file_of(registry.kind_of(device), format) == nullptr)
      return Diagnostics("--format " + format,
                         fmt::format("is for one CPU and one NPU whose tools have such files, and "
                                     "the target has '{}' too",
                                     to_string(device)),
                         "'intarsia targets' lists targets with an NPU");
    found = &device;
  }
  if (found == nullptr)
    return Diagnostics("--format " + format,
                       fmt::format("is for targets with an NPU whose tools have such files, which "
                                   "'{}' is not",
                                   to_string(target)),
                       "'intarsia targets' lists targets with an NPU");
  return found;
}

Json tensors_json(const graph::Function& function, const std::vector<graph::TensorId>& ids) {
  Json list = Json::array();
  for (const graph::TensorId id : ids) {
    const graph::Tensor& tensor = function.tensor(id);
    // Names are the model's, and may be none; numbers say which are the same.
    Json row = {{"number", id.index},
                {"tensor", tensor.name},
                {"type", std::string(to_string(tensor.type))},
                {"shape", tensor.shape},
                {"bytes", tensor.bytes()}};
    if (tensor.quantization.present()) {
      row["scale"] = tensor.quantization.scale;
      row["zero_point"] = tensor.quantization.zero_point;
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace

std::vector<std::string> network_formats(const Environment& environment) {
  std::vector<std::string> formats;
  for (const ProgramFile& file : environment.registry.foreign_formats().files)
    if (file.write) formats.push_back(file.extension);
  return formats;
}

Result<BareNetworks> bare_networks(Environment& environment, const ModelOptions& options,
                                   const std::string& format, std::span<const uint8_t> bytes,
                                   const NoteSink& on_note, const ProgressListener& on_progress) {
  INTARSIA_TRY_VOID(check_kept_options(options, format));
  INTARSIA_TRY(Selection selection, select(environment, options));
  INTARSIA_TRY(const Target* device, device_of(environment.registry, selection.target, format));
  const ProgramFile& writer = *file_of(environment.registry.kind_of(*device), format);
  selection.options.on_progress = on_progress;
  INTARSIA_TRY(const CompiledModel model,
               compile_bytes(environment, selection, options, bytes, Stage::Emit, on_note));

  const CompiledProgram& program = model.program();
  const graph::Function& entry = program.module.entry_function();
  BareNetworks result{.selection = selection};
  Json steps = Json::array();
  for (const graph::Node& call : entry.nodes) {
    const std::string& callee = call.attrs<graph::CallAttrs>().callee;
    const graph::Function& function = *program.module.find(callee);
    std::vector<std::string> operators;
    for (const graph::Node& node : function.nodes) operators.push_back(node.name);
    Json step = {{"device", function.target}};
    const auto stream = std::ranges::find(program.emitted.streams, callee, &CommandStream::func);
    if (function.target != device->name || stream == program.emitted.streams.end()) {
      result.others += std::ssize(operators);
    } else {
      INTARSIA_TRY(std::vector<uint8_t> network, writer.write(stream->commands));
      result.networks.push_back(
          {fmt::format("{}_{}.{}", program.emitted.name, result.networks.size(), format),
           std::move(network), std::ssize(operators)});
      step["file"] = result.networks.back().file;
    }
    step["operators"] = operators;
    // By the names of the model, which those of the function's own operands need not be.
    step["inputs"] = tensors_json(entry, call.inputs);
    step["outputs"] = tensors_json(entry, call.outputs);
    steps.push_back(std::move(step));
  }
  if (result.networks.empty())
    return Diagnostics("--format " + format,
                       fmt::format("{} runs nothing of the model", to_string(*device)),
                       "'intarsia explain' says why, operator by operator");
  const Json json = {{"model", program.emitted.name},
                     {"target", to_tag(environment.registry.catalogue(), selection.target)
                                    .value_or(to_string(selection.target))},
                     {"inputs", tensors_json(entry, entry.inputs)},
                     {"outputs", tensors_json(entry, entry.outputs)},
                     {"steps", std::move(steps)}};
  result.json = json.dump(2) + "\n";
  result.selection.options.on_progress = nullptr;  // whoever listens now may be gone later
  return result;
}

}  // namespace intarsia::requests
