// Dead channels. Everything is taken for removable until something needs it: the signature, state,
// operators without a rule, and sums of which a removed channel would be a part that is not the same
// everywhere. What then remains is cut out of tensors, weights, scales and biases.
#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

#include <fmt/format.h>

#include "graph/scales.h"
#include "passes/channel_flow.h"
#include "passes/constant_part.h"
#include "passes/cut_channels.h"
#include "passes/graph_edit.h"
#include "passes/known_channels.h"
#include "passes/simplify.h"

namespace intarsia::passes {
namespace {
using graph::Function;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;

// Of all tensors of a function. What decides on one takes some tenths of a microsecond and a hundred bytes; large networks have a few
// hundred thousand, and what has more are long rows of samples rather than channels.
constexpr size_t kMostChannels = size_t{1} << 22;

// Largest bias that every target adds: accelerators have 40 bits for the 64 of int16 activations, and int8 has 32.
int64_t largest_bias(const Function& function, const Node& node) {
  const bool wide = function.tensor(node.inputs[0]).type == DataType::Int16 &&
                    (node.inputs.size() < 3 || !node.inputs[2].valid() ||
                     function.tensor(node.inputs[2]).type == DataType::Int64);
  return wide ? (INT64_C(1) << 39) - 1 : std::numeric_limits<int32_t>::max();
}

class Decision {
 public:
  Decision(const EliminationJob& job, const ChannelNumbers& numbers,
           const std::vector<ChannelRule>& rules, const KnownChannels& known)
      : job_(job),
        function_(job.function()),
        numbers_(numbers),
        rules_(rules),
        class_(numbers.count()),
        needed_(numbers.count(), false) {
    std::iota(class_.begin(), class_.end(), size_t{0});
    for (size_t n = 0; n < rules.size(); ++n)
      if (rules[n].flow == ChannelFlow::Weighted)
        sums_.push_back(
            {&function_.nodes[n], ConstantPart(job.module, function_, function_.nodes[n], known)});
  }

  void run() {
    unite_ties();
    need_what_has_no_rule();
    do {
      while (need_parts_that_vary() || need_large_biases()) {
      }
    } while (need_something_everywhere());
  }

  bool needed(TensorId id, int64_t channel) { return needed_[find(numbers_.of(id, channel))]; }

  // What the removed input channels of node n add to the sum of an output channel.
  int64_t constant_part(const Node& node, int64_t output) {
    const auto sum = std::ranges::lower_bound(sums_, &node, {}, &Sum::node);  // as the nodes are
    return sum != sums_.end() && sum->node == &node
               ? removed_part(*sum, removed_inputs(*sum), output)
               : 0;
  }

 private:
  struct Sum {
    const Node* node;
    ConstantPart part;
  };

  size_t find(size_t channel) {
    while (class_[channel] != channel) channel = class_[channel] = class_[class_[channel]];
    return channel;
  }
  bool need(size_t channel) {
    const size_t root = find(channel);
    if (needed_[root]) return false;
    return needed_[root] = true;
  }
  void need_all(TensorId id) {
    if (!id.valid() || function_.tensor(id).constant.valid()) return;
    for (int64_t k = 0; k < channel_count(function_.tensor(id)); ++k) need(numbers_.of(id, k));
  }

  void unite_ties() {
    for (size_t n = 0; n < rules_.size(); ++n)
      for (const ChannelTie& tie : rules_[n].ties) {
        const Node& node = function_.nodes[n];
        class_[find(numbers_.of(node.inputs[tie.operand], tie.in))] =
            find(numbers_.of(node.outputs[0], tie.out));
      }
  }

  void need_what_has_no_rule() {
    for (const TensorId id : function_.inputs) need_all(id);
    for (const TensorId id : function_.outputs) need_all(id);
    for (size_t i = 0; i < function_.tensors.size(); ++i)
      if (function_.tensors[i].variable) need_all({static_cast<int32_t>(i)});
    for (size_t n = 0; n < rules_.size(); ++n) {
      const Node& node = function_.nodes[n];
      for (const size_t operand : rules_[n].broadcast) need_all(node.inputs[operand]);
      if (rules_[n].flow != ChannelFlow::Opaque) continue;
      for (const TensorId id : node.inputs) need_all(id);
      for (const TensorId id : node.outputs) need_all(id);
    }
  }

  bool need_parts_that_vary() {
    bool changed = false;
    // From the outputs to the inputs, which is the way that need goes: a chain takes one turn.
    for (Sum& sum : std::views::reverse(sums_)) {
      const TensorId x = sum.node->inputs[0], y = sum.node->outputs[0];
      for (int64_t k = 0; k < channel_count(function_.tensor(x)); ++k)
        for (int64_t o = 0; o < channel_count(function_.tensor(y)) && !needed(x, k); ++o)
          if (needed(y, o) && !sum.part.of(o, k)) changed |= need(numbers_.of(x, k));
    }
    return changed;
  }

  // As a rule there are none, and outputs times inputs are many to look at.
  std::vector<int64_t> removed_inputs(const Sum& sum) {
    const TensorId x = sum.node->inputs[0];
    std::vector<int64_t> removed;
    for (int64_t k = 0; k < channel_count(function_.tensor(x)); ++k)
      if (!needed(x, k)) removed.push_back(k);
    return removed;
  }
  static int64_t removed_part(Sum& sum, const std::vector<int64_t>& removed, int64_t output) {
    int64_t total = 0;
    for (const int64_t k : removed) total += sum.part.of(output, k).value_or(0);
    return total;
  }

