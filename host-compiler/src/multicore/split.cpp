#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "multicore/multicore.h"
#include "support/c_identifier.h"
#include "target_kind/owners.h"

namespace intarsia {
namespace {

using graph::Function;
using graph::Node;
using graph::TensorId;

const std::string& callee_of(const Node& call) {
  return call.attrs<graph::CallAttrs>().callee;
}

struct Cut {
  std::string cpu;
  std::vector<size_t> calls;  // nodes of the entry
};

std::vector<Cut> cuts_of(const graph::Module& module, const TargetRegistry& registry,
                         const TargetSpec& target) {
  std::map<std::string, std::string> cpus;  // of the devices
  const std::vector<size_t> owners = owners_of(target, registry);
  for (size_t m = 0; m < owners.size(); ++m)
    cpus[target.devices()[m].name] = target.devices()[owners[m]].name;
  std::vector<Cut> cuts;
  const Function& entry = module.entry_function();
  for (size_t i = 0; i < entry.nodes.size(); ++i) {
    const Function* callee = module.find(callee_of(entry.nodes[i]));
    INTARSIA_CHECK(callee != nullptr, "the entry of a partitioned module consists of calls");
    const std::string& cpu = cpus.at(callee->target);
    if (cuts.empty() || cuts.back().cpu != cpu) cuts.push_back({cpu, {}});
    cuts.back().calls.push_back(i);
  }
  return cuts;
}

// What the branches and loops of the segment's functions run goes with it.
void add_functions_run(const graph::Module& from, graph::Module& into) {
  std::set<std::string> there;
  for (const Function& function : into.functions) there.insert(function.name);
  for (size_t i = 0; i < into.functions.size(); ++i)
    for (const Node& node : std::vector<Node>(into.functions[i].nodes))
      for (const std::string& name : graph::functions_run_by(node))
        if (there.insert(name).second) into.functions.push_back(*from.find(name));
}

// Makes the modules of the segments, and remembers where tensors of the entry enter and leave them.
//
// A variable that several segments use goes from segment to segment like any other tensor, and from the one that writes it
// back to those before it, which read what the inference before has left.
class SegmentMaker {
 public:
  SegmentMaker(const graph::Module& module, const std::vector<Cut>& cuts)
      : module_(module), entry_(module.entry_function()), cuts_(cuts) {
    std::map<int32_t, std::set<int>> users;
    for (size_t segment = 0; segment < cuts.size(); ++segment)
      for (const size_t call : cuts[segment].calls) {
        for (const TensorId id : entry_.nodes[call].inputs)
          users[id.index].insert(static_cast<int>(segment));
        for (const TensorId id : entry_.nodes[call].outputs) {
          users[id.index].insert(static_cast<int>(segment));
          made_by_[id.index] = static_cast<int>(segment);
        }
      }
    for (const auto& [tensor, segments] : users)
      if (tensor >= 0 && entry_.tensor({tensor}).variable && segments.size() > 1 &&
          made_by_.contains(tensor))
        travelling_.insert(tensor);
  }

  Segment make(int segment) {
    Segment result;
    const Cut& cut = cuts_[static_cast<size_t>(segment)];
    result.cpu = cut.cpu;
    result.module.name = fmt::format("{}_stage{}", module_.name, segment);
    result.module.entry = entry_.name;
    result.module.constants = module_.constants;
    Function main;
    main.name = entry_.name;
    std::map<int32_t, TensorId> placed;
    const auto add = [&](TensorId id) {
      main.tensors.push_back(entry_.tensor(id));
      if (travelling_.contains(id.index))
        main.tensors.back().variable = false, main.tensors.back().initial = {};
      return placed[id.index] = TensorId{static_cast<int32_t>(main.tensors.size() - 1)};
    };
    for (const size_t index : cut.calls) {
      Node call = entry_.nodes[index];
      for (TensorId& id : call.inputs) {
        const TensorId outer = id;
        if (!outer.valid()) continue;
        const bool fresh = !placed.contains(outer.index);
        id = fresh ? add(outer) : placed.at(outer.index);
        const graph::Tensor& tensor = entry_.tensor(outer);
        if (!fresh || tensor.constant.valid() ||
            (tensor.variable && !travelling_.contains(outer.index)))
          continue;
        main.inputs.push_back(id);
        entering_[{segment, outer.index}] = main.inputs.size() - 1;
      }
      for (TensorId& id : call.outputs) {
        const TensorId outer = id;
        const bool is_new_value =
            travelling_.contains(outer.index) || !placed.contains(outer.index);
        id = is_new_value ? add(outer) : placed.at(outer.index);
        if (!leaves(outer, segment)) continue;
        main.outputs.push_back(id);
        leaving_[outer.index] = main.outputs.size() - 1;
      }
      result.module.functions.push_back(*module_.find(callee_of(call)));
      main.nodes.push_back(std::move(call));
    }
    result.module.functions.insert(result.module.functions.begin(), std::move(main));
    add_functions_run(module_, result.module);
    return result;
  }

