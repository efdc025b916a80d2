#include "passes/cut_channels.h"

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

class Cutter {
 public:
  Cutter(Module& module, Function& function, const ChannelCut& cut)
      : module_(module), function_(function), cut_(cut) {}

  void run(const std::vector<ChannelRule>& rules) {
    // Operands of nodes are looked at with their old shapes.
    for (size_t n = 0; n < function_.nodes.size(); ++n) cut_node(n, rules[n]);
    for (size_t i = 0; i < cut_.kept.size(); ++i) {
      Tensor& tensor = function_.tensors[i];
      if (tensor.constant.valid() || tensor.shape.empty()) continue;
      select(tensor.quantization, tensor.shape.size() - 1, cut_.kept[i]);
      tensor.shape.back() = static_cast<int64_t>(cut_.kept[i].size());
    }
    for (Node& node : function_.nodes)
      if (node.kind == OpKind::Reshape)
        std::get<graph::ReshapeAttrs>(node.attributes).shape =
            function_.tensor(node.outputs[0]).shape;
  }

 private:
  const std::vector<int64_t>& kept(TensorId id) const { return cut_.kept[id.at()]; }

  void cut_node(size_t n, const ChannelRule& rule) {
    if (rule.flow == ChannelFlow::Opaque) return;
    Node& node = function_.nodes[n];
    const std::vector<int64_t>& outputs = kept(node.outputs[0]);
    if (is_binary(node.kind))
      for (const size_t operand : {size_t{0}, size_t{1}}) {
        const Tensor& tensor = function_.tensor(node.inputs[operand]);
        if (tensor.constant.valid() && channel_count(tensor) > 1)
          cut_constant(node, operand, tensor.shape.size() - 1, outputs);
      }
    switch (node.kind) {
      case OpKind::Conv2d:
        cut_constant(node, 1, 0, outputs);
        cut_constant(node, 1, 3, kept(node.inputs[0]));
        cut_bias(node, outputs, cut_.bias[n]);
        break;
      case OpKind::FullyConnected: {
        const WeightLayout layout = weight_layout(function_, node);
        std::vector<int64_t> columns;
        for (int64_t column = 0; column < layout.columns; ++column)
          if (std::ranges::binary_search(kept(node.inputs[0]), column % layout.channels))
            columns.push_back(column);
        cut_constant(node, 1, 0, outputs);
        cut_constant(node, 1, 1, columns);
        cut_bias(node, outputs, cut_.bias[n]);
        break;
      }
      case OpKind::DepthwiseConv2d:
        cut_constant(node, 1, 3, outputs);
        if (node.inputs.size() > 2 && node.inputs[2].valid()) cut_constant(node, 2, 0, outputs);
        break;
      case OpKind::Slice:
        std::get<graph::SliceAttrs>(node.attributes).size.back() =
            static_cast<int64_t>(outputs.size());
        break;
      case OpKind::Pad:
      case OpKind::PadV2:
        cut_pad(std::get<graph::PadAttrs>(node.attributes), function_.tensor(node.inputs[0]),
                outputs);
        break;
      default:
        break;
    }
  }

  static void cut_pad(graph::PadAttrs& pad, const Tensor& input,
                      const std::vector<int64_t>& outputs) {
    const int64_t first = pad.before.back(), last = first + channel_count(input);
    pad.before.back() = std::ranges::count_if(outputs, [&](int64_t k) { return k < first; });
    pad.after.back() = std::ranges::count_if(outputs, [&](int64_t k) { return k >= last; });
  }

  static void select(graph::Quantization& q, size_t axis, const std::vector<int64_t>& kept) {
    if (!q.per_channel() || q.axis != static_cast<int32_t>(axis)) return;
    const graph::Quantization all = std::move(q);
    q = {{}, {}, all.axis};
    for (const int64_t k : kept) {
      q.scale.push_back(all.scale[static_cast<size_t>(k)]);
      q.zero_point.push_back(all.zero_point[static_cast<size_t>(k)]);
    }
  }

  // The operand becomes a constant of its own with only `kept` along the axis.
  void cut_constant(Node& node, size_t operand, size_t axis, const std::vector<int64_t>& kept) {
    Tensor tensor = function_.tensor(node.inputs[operand]);
    const int64_t extent = tensor.shape[axis];
    if (static_cast<int64_t>(kept.size()) == extent) return;
    int64_t inner = 1;
    for (size_t a = axis + 1; a < tensor.shape.size(); ++a) inner *= tensor.shape[a];
    const int64_t outer = element_count(tensor.shape) / (inner * extent);
    const graph::Constant& old = module_.constant(tensor.constant);
    tensor.shape[axis] = static_cast<int64_t>(kept.size());
    std::vector<uint8_t> bytes(static_cast<size_t>(tensor.bytes()), 0);
    int64_t next = 0;
    for (int64_t o = 0; o < outer; ++o)
      for (const int64_t k : kept)
        for (int64_t i = 0; i < inner; ++i)
          put_element(tensor.type, bytes.data(), next++,
                      element_at(tensor.type, old.bytes.data(), (o * extent + k) * inner + i));
    select(tensor.quantization, axis, kept);
    tensor.constant = add_constant(module_, std::string(old.name), std::move(bytes));
    node.inputs[operand] = add_tensor(function_, std::move(tensor));
  }

  void cut_bias(Node& node, const std::vector<int64_t>& outputs, const std::vector<int64_t>& more) {
    const bool adds = std::ranges::any_of(more, [](int64_t part) { return part != 0; });
    const bool present = node.inputs.size() > 2 && node.inputs[2].valid();
    if (present) cut_constant(node, 2, 0, outputs);
    if (!adds) return;
    Tensor bias = present ? function_.tensor(node.inputs[2]) : new_bias(node, outputs.size());
    std::vector<uint8_t> bytes(static_cast<size_t>(bias.bytes()));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t old =
          present ? element_at(bias.type, module_.constant(bias.constant).bytes.data(), at) : 0;
      put_element(bias.type, bytes.data(), at, old + more[i]);
    }
    bias.constant = add_constant(
        module_, present ? std::string(module_.constant(bias.constant).name) : bias.name,
        std::move(bytes));
    node.inputs.resize(3);
    node.inputs[2] = add_tensor(function_, std::move(bias));
  }

  // As TFLite would have it: the sum's own scale. The weights are cut already.
  Tensor new_bias(const Node& node, size_t count) const {
    const Tensor &input = function_.tensor(node.inputs[0]),
                 &weights = function_.tensor(node.inputs[1]);
    Tensor bias;
    bias.name = node.name + "_bias";
    bias.type = input.type == DataType::Int16 ? DataType::Int64 : DataType::Int32;
    bias.shape = {static_cast<int64_t>(count)};
    for (const float scale : weights.quantization.scale) {
      bias.quantization.scale.push_back(input.quantization.scale[0] * scale);
      bias.quantization.zero_point.push_back(0);
    }
    return bias;
  }

  Module& module_;
  Function& function_;
  const ChannelCut& cut_;
};

}  // namespace

int64_t bias_of(const Module& module, const Function& function, const Node& node, int64_t channel) {
  if (node.inputs.size() < 3 || !node.inputs[2].valid()) return 0;
  const Tensor& bias = function.tensor(node.inputs[2]);
  return element_at(bias.type, module.constant(bias.constant).bytes.data(), channel);
}

void cut_channels(Module& module, Function& function, const std::vector<ChannelRule>& rules,
                  const ChannelCut& cut) {
  Cutter(module, function, cut).run(rules);
}

}  // namespace intarsia::passes