  // Biases have a width; a constant part that does not fit leaves its channels where they are.
  bool need_large_biases() {
    bool changed = false;
    for (Sum& sum : sums_) {
      const Node& node = *sum.node;
      const int64_t most = largest_bias(function_, node);
      std::vector<int64_t> removed = removed_inputs(sum);
      for (int64_t o = 0; o < channel_count(function_.tensor(node.outputs[0])); ++o) {
        if (!needed(node.outputs[0], o)) continue;
        const int64_t part = removed_part(sum, removed, o);
        if (part == 0) continue;
        const int64_t bias = bias_of(job_.module, function_, node, o) + part;
        if (bias <= most && bias >= -most) continue;
        for (int64_t k = 0; k < channel_count(function_.tensor(node.inputs[0])); ++k)
          if (sum.part.of(o, k).value_or(0) != 0) changed |= need(numbers_.of(node.inputs[0], k));
        removed = removed_inputs(sum);
      }
    }
    return changed;
  }

  // Every tensor keeps a channel.
  bool need_something_everywhere() {
    bool changed = false;
    for (const Node& node : function_.nodes)
      for (const TensorId id : node.outputs) {
        const int64_t channels = channel_count(function_.tensor(id));
        int64_t count = 0;
        for (int64_t k = 0; k < channels; ++k) count += needed(id, k);
        if (count == 0) changed |= need(numbers_.of(id, 0));
      }
    return changed;
  }

  const EliminationJob& job_;
  const Function& function_;
  const ChannelNumbers& numbers_;
  const std::vector<ChannelRule>& rules_;
  std::vector<size_t> class_;  // union-find
  std::vector<bool> needed_;   // per root
  std::vector<Sum> sums_;
};

// What happened to one convolution, depthwise convolution or fully connected layer.
void report(const EliminationJob& job, const Node& node, const ChannelCut& cut,
            const KnownChannels& known, bool bias_changed) {
  const TensorId x = node.inputs[0], y = node.outputs[0];
  const auto all = [&](TensorId id) {
    return static_cast<size_t>(channel_count(job.function().tensor(id)));
  };
  const size_t outputs = all(y) - cut.kept[y.at()].size(),
               inputs = all(x) - cut.kept[x.at()].size();
  if (outputs == 0 && inputs == 0) return;
  size_t constant = 0, next = 0;
  for (int64_t k = 0; k < channel_count(job.function().tensor(y)); ++k) {
    if (next < cut.kept[y.at()].size() && cut.kept[y.at()][next] == k)
      ++next;
    else
      constant += known.known(y, k);
  }
  std::vector<std::string> what, why;
  if (outputs > 0) what.push_back(fmt::format("{} of {} output", outputs, all(y)));
  if (inputs > 0) what.push_back(fmt::format("{} of {} input", inputs, all(x)));
  if (constant > 0) why.push_back(fmt::format("outputs that no input changes: {}", constant));
  if (outputs > constant)
    why.push_back(fmt::format("outputs read with zero weights only: {}", outputs - constant));
  if (inputs > 0 && node.kind != OpKind::DepthwiseConv2d)
    why.push_back(
        bias_changed
            ? "what the inputs add to a sum is the same at every place, and went to the bias"
            : "the inputs add nothing to any sum");
  job.actions.push_back({"channels", node.name,
                         fmt::format("{} channels removed", fmt::join(what, " and ")),
                         fmt::format("{}", fmt::join(why, "; "))});
}

}  // namespace

bool remove_channels(const EliminationJob& job) {
  drop_unused(job.module);  // every tensor is one that somebody makes
  const Function& function = job.function();
  const ChannelNumbers numbers(function);
  if (numbers.count() > kMostChannels) return false;
  std::vector<ChannelRule> rules;
  for (const Node& node : function.nodes) rules.push_back(channel_rule(function, node));
  const KnownChannels known(job.module, function, numbers, rules);
  Decision decision(job, numbers, rules, known);
  decision.run();

  ChannelCut cut;
  bool any = false;
  for (size_t i = 0; i < function.tensors.size(); ++i) {
    std::vector<int64_t>& kept = cut.kept.emplace_back();
    if (function.tensors[i].constant.valid()) continue;
    const TensorId id{static_cast<int32_t>(i)};
    for (int64_t k = 0; k < channel_count(function.tensors[i]); ++k)
      if (decision.needed(id, k)) kept.push_back(k);
    any |= static_cast<int64_t>(kept.size()) < channel_count(function.tensors[i]);
  }
  if (!any) return false;
  for (size_t n = 0; n < rules.size(); ++n) {
    const Node& node = function.nodes[n];
    std::vector<int64_t>& parts = cut.bias.emplace_back();
    if (rules[n].flow == ChannelFlow::Weighted)
      for (const int64_t o : cut.kept[node.outputs[0].at()])
        parts.push_back(decision.constant_part(node, o));
    const bool bias_changed = std::ranges::any_of(parts, [](int64_t part) { return part != 0; });
    if (rules[n].flow == ChannelFlow::Weighted ||
        (node.kind == OpKind::DepthwiseConv2d && !rules[n].ties.empty()))
      report(job, node, cut, known, bias_changed);
  }
  cut_channels(job.module, job.function(), rules, cut);
  return true;
}

}  // namespace intarsia::passes
