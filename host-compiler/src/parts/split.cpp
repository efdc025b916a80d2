#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "intarsia/parts.h"

namespace intarsia {
namespace {

using graph::Function;
using graph::Node;
using graph::TensorId;

const std::string& callee_of(const Node& call) { return call.attrs<graph::CallAttrs>().callee; }

struct Cut {
  std::string member;
  std::vector<size_t> calls;  // nodes of the entry
};

std::vector<Cut> cuts_of(const graph::Module& module) {
  std::vector<Cut> cuts;
  const Function& entry = module.entry_function();
  for (size_t i = 0; i < entry.nodes.size(); ++i) {
    const Function* callee = module.find(callee_of(entry.nodes[i]));
    INTARSIA_CHECK(callee != nullptr, "the entry of a partitioned module consists of calls");
    if (cuts.empty() || cuts.back().member != callee->target) cuts.push_back({callee->target, {}});
    cuts.back().calls.push_back(i);
  }
  return cuts;
}

// Makes the modules of the stages, and remembers where tensors of the entry enter and leave them.
class StageMaker {
 public:
  StageMaker(const graph::Module& module, const std::vector<Cut>& cuts)
      : module_(module), entry_(module.entry_function()), cuts_(cuts) {
    for (size_t stage = 0; stage < cuts.size(); ++stage)
      for (const size_t call : cuts[stage].calls)
        for (const TensorId id : entry_.nodes[call].outputs) made_by_[id.index] = static_cast<int>(stage);
  }

  Stage make(int stage) {
    Stage result;
    const Cut& cut = cuts_[static_cast<size_t>(stage)];
    result.member = cut.member;
    result.module.name = fmt::format("{}_stage{}", module_.name, stage);
    result.module.entry = entry_.name;
    result.module.constants = module_.constants;
    Function main;
    main.name = entry_.name;
    std::map<int32_t, TensorId> placed;
    const auto place = [&](TensorId id) {
      if (!id.valid()) return id;
      const auto [found, fresh] = placed.try_emplace(id.index, TensorId{static_cast<int32_t>(main.tensors.size())});
      if (fresh) main.tensors.push_back(entry_.tensor(id));
      return found->second;
    };
    for (const size_t index : cut.calls) {
      Node call = entry_.nodes[index];
      for (TensorId& id : call.inputs) {
        const TensorId outer = id;
        const bool fresh = outer.valid() && !placed.contains(outer.index);
        id = place(id);
        if (fresh && !entry_.tensor(outer).constant.valid()) {
          main.inputs.push_back(id);
          entering_[{stage, outer.index}] = main.inputs.size() - 1;
        }
      }
      for (TensorId& id : call.outputs) {
        const TensorId outer = id;
        id = place(id);
        if (!leaves(outer, stage)) continue;
        main.outputs.push_back(id);
        leaving_[outer.index] = main.outputs.size() - 1;
      }
      result.module.functions.push_back(*module_.find(callee_of(call)));
      main.nodes.push_back(std::move(call));
    }
    result.module.functions.insert(result.module.functions.begin(), std::move(main));
    return result;
  }

  // After all stages are made.
  std::vector<Channel> channels() const {
    std::vector<Channel> channels;
    for (const auto& [where, input] : entering_) {
      const auto& [stage, tensor] = where;
      Channel channel{{}, maker_of(tensor), stage, output_of(tensor), input, entry_.tensors[static_cast<size_t>(tensor)].bytes()};
      channels.push_back(std::move(channel));
    }
    for (size_t i = 0; i < entry_.outputs.size(); ++i) {
      const int32_t tensor = entry_.outputs[i].index;
      channels.push_back({{}, maker_of(tensor), kApplication, output_of(tensor), i, entry_.tensor(entry_.outputs[i]).bytes()});
    }
    const auto end = [](int stage, const char* application, size_t index) {
      return stage == kApplication ? fmt::format("{}{}", application, index) : fmt::format("stage{}", stage);
    };
    std::map<std::string, int> used;
    for (Channel& channel : channels) {
      channel.name = fmt::format("{}_to_{}", end(channel.from, "input", channel.output), end(channel.to, "output", channel.input));
      const int copies = used[channel.name]++;
      if (copies > 0) channel.name += fmt::format("_{}", copies);
    }
    return channels;
  }

