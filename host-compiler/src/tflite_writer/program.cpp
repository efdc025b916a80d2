#include "tflite_writer/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "intarsia/plugin/kept_state.h"
#include "intarsia/plugin/rounding.h"
#include "intarsia/plugin/stream_places.h"
#include "intarsia/plugin/tir_build.h"

namespace intarsia::tflite_writer {

namespace {

constexpr const char* kOperatorKind = "tflite-operators";
constexpr int32_t kAlignment = 16;  // of tensors in an arena

// One operator of the CPU: a command that reads its inputs and writes its outputs, whole.
tir::LoweredFunction lower_operator(const graph::Function& function) {
  tir::FuncBuilder builder(function.name);
  std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
  const auto add = [&](graph::TensorId id, const char* name, tir::Access access) {
    const graph::Tensor& tensor = function.tensor(id);
    const tir::BufferId buffer = builder.parameter(fmt::format("{}{}", name, operands.size()),
                                                   tensor.type, tensor.shape, access, kAlignment);
    operands.push_back(tir::BufferRun{buffer,
                                      std::vector<tir::Expr>(tensor.shape.size(), tir::int_imm(0)),
                                      element_count(tensor.shape), access});
  };
  for (const graph::TensorId id : function.inputs) add(id, "input", tir::Access::Read);
  for (const graph::TensorId id : function.outputs) add(id, "output", tir::Access::Write);
  tir::LoweredFunction result;
  tir::Func func =
      builder.finish(tir::seq({tir::intrinsic("intarsia_tflite_operator", std::move(operands))}));
  func.origin = function.name;
  result.entry = func.name;
  result.module.funcs.push_back(std::move(func));
  return result;
}

// The kinds there are, and one that runs operators of a file.
TargetRegistry registry_with_operators(const TargetRegistry& registry) {
  TargetRegistry result;
  for (const auto& kind : registry.kinds()) result.add(*kind);
  TargetKind kind;
  kind.spec.name = kOperatorKind;
  kind.spec.summary = "operators of a .tflite file";
  kind.graph_to_tir = [](const Target&, const graph::Module&, const graph::Function& function,
                         const LoweringOptions&) -> Result<tir::LoweredFunction> {
    return lower_operator(function);
  };
  result.add(std::move(kind));
  return result;
}

class Assembler {
 public:
  Assembler(const Original& model, const std::string& host, const std::string& npu)
      : model_(model), host_(host), npu_(npu) {
    module_.name = "model";
    module_.entry = "main";
    entry_.name = module_.entry;
  }

  graph::Module run(const std::vector<Step>& steps) {
    // The types of tensors are those of the regions that use them; the CPU's are bytes.
    for (const Step& step : steps)
      if (step.region != nullptr) declare_operands(*step.region);
    for (const Step& step : steps)
      step.region != nullptr ? add_region(*step.region) : add_operator(step.op);
    const auto add_edge = [&](std::span<const int32_t> ids, std::vector<graph::TensorId>& edge) {
      for (const int32_t id : ids)
        if (const auto found = ids_.find(id);
            found != ids_.end() && std::ranges::find(edge, found->second) == edge.end())
          edge.push_back(found->second);
    };
    add_edge(model_.inputs(), entry_.inputs);
    add_edge(model_.outputs(), entry_.outputs);
    keep_to_the_end(inputs_that_leave());
    module_.functions.insert(module_.functions.begin(), std::move(entry_));
    return std::move(module_);
  }

  const std::map<int32_t, graph::TensorId>& ids() const { return ids_; }

 private:
  // An interpreter reads such an output where the input was, so that nothing may take its place. Of the outputs they are none any more.
  std::vector<graph::TensorId> inputs_that_leave() {
    std::vector<graph::TensorId> leaving;
    std::erase_if(entry_.outputs, [&](graph::TensorId id) {
      const bool is_input = std::ranges::find(entry_.inputs, id) != entry_.inputs.end();
      if (is_input) leaving.push_back(id);
      return is_input;
    });
    return leaving;
  }

