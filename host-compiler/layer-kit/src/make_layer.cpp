#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "int8_layer.h"
#include "intarsia/layers/layer.h"
#include "unary_function.h"

namespace intarsia::layers {
namespace {

using graph::OpKind;
using graph::TensorId;

int32_t word(int64_t value) {
  return static_cast<int32_t>(value);
}

// One operator; fills in the layer piece by piece.
class LayerMaker {
 public:
  LayerMaker(const graph::Function& function, graph::NodeId id, LayerOfNodes& made)
      : function_(function), node_(function.nodes.at(id.at())), made_(made), layer_(made.layer) {
    made_ = {};
    made_.nodes = {id};
    made_.operands.assign(static_cast<size_t>(Operand::result) + 1, TensorId{});
    layer_.kernel_h = layer_.kernel_w = layer_.stride_h = layer_.stride_w = 1;
    layer_.dilation_h = layer_.dilation_w = layer_.groups = 1;
  }

  Reason run() {
    if (Reason reason = check_tensors()) return reason;
    set(Operand::result, node_.outputs[0]);
    if (Reason reason = describe_operator()) return reason;
    if (is_int8()) set_quantisation(function_, made_);
    return std::nullopt;
  }

 private:
  Reason describe_operator() {
    switch (node_.kind) {
      case OpKind::Conv2d:
        return convolution();
      case OpKind::DepthwiseConv2d:
        return depthwise();
      case OpKind::FullyConnected:
        return inner_product();
      case OpKind::MaxPool2d:
        return pool(Kind::max_pool);
      case OpKind::AveragePool2d:
        return pool(Kind::average_pool);
      case OpKind::Mean:
        return mean();
      case OpKind::Softmax:
        return softmax();
      case OpKind::Add:
        return binary(Kind::add, node_.attrs<graph::BinaryAttrs>().activation, true);
      case OpKind::Sub:
        return binary(Kind::sub, node_.attrs<graph::BinaryAttrs>().activation, false);
      case OpKind::Mul:
        return binary(Kind::mul, node_.attrs<graph::BinaryAttrs>().activation, true);
      case OpKind::Div:
        return binary(Kind::div, node_.attrs<graph::BinaryAttrs>().activation, false);
      case OpKind::Minimum:
        return binary(Kind::minimum, graph::Activation::None, true);
      case OpKind::Maximum:
        return binary(Kind::maximum, graph::Activation::None, true);
      default:
        return elementwise();
    }
  }

  bool is_int8() const { return tensor(node_.inputs[0]).type == DataType::Int8; }
  const graph::Tensor& tensor(TensorId id) const { return function_.tensor(id); }
  const Shape& in_shape() const { return tensor(node_.inputs[0]).shape; }
  const Shape& out_shape() const { return tensor(node_.outputs[0]).shape; }

  void set(Operand operand, TensorId id) {
    made_.operand(operand) = id;
    layer_.operands |= 1u << static_cast<int32_t>(operand);
  }
  void set_kind(Kind kind) { layer_.kind = static_cast<int32_t>(kind); }
  void set_function(const UnaryFunction& unary) {
    layer_.function = static_cast<int32_t>(unary.function);
    layer_.alpha = std::bit_cast<int32_t>(unary.alpha);
    layer_.beta = std::bit_cast<int32_t>(unary.beta);
  }

  // An activation on the result.
  UnaryFunction fused(graph::Activation activation) const {
    return is_int8() ? int8_function_of(activation, tensor(node_.outputs[0]))
                     : function_of(activation);
  }

  Reason refuses_tensor(const graph::Tensor& t) const {
    if (t.variable) return std::string("it keeps state between runs, which the host does");
    if (t.bytes() > std::numeric_limits<int32_t>::max())
      return fmt::format("'{}' is too large", t.name);
    if (is_int8() || t.type == DataType::Float32) return std::nullopt;
    return fmt::format("'{}' is {}; layers of float32 and of int8 are taken", t.name,
                       to_string(t.type));
  }
  Reason check_tensors() const {
    for (const auto& ids : {node_.inputs, node_.outputs})
      for (const TensorId id : ids)
        if (id.valid())
          if (Reason reason = refuses_tensor(tensor(id))) return reason;
    return is_int8() ? refuses_int8_operands(function_, node_) : std::nullopt;
  }