 private:
  int maker_of(int32_t tensor) const {
    const auto found = made_by_.find(tensor);
    return found == made_by_.end() ? kApplication : found->second;
  }

  // The output of the stage that makes it, or which input of the model it is.
  size_t output_of(int32_t tensor) const {
    if (const auto found = leaving_.find(tensor); found != leaving_.end()) return found->second;
    const auto input = std::find(entry_.inputs.begin(), entry_.inputs.end(), TensorId{tensor});
    INTARSIA_CHECK(input != entry_.inputs.end(), "what no stage makes is an input");
    return static_cast<size_t>(input - entry_.inputs.begin());
  }

  bool leaves(TensorId id, int stage) const {
    if (std::find(entry_.outputs.begin(), entry_.outputs.end(), id) != entry_.outputs.end()) return true;
    for (size_t other = 0; other < cuts_.size(); ++other)
      for (const size_t call : cuts_[other].calls) {
        const std::vector<TensorId>& read = entry_.nodes[call].inputs;
        if (static_cast<int>(other) != stage && std::find(read.begin(), read.end(), id) != read.end()) return true;
      }
    return false;
  }

  const graph::Module& module_;
  const Function& entry_;
  const std::vector<Cut>& cuts_;
  std::map<int32_t, int> made_by_;                        // tensor of the entry -> stage
  std::map<std::pair<int, int32_t>, size_t> entering_;    // stage and tensor -> which input of the stage
  std::map<int32_t, size_t> leaving_;                     // tensor -> which output of its stage
};

}  // namespace

bool has_parts(const graph::Module& partitioned, const TargetRegistry& registry, const TargetSpec& target) {
  std::set<std::string> members;
  for (const Cut& cut : cuts_of(partitioned)) {
    const Target* member = target.member(cut.member);
    INTARSIA_CHECK(member != nullptr, "regions belong to members of the target");
    if (registry.kind_of(*member).spec().role != Role::Cpu) return false;
    members.insert(cut.member);
  }
  return members.size() > 1;
}

Result<Pipeline> split_into_stages(const graph::Module& partitioned, const TargetSpec& target) {
  const Function& entry = partitioned.entry_function();
  for (const TensorId id : entry.outputs)
    if (std::find(entry.inputs.begin(), entry.inputs.end(), id) != entry.inputs.end() || entry.tensor(id).constant.valid())
      return Diagnostics(partitioned.name,
                         fmt::format("output '{}' is an input or a constant, which no part makes", entry.tensor(id).name),
                         "leave it out of the model, or use a target with one CPU");
  Pipeline pipeline;
  pipeline.name = partitioned.name;
  const std::vector<Cut> cuts = cuts_of(partitioned);
  for (const Target& member : target.members())
    if (std::any_of(cuts.begin(), cuts.end(), [&](const Cut& cut) { return cut.member == member.name; }))
      pipeline.members.push_back(member.name);
  StageMaker maker(partitioned, cuts);
  for (size_t stage = 0; stage < cuts.size(); ++stage) pipeline.stages.push_back(maker.make(static_cast<int>(stage)));
  pipeline.channels = maker.channels();
  return pipeline;
}

Result<CompiledParts> compile_parts(FrontEnd front, const TargetRegistry& registry,
                                    const TargetSpec& target, const CompileOptions& options) {
  CompiledParts result;
  result.front = std::move(front);
  INTARSIA_TRY(result.pipeline, split_into_stages(result.front.partitioned.module, target));
  for (const Stage& stage : result.pipeline.stages) {
    Partitioned partitioned;
    partitioned.module = stage.module;
    INTARSIA_TRY(CompiledModel model, compile_partitioned(std::move(partitioned), registry, target, options));
    result.stages.push_back({stage.member, std::move(model)});
  }
  return result;
}

}  // namespace intarsia