  // A last step that reads them, which no file has.
  void keep_to_the_end(const std::vector<graph::TensorId>& tensors) {
    if (tensors.empty()) return;
    graph::Function function;
    function.target = host_;
    for (const graph::TensorId id : tensors) {
      function.inputs.push_back({static_cast<int32_t>(function.tensors.size())});
      function.tensors.push_back(entry_.tensor(id));
    }
    add_call(std::move(function), tensors, {});
  }

  void declare(int32_t tensor, graph::Tensor as) {
    const graph::TensorId id{static_cast<int32_t>(entry_.tensors.size())};
    if (!ids_.try_emplace(tensor, id).second) return;
    as.name = fmt::format("tensor{}", tensor);
    entry_.tensors.push_back(std::move(as));
  }

  void declare_operands(const Region& region) {
    const graph::Function& function = *region.module.find(region.function);
    for (size_t i = 0; i < region.inputs.size(); ++i)
      declare(region.inputs[i], function.tensor(function.inputs[i]));
    for (size_t i = 0; i < region.outputs.size(); ++i)
      declare(region.outputs[i], function.tensor(function.outputs[i]));
  }

  void add_call(graph::Function function, std::vector<graph::TensorId> inputs,
                std::vector<graph::TensorId> outputs) {
    function.name = fmt::format("step{}", entry_.nodes.size());
    graph::Node call;
    call.kind = graph::OpKind::Call;
    call.name = function.name;
    call.attributes = graph::CallAttrs{function.name};
    call.inputs = std::move(inputs);
    call.outputs = std::move(outputs);
    entry_.nodes.push_back(std::move(call));
    module_.functions.push_back(std::move(function));
  }

  std::vector<graph::TensorId> mapped(const std::vector<int32_t>& tensors) const {
    std::vector<graph::TensorId> result;
    for (const int32_t tensor : tensors) result.push_back(ids_.at(tensor));
    return result;
  }

  void add_region(const Region& region) {
    graph::Function function = *region.module.find(region.function);
    function.target = npu_;
    const auto first = static_cast<int32_t>(module_.constants.size());
    for (graph::Tensor& tensor : function.tensors)
      if (tensor.constant.valid()) tensor.constant.index += first;
    module_.constants.insert(module_.constants.end(), region.module.constants.begin(),
                             region.module.constants.end());
    add_call(std::move(function), mapped(region.inputs), mapped(region.outputs));
  }

  void add_operator(int32_t index) {
    graph::Function function;
    function.target = host_;
    std::vector<graph::TensorId> inputs, outputs;
    const auto add = [&](std::span<const int32_t> ids, std::vector<graph::TensorId>& operands,
                         std::vector<graph::TensorId>& parameters) {
      for (const int32_t id : ids) {
        const auto bytes =
            id >= 0 && model_.is_value(id) ? model_.bytes(id) : std::optional<int64_t>();
        if (!bytes) continue;
        graph::Tensor tensor;
        tensor.shape = {*bytes};
        declare(id, tensor);
        const graph::TensorId place = ids_.at(id);
        if (std::ranges::find(operands, place) != operands.end()) continue;
        operands.push_back(place);
        parameters.push_back({static_cast<int32_t>(function.tensors.size())});
        function.tensors.push_back(entry_.tensor(place));
      }
    };
    add(model_.op(index).inputs, inputs, function.inputs);
    add(model_.op(index).outputs, outputs, function.outputs);
    if (!inputs.empty() || !outputs.empty())
      add_call(std::move(function), std::move(inputs), std::move(outputs));
  }

