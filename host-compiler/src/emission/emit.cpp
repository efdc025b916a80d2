#include "emission/emit.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "emission/model_text.h"
#include "plan/lifetimes.h"
#include "tir/function_index.h"

namespace intarsia {
namespace {

std::vector<int> used_pools(const Plan& plan) {
  std::set<int> used;
  for (const Placement& placement : plan.placements) used.insert(placement.pool);
  return {used.begin(), used.end()};
}

using emission::Step;

tir::BufferId flag_of(const tir::If& branch) {
  return std::get<tir::Load>(branch.condition->node).buffer;
}

// A loop that is nothing but a branch whose condition only the branch itself changes.
const tir::If* only_branch(const tir::Stmt& body) {
  const auto* branch = std::get_if<tir::If>(&body->node);
  return branch != nullptr && branch->else_body == nullptr ? branch : nullptr;
}

template <typename AddCall>
void list_steps(const tir::Func& schedule, const tir::Stmt& stmt, std::vector<Step>& steps,
                const AddCall& add_call) {
  const auto inside = [&](const tir::Stmt& inner) { list_steps(schedule, inner, steps, add_call); };
  if (const auto* call = std::get_if<tir::Call>(&stmt->node)) {
    add_call(*call);
  } else if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node)) {
    for (const tir::Stmt& inner : sequence->statements) inside(inner);
  } else if (const auto* branch = std::get_if<tir::If>(&stmt->node)) {
    steps.push_back({.what = Step::What::If, .arguments = {flag_of(*branch)}});
    inside(branch->then_body);
    if (branch->else_body != nullptr) {
      steps.push_back({.what = Step::What::Else});
      inside(branch->else_body);
    }
    steps.push_back({.what = Step::What::End});
  } else if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
    const tir::If* only = only_branch(loop->body);
    steps.push_back({.what = Step::What::Loop,
                     .variable = schedule.var(loop->var).name,
                     .iterations = std::get<tir::IntImm>(loop->hi->node).value,
                     .while_flag = only != nullptr ? flag_of(*only) : tir::BufferId{}});
    inside(only != nullptr ? only->then_body : loop->body);
    steps.push_back({.what = Step::What::End});
  }
}

// What the targets made, joined in the order of the devices.
struct Collected {
  std::vector<std::string> functions;
  std::set<std::string> includes;
};

// The host's kind has made the whole model, the functions of the header among it.
bool is_object_file(const EmittedModel& model) {
  return std::any_of(model.sources.begin(), model.sources.end(),
                     [&](const SourceFile& file) { return file.path == model.name + ".o"; });
}

}  // namespace

std::vector<TensorInfo> tensor_infos(const graph::Function& entry,
                                     const std::vector<graph::TensorId>& ids) {
  std::vector<TensorInfo> infos;
  for (const graph::TensorId id : ids) {
    const graph::Tensor& tensor = entry.tensor(id);
    infos.push_back({tensor.name, tensor.type, tensor.shape, tensor.quantization, tensor.bytes()});
  }
  return infos;
}

Result<EmittedModel> emit(const tir::Module& module, const Plan& plan, const graph::Module& graph,
                          const TargetRegistry& registry, const TargetSpec& target,
                          const EmitOptions& options) {
  EmittedModel model;
  model.name = module.name;
  const graph::Function& entry = graph.entry_function();
  model.inputs = tensor_infos(entry, entry.inputs);
  model.outputs = tensor_infos(entry, entry.outputs);

  Collected collected;
  for (const Target& device : target.devices()) {
    INTARSIA_TRY(Artifacts artifacts,
                 registry.kind_of(device).tir_to_runtime(device, module, plan));
    collected.functions.insert(collected.functions.end(), artifacts.functions.begin(),
                               artifacts.functions.end());
    collected.includes.insert(artifacts.includes.begin(), artifacts.includes.end());
    for (SourceFile& file : artifacts.sources) {
      if (file.path.ends_with(".c")) model.c_files.push_back(file.path);
      model.sources.push_back(std::move(file));
    }
    if (!artifacts.streams.empty()) model.devices.push_back(device.name);
    for (CommandStream& stream : artifacts.streams) stream.target = to_string(device);
    std::move(artifacts.streams.begin(), artifacts.streams.end(),
              std::back_inserter(model.streams));
  }

  std::map<std::string, int> stream_of, device_of;
  for (size_t i = 0; i < model.streams.size(); ++i)
    stream_of[model.streams[i].func] = static_cast<int>(i);
  for (size_t i = 0; i < model.devices.size(); ++i)
    device_of[model.devices[i]] = static_cast<int>(i);

  emission::ModelContext context{
      module, plan, graph, model, options, to_string(target), {}, used_pools(plan)};
  for (const int pool : context.pools)
    model.memories.push_back({plan.memory.pools[static_cast<size_t>(pool)].name,
                              plan.use[static_cast<size_t>(pool)].peak});
  model.alignment = plan.alignment;
  model.has_state = emission::has_state(context);
  const tir::FunctionIndex functions(module);
  const auto add_call = [&](const tir::Call& call) {
    Step step{.func = &functions.at(call.function), .arguments = call.arguments};
    if (const auto found = stream_of.find(call.function); found != stream_of.end()) {
      step.stream = found->second;
      step.device = device_of.at(model.streams[static_cast<size_t>(found->second)].device);
    }
    context.steps.push_back(std::move(step));
  };
  list_steps(module.entry_func(), module.entry_func().body, context.steps, add_call);

  const std::vector<std::string> includes(collected.includes.begin(), collected.includes.end());
  model.placeable = emission::placeable_objects(context);
  model.streams_attribute =
      emission::section_attribute(context, "streams", "", model.streams_attribute);
  model.streams_section = emission::asked_section(context, "streams", "");
  model.weights_file = options.weights_file;
  INTARSIA_TRY(emission::DataFiles data, emission::data_files(context));
  model.arrays = std::move(data.arrays);
  std::vector<SourceFile> files = {{model.name + ".h", emission::header_text(context)}};
  if (is_object_file(model)) {
    model.arrays.clear();
  } else {
    files.push_back(
        {model.name + ".c", emission::source_text(context, includes, collected.functions)});
    std::move(data.files.begin(), data.files.end(), std::back_inserter(files));
  }
  for (const SourceFile& file : files)
    if (file.path.ends_with(".c")) model.c_files.push_back(file.path);
  std::move(files.begin(), files.end(), std::back_inserter(model.sources));
  return model;
}

}  // namespace intarsia