  void set_shapes(const Shape& in, const Shape& out) {
    layer_.batch = word(in[0]), layer_.in_h = word(in[1]), layer_.in_w = word(in[2]);
    layer_.in_c = word(in[3]);
    layer_.out_h = word(out[1]), layer_.out_w = word(out[2]), layer_.out_c = word(out[3]);
  }
  // As rows of what is innermost.
  void set_rows(int64_t in_c, int64_t out_c) {
    layer_.batch = word(element_count(in_shape()) / in_c);
    layer_.in_h = layer_.in_w = layer_.out_h = layer_.out_w = 1;
    layer_.in_c = word(in_c), layer_.out_c = word(out_c);
  }

  template <typename Attrs>
  void set_window(const Attrs& attrs, int64_t kernel_h, int64_t kernel_w) {
    layer_.kernel_h = word(kernel_h), layer_.kernel_w = word(kernel_w);
    layer_.stride_h = word(attrs.stride_h), layer_.stride_w = word(attrs.stride_w);
    layer_.pad_top = word(attrs.padding.top), layer_.pad_left = word(attrs.padding.left);
    layer_.pad_bottom = word(attrs.padding.bottom), layer_.pad_right = word(attrs.padding.right);
    set_function(fused(attrs.activation));
  }

  Reason set_weighted() {
    set(Operand::source, node_.inputs[0]);
    for (size_t i = 1; i < node_.inputs.size(); ++i) {
      if (!node_.inputs[i].valid()) continue;
      if (!tensor(node_.inputs[i]).constant.valid())
        return std::string(i == 1 ? "the weights are not constant" : "the bias is not constant");
      set(i == 1 ? Operand::weights : Operand::bias, node_.inputs[i]);
    }
    return std::nullopt;
  }

  Reason convolution() {
    const auto& attrs = node_.attrs<graph::Conv2dAttrs>();
    const Shape& weights = tensor(node_.inputs[1]).shape;
    set_kind(Kind::convolution);
    set_shapes(in_shape(), out_shape());
    set_window(attrs, weights[1], weights[2]);
    layer_.dilation_h = word(attrs.dilation_h), layer_.dilation_w = word(attrs.dilation_w);
    layer_.groups = word(in_shape()[3] / weights[3]);
    return set_weighted();
  }

  Reason depthwise() {
    const auto& attrs = node_.attrs<graph::DepthwiseConv2dAttrs>();
    const Shape& weights = tensor(node_.inputs[1]).shape;
    set_kind(Kind::depthwise);
    set_shapes(in_shape(), out_shape());
    set_window(attrs, weights[1], weights[2]);
    layer_.dilation_h = word(attrs.dilation_h), layer_.dilation_w = word(attrs.dilation_w);
    layer_.groups = layer_.in_c;
    return set_weighted();
  }

  Reason inner_product() {
    const Shape& weights = tensor(node_.inputs[1]).shape;
    set_kind(Kind::inner_product);
    set_rows(weights[1], weights[0]);
    set_function(fused(node_.attrs<graph::FullyConnectedAttrs>().activation));
    return set_weighted();
  }

  Reason pool(Kind kind) {
    const auto& attrs = node_.attrs<graph::Pool2dAttrs>();
    set_kind(kind);
    set_shapes(in_shape(), out_shape());
    set_window(attrs, attrs.filter_h, attrs.filter_w);
    layer_.groups = 1;
    set(Operand::source, node_.inputs[0]);
    return std::nullopt;
  }