  const Original& model_;
  const std::string host_, npu_;
  graph::Module module_;
  graph::Function entry_;
  std::map<int32_t, graph::TensorId> ids_;  // by tensor of the file
};

// Buffers of the schedule by the tensors of the entry that they are: operands of the program first, others as they are first mentioned.
std::map<int32_t, tir::BufferId> buffers_of(const graph::Function& entry,
                                            const tir::Func& schedule) {
  std::map<int32_t, tir::BufferId> result;
  const auto buffer = [&](const std::string& name) {
    for (size_t i = 0; i < schedule.buffers.size(); ++i)
      if (schedule.buffers[i].name == name) return tir::BufferId{static_cast<int32_t>(i)};
    INTARSIA_CHECK(false, "tensors between functions are buffers of the schedule");
  };
  int32_t parameters = 0, between = 0;
  for (const auto* edge : {&entry.inputs, &entry.outputs})
    for (const graph::TensorId id : *edge) result[id.index] = {parameters++};
  for (const graph::Node& node : entry.nodes)
    for (const auto* operands : {&node.inputs, &node.outputs})
      for (const graph::TensorId id : *operands)
        if (!result.contains(id.index))
          result[id.index] = buffer(fmt::format("between{}", between++));
  return result;
}

// What the function behind a stream keeps, as it calls it.
std::vector<KeptPlace> kept_by(const CommandStream& stream, const Program& program) {
  const tir::Func& func = *program.lowered.find(stream.func);
  const graph::Function& function = *program.module.find(stream.func);
  const std::vector<tir::BufferId> arguments = arguments_of(program.lowered, func);
  std::vector<KeptPlace> kept;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!program.lowered.entry_func().buffer(arguments[i]).initial) continue;
    const auto variable = state_of_name(func.buffers[i].name);
    const Placement* place = program.plan.find(arguments[i]);
    INTARSIA_CHECK(variable && variable->at() < function.tensors.size() && place != nullptr,
                   "state is called after its variable, and planned");
    kept.push_back({function.tensor(*variable),
                    {place->offset, place->bytes, place->first_step, place->last_step}});
  }
  return kept;
}

}  // namespace

Result<Program> make_program(const Original& model, const std::vector<Step>& steps,
                             const Setting& setting) {
  const TargetRegistry registry = registry_with_operators(setting.registry);
  Target host;
  host.kind = kOperatorKind;
  host.name = kOperatorKind;
  INTARSIA_TRY(const TargetSpec target, make_target(registry.catalogue(), {host, setting.npu}));
  Assembler assembler(model, host.name, setting.npu.name);
  CompiledModel compiled;
  compiled.partitioned.module = assembler.run(steps);
  compiled.programs.push_back({host.name, target, compiled.partitioned.module});
  compiled.reached = Stage::Partition;
  INTARSIA_TRY(compiled,
               run_pipeline(std::move(compiled), registry, target, setting.options, Stage::Plan));
  Program program;
  program.module = compiled.partitioned.module;
  program.lowered = std::move(compiled.program().lowered);
  program.plan = std::move(compiled.program().plan);
  INTARSIA_TRY_VOID(check_plan(program.lowered, program.plan));
  const Target& npu = *target.device(setting.npu.name);
  INTARSIA_TRY(Artifacts artifacts,
               registry.kind_of(npu).tir_to_runtime(npu, program.lowered, program.plan));
  program.streams = std::move(artifacts.streams);
  for (const CommandStream& stream : program.streams)
    program.kept.push_back(kept_by(stream, program));

  const auto& pools = program.plan.memory.pools;
  const auto is_arena = [&](size_t pool) {
    return program.plan.memory.reaches(host.name, pools[pool]);  // others are the NPU's own
  };
  for (size_t i = 0; i < pools.size(); ++i)
    (is_arena(i) ? program.arena_bytes : program.fast_bytes) +=
        round_up(program.plan.use[i].peak, int64_t{kAlignment});
  const auto buffers = buffers_of(program.module.entry_function(), program.lowered.entry_func());
  for (const auto& [tensor, id] : assembler.ids()) {
    const auto buffer = buffers.find(id.index);
    if (buffer == buffers.end()) continue;  // nothing reads or writes it
    const Placement* place = program.plan.find(buffer->second);
    INTARSIA_CHECK(place != nullptr, "every buffer of the schedule is planned");
    if (!is_arena(static_cast<size_t>(place->pool)))
      return Diagnostics(model.file().name(),
                         fmt::format("{} would be in the NPU's own memory, which the CPU does not "
                                     "reach",
                                     model.label(tensor)));
    program.places[tensor] = {place->offset, place->bytes, place->first_step, place->last_step};
  }
  return program;
}

}  // namespace intarsia::tflite_writer
