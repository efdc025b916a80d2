#include "passes/known_channels.h"

#include <algorithm>

#include "passes/graph_edit.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;
using graph::TensorValue;

bool every_weight_zero(const Module& module, const Tensor& weights, int64_t first, int64_t count,
                       int64_t step) {
  const uint8_t* bytes = module.constant(weights.constant).bytes.data();
  for (int64_t i = 0; i < count; ++i)
    if (element_at(weights.type, bytes, first + i * step) != 0) return false;
  return true;
}

// mul by a constant whose elements in this channel stand for zero.
bool multiplied_by_zero(const Module& module, const Function& function, const Node& node,
                        int64_t channel) {
  if (node.kind != OpKind::Mul || function.tensor(node.outputs[0]).type == DataType::Float32)
    return false;
  for (const TensorId id : node.inputs) {
    const Tensor& tensor = function.tensor(id);
    if (!tensor.constant.valid() || tensor.quantization.zero_point.size() != 1) continue;
    const int64_t channels = channel_count(tensor), elements = element_count(tensor.shape);
    const uint8_t* bytes = module.constant(tensor.constant).bytes.data();
    bool zero = true;
    for (int64_t i = channels == 1 ? 0 : channel; i < elements && zero; i += channels)
      zero = element_at(tensor.type, bytes, i) == tensor.quantization.zero_point[0];
    if (zero) return true;
  }
  return false;
}

}  // namespace

KnownChannels::KnownChannels(const Module& module, const Function& function,
                             const ChannelNumbers& numbers, const std::vector<ChannelRule>& rules)
    : numbers_(numbers), depends_(numbers.count(), true), values_(function.tensors.size()) {
  for (size_t n = 0; n < function.nodes.size(); ++n)
    follow(module, function, function.nodes[n], rules[n]);
  if (std::ranges::find(depends_, false) != depends_.end()) evaluate(module, function);
}

void KnownChannels::follow(const Module& module, const Function& function, const Node& node,
                           const ChannelRule& rule) {
  // Floats are left alone: zero times infinity is not zero, and the order of a sum matters.
  if (rule.flow == ChannelFlow::Opaque) return;
  const TensorId y = node.outputs[0];
  if (function.tensor(y).variable || function.tensor(y).type == DataType::Float32) return;
  const auto depends = [&](size_t operand, int64_t channel) -> bool {
    return depends_[numbers_.of(node.inputs[operand], channel)];
  };
  if (rule.flow == ChannelFlow::Weighted) {
    const WeightLayout w = weight_layout(function, node);
    const Tensor& weights = function.tensor(node.inputs[1]);
    const uint8_t* bytes = module.constant(weights.constant).bytes.data();
    for (int64_t o = 0; o < w.filters; ++o) {
      bool any = false;
      for (int64_t i = 0; i < w.positions * w.columns && !any; ++i)
        any = depends(0, i % w.columns % w.channels) &&
              element_at(weights.type, bytes, o * w.positions * w.columns + i) != 0;
      depends_[numbers_.of(y, o)] = any;
    }
    return;
  }
  std::vector<bool> any(static_cast<size_t>(channel_count(function.tensor(y))));
  for (const ChannelTie& tie : rule.ties)
    if (depends(tie.operand, tie.in)) any[static_cast<size_t>(tie.out)] = true;
  for (const size_t operand : rule.broadcast)
    if (depends(operand, 0)) any.assign(any.size(), true);
  for (int64_t k = 0; k < channel_count(function.tensor(y)); ++k) {
    bool result = any[static_cast<size_t>(k)];
    if (result && node.kind == OpKind::DepthwiseConv2d) {
      const Tensor& weights = function.tensor(node.inputs[1]);
      const int64_t channels = channel_count(weights);
      result =
          !every_weight_zero(module, weights, k, element_count(weights.shape) / channels, channels);
    } else if (result) {
      result = !multiplied_by_zero(module, function, node, k);
    }
    depends_[numbers_.of(y, k)] = result;
  }
}

// One run of the reference on any inputs gives the values that no input changes.
void KnownChannels::evaluate(const Module& module, const Function& function) {
  Module copy = module;
  copy.entry = function.name;
  const Function& entry = copy.entry_function();
  std::vector<TensorValue> inputs;
  for (const TensorId id : entry.inputs)
    inputs.emplace_back(static_cast<size_t>(entry.tensor(id).bytes()));
  struct Context {
    const Function& entry;
    const ChannelNumbers& numbers;
    const std::vector<bool>& depends;
    std::vector<TensorValue>& values;
  } context{entry, numbers_, depends_, values_};
  const auto keep = [](void* pointer, const Node& node, size_t output, const TensorValue& value) {
    auto& c = *static_cast<Context*>(pointer);
    const Node* first = c.entry.nodes.data();
    if (std::less<>()(&node, first) || !std::less<>()(&node, first + c.entry.nodes.size()))
      return;  // a callee's
    const TensorId id = node.outputs[output];
    for (int64_t k = 0; k < channel_count(c.entry.tensor(id)); ++k)
      if (!c.depends[c.numbers.of(id, k)]) {
        c.values[id.at()] = value;
        return;
      }
  };
  // Without the reference's arithmetic nothing is known; what is unread can go all the same.
  if (!graph::Evaluator(copy).run(inputs, keep, &context).ok())
    for (TensorValue& value : values_) value.clear();
}

}  // namespace intarsia::passes