  // Over height and width: a pool whose window is the input.
  Reason mean() {
    const auto& attrs = node_.attrs<graph::ReduceAttrs>();
    const Shape& in = in_shape();
    if (in.size() != 4 || attrs.axes != std::vector<int64_t>{1, 2})
      return std::string("only a mean over height and width is a pool");
    set_kind(Kind::average_pool);
    set_shapes(in, {in[0], 1, 1, in[3]});
    layer_.kernel_h = layer_.in_h, layer_.kernel_w = layer_.in_w;
    set(Operand::source, node_.inputs[0]);
    return std::nullopt;
  }

  Reason softmax() {
    const float beta = node_.attrs<graph::SoftmaxAttrs>().beta;
    if (beta != 1) return fmt::format("beta is {}, not 1", beta);
    set_kind(Kind::softmax);
    set_rows(in_shape().back(), in_shape().back());
    set(Operand::source, node_.inputs[0]);
    return std::nullopt;
  }

  Reason elementwise() {
    std::optional<UnaryFunction> unary = function_of(node_);
    if (is_int8() && node_.kind == OpKind::Relu)
      unary = fused(node_.attrs<graph::ReluAttrs>().activation);
    if (!unary) return fmt::format("{} is no layer", graph::to_string(node_.kind));
    set_kind(Kind::eltwise);
    set_rows(element_count(in_shape()), element_count(in_shape()));
    set_function(*unary);
    set(Operand::source, node_.inputs[0]);
    return std::nullopt;
  }

  // Four extents; outer ones of 1 in front. Runs of axes that both have whole become one.
  static Shape four(const Shape& shape) {
    Shape extents(4 - std::min<size_t>(4, shape.size()), 1);
    extents.insert(extents.end(), shape.begin(), shape.end());
    return extents;
  }

  // Whether the sum becomes part of the layer that makes `b`: the first one that makes an operand which nobody else reads. A sum
  // of int8 has its operands in the same order alone as it has there, so that both round alike.
  bool is_sum_with_layer(TensorId b) const {
    if (!is_int8() || tensor(b).shape != out_shape()) return false;
    const auto readers = [this](TensorId id) {
      int64_t count = 0;
      for (const graph::Node& node : function_.nodes)
        count += std::count(node.inputs.begin(), node.inputs.end(), id);
      return count;
    };
    for (const graph::Node& node : function_.nodes) {
      const bool weighted = node.kind == OpKind::Conv2d || node.kind == OpKind::DepthwiseConv2d ||
                            node.kind == OpKind::FullyConnected;
      for (const TensorId input : node_.inputs)
        if (weighted && node.outputs[0] == input && readers(input) == 1) return input == b;
    }
    return false;
  }

  Reason binary(Kind kind, graph::Activation activation, bool commutes) {
    TensorId a = node_.inputs[0], b = node_.inputs[1];
    if (commutes && (tensor(a).shape != out_shape() || is_sum_with_layer(b))) std::swap(a, b);
    if (tensor(a).shape != out_shape())
      return std::string(commutes ? "both operands need broadcasting"
                                  : "the first operand needs broadcasting");
    Shape whole = out_shape(), part = tensor(b).shape;
    if (whole == part) {
      whole = part = {element_count(whole)};
    } else if (whole.size() > 4) {
      return fmt::format("it broadcasts {} axes, at most 4 can be", whole.size());
    }
    whole = four(whole), part = four(part);
    set_kind(kind);
    set_shapes(whole, whole);
    layer_.b_batch = word(part[0]), layer_.b_h = word(part[1]), layer_.b_w = word(part[2]);
    layer_.b_c = word(part[3]);
    const UnaryFunction unary = fused(activation);
    layer_.second_function = static_cast<int32_t>(unary.function);
    layer_.second_alpha = std::bit_cast<int32_t>(unary.alpha);
    layer_.second_beta = std::bit_cast<int32_t>(unary.beta);
    set(Operand::source, a);
    set(Operand::addend, b);
    return std::nullopt;
  }

  const graph::Function& function_;
  const graph::Node& node_;
  LayerOfNodes& made_;
  Layer& layer_;
};

}  // namespace

Reason make_layer(const graph::Function& function, graph::NodeId node, LayerOfNodes& made) {
  return LayerMaker(function, node, made).run();
}

}  // namespace intarsia::layers