  // After all segments are made.
  std::vector<Channel> channels() const {
    std::vector<Channel> channels;
    for (const auto& [where, input] : entering_) {
      const auto& [segment, tensor] = where;
      Channel channel{
          {}, maker_of(tensor), segment, output_of(tensor), input, entry_.tensor({tensor}).bytes(),
          {}};
      if (channel.from >= segment) channel.first_message = initial_value(entry_.tensor({tensor}));
      channels.push_back(std::move(channel));
    }
    for (size_t i = 0; i < entry_.outputs.size(); ++i) {
      const int32_t tensor = entry_.outputs[i].index;
      channels.push_back({{},
                          maker_of(tensor),
                          kApplication,
                          output_of(tensor),
                          i,
                          entry_.tensor(entry_.outputs[i]).bytes(),
                          {}});
    }
    const auto end = [](int segment, const char* application, size_t index) {
      return segment == kApplication ? fmt::format("{}{}", application, index)
                                     : fmt::format("stage{}", segment);
    };
    std::map<std::string, int> used;
    for (Channel& channel : channels) {
      channel.name = fmt::format("{}_to_{}", end(channel.from, "input", channel.output),
                                 end(channel.to, "output", channel.input));
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

  // The output of the segment that makes it, or which input of the model it is.
  size_t output_of(int32_t tensor) const {
    if (const auto found = leaving_.find(tensor); found != leaving_.end()) return found->second;
    const auto input = std::find(entry_.inputs.begin(), entry_.inputs.end(), TensorId{tensor});
    INTARSIA_CHECK(input != entry_.inputs.end(), "what no segment makes is an input");
    return static_cast<size_t>(input - entry_.inputs.begin());
  }

  bool leaves(TensorId id, int segment) const {
    if (travelling_.contains(id.index)) return true;
    if (std::find(entry_.outputs.begin(), entry_.outputs.end(), id) != entry_.outputs.end())
      return true;
    for (size_t other = 0; other < cuts_.size(); ++other)
      for (const size_t call : cuts_[other].calls) {
        const std::vector<TensorId>& read = entry_.nodes[call].inputs;
        if (static_cast<int>(other) != segment &&
            std::find(read.begin(), read.end(), id) != read.end())
          return true;
      }
    return false;
  }

  // As the evaluator and the emitted programs have it.
  std::vector<uint8_t> initial_value(const graph::Tensor& variable) const {
    if (variable.initial.valid()) return module_.constant(variable.initial).bytes;
    std::vector<uint8_t> bytes(static_cast<size_t>(variable.bytes()));
    const int64_t zero = variable.quantization.present() ? variable.quantization.zero_point[0] : 0;
    const auto width =
        static_cast<size_t>(bits(variable.type) / 8);  // of whole bytes, as all variables
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(zero >> (8 * (i % width)));
    return bytes;
  }

  const graph::Module& module_;
  const Function& entry_;
  const std::vector<Cut>& cuts_;
  std::map<int32_t, int> made_by_;  // tensor of the entry -> segment
  std::set<int32_t> travelling_;    // variables that several segments use
  std::map<std::pair<int, int32_t>, size_t>
      entering_;                       // segment and tensor -> which input of the segment
  std::map<int32_t, size_t> leaving_;  // tensor -> which output of its segment
};

// Names of parts are names in C, beside those of the segments and of what the parts share.
Result<void> check_names(const MulticorePartition& multicore) {
  std::map<std::string, std::string> taken = {{"mailbox", ""}, {"descriptor", ""}, {"devices", ""}};
  for (size_t segment = 0; segment < multicore.segments.size(); ++segment)
    taken[fmt::format("stage{}", segment)] = "";
  Diagnostics problems;
  for (const std::string& cpu : multicore.cpus) {
    const std::string name = c_identifier(cpu, "part");
    const auto [place, fresh] = taken.try_emplace(name, cpu);
    if (fresh) continue;
    problems.add(fmt::format("--target: device '{}'", cpu),
                 place->second.empty()
                     ? fmt::format("the parts share something called '{}'", name)
                     : fmt::format("is '{}' in C, as '{}' is", name, place->second),
                 "give it another name");
  }
  if (!problems.empty()) return problems;
  return {};
}

}  // namespace

Result<MulticorePartition> split_by_cpu(const graph::Module& partitioned,
                                        const TargetRegistry& registry, const TargetSpec& target) {
  const std::vector<Cut> cuts = cuts_of(partitioned, registry, target);
  MulticorePartition multicore;
  multicore.name = partitioned.name;
  for (const Target& device : target.devices())
    if (std::any_of(cuts.begin(), cuts.end(),
                    [&](const Cut& cut) { return cut.cpu == device.name; }))
      multicore.cpus.push_back(device.name);
  if (multicore.cpus.size() < 2) return MulticorePartition{};
  SegmentMaker maker(partitioned, cuts);
  for (size_t segment = 0; segment < cuts.size(); ++segment)
    multicore.segments.push_back(maker.make(static_cast<int>(segment)));
  multicore.channels = maker.channels();
  INTARSIA_TRY_VOID(check_names(multicore));
  return multicore;
}

}  // namespace intarsia
