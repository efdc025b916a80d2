#include "support/random_network.h"

#include <cmath>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"

namespace intarsia::testing {
namespace {

using namespace graph;

class NetworkBuilder {
 public:
  NetworkBuilder(Random& random, DataType type, const NetworkSizes& sizes)
      : r_(random), type_(type), sizes_(sizes) {
    module_.name = "net";
    module_.entry = function_.name = "main";
  }

  Module build() {
    TensorId x = add({"input",
                      type_,
                      {r_.range(1, sizes_.most_images), r_.range(3, sizes_.most_rows),
                       r_.range(3, 9), r_.range(1, 4) * sizes_.channel_unit},
                      quantization(),
                      {}});
    function_.inputs.push_back(x);
    images_.push_back(x);
    const int64_t layers = r_.range(2, 9);
    for (int64_t i = 0; i < layers; ++i) {
      x = image_layer(r_.chance(75) ? x : r_.pick(images_));
      images_.push_back(x);
    }
    if (r_.chance(50)) x = head(x);
    function_.outputs.push_back(x);
    if (r_.chance(20) && images_.back() != x && images_.size() > 2)
      function_.outputs.push_back(images_[images_.size() / 2]);
    std::erase(function_.outputs, function_.inputs[0]);
    module_.functions.push_back(std::move(function_));
    const Result<void> verified = verify(module_);
    INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
    return std::move(module_);
  }

 private:
  TensorId add(Tensor tensor) {
    function_.tensors.push_back(std::move(tensor));
    return {static_cast<int32_t>(function_.tensors.size()) - 1};
  }
  const Tensor& tensor(TensorId id) const { return function_.tensor(id); }
  int64_t channels(TensorId id) const { return tensor(id).shape.back(); }

  Quantization quantization() {
    const int64_t zero =
        type_ == DataType::Int16 ? 0 : r_.pick<int64_t>({-128, -128, 0, 127, r_.range(-128, 127)});
    return {{r_.real(0.02f, 0.06f)}, {zero}, 0};
  }
  Activation activation() {
    return r_.pick<Activation>({Activation::None, Activation::Relu, Activation::Relu,
                                Activation::Relu6, Activation::ReluN1To1});
  }

  TensorId constant(Shape shape, DataType type, Quantization q,
                    const std::vector<int64_t>& values) {
    std::vector<uint8_t> bytes;
    for (const int64_t value : values)
      for (int bit = 0; bit < bits(type); bit += 8)
        bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> bit));
    module_.constants.push_back({fmt::format("c{}", module_.constants.size()), std::move(bytes)});
    return add({"c",
                type,
                std::move(shape),
                std::move(q),
                {static_cast<int32_t>(module_.constants.size()) - 1}});
  }

  // Weights [outputs][taps][inputs] (or [taps][outputs] when depthwise) and a bias, with dead ones.
  void weights(Node& node, Shape shape, int64_t outputs, int64_t inputs, bool depthwise) {
    const int64_t count = element_count(shape), axis = depthwise ? 3 : 0;
    std::vector<bool> dead(static_cast<size_t>(outputs)), unread(static_cast<size_t>(inputs));
    const int often = r_.pick<int>({0, 30, 60, 100});
    for (size_t i = 0; i < dead.size(); ++i) dead[i] = r_.chance(often);
    for (size_t i = 0; i < unread.size(); ++i) unread[i] = !depthwise && r_.chance(20);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t output = depthwise ? i % outputs : i / (count / outputs);
      const int64_t input = depthwise ? 0 : i % inputs;
      const bool zero = dead[static_cast<size_t>(output)] ||
                        (!depthwise && unread[static_cast<size_t>(input)]) || r_.chance(15);
      values.push_back(zero ? 0 : r_.range(-127, 127));
    }
    Quantization q{{}, {}, static_cast<int32_t>(axis)}, bias_q{{}, {}, 0};
    const int64_t scales = r_.chance(60) ? outputs : 1;
    for (int64_t i = 0; i < scales; ++i) {
      q.scale.push_back(r_.real(0.001f, 0.02f));
      q.zero_point.push_back(0);
      bias_q.scale.push_back(tensor(node.inputs[0]).quantization.scale[0] * q.scale.back());
      bias_q.zero_point.push_back(0);
    }
    node.inputs.push_back(constant(std::move(shape), DataType::Int8, q, values));
    if (r_.chance(20)) return;
    std::vector<int64_t> bias;
    for (int64_t i = 0; i < outputs; ++i)
      bias.push_back(r_.chance(25) ? 0 : r_.range(-20000, 20000));
    const bool wide = type_ == DataType::Int16 && (depthwise || r_.chance(70));
    node.inputs.push_back(
        constant({outputs}, wide ? DataType::Int64 : DataType::Int32, bias_q, bias));
  }

  TensorId finish(Node node, Quantization q) {
    node.name = fmt::format("{}_{}", to_string(node.kind), function_.nodes.size());
    const TensorId y = add({node.name + "_out", type_, {}, std::move(q), {}});
    node.outputs = {y};
    const Result<std::vector<Shape>> shapes = infer_shapes(module_, function_, node);
    INTARSIA_CHECK(shapes.ok(), shapes.ok() ? "" : shapes.error().to_string());
    function_.tensors[y.at()].shape = (*shapes)[0];
    function_.nodes.push_back(std::move(node));
    return y;
  }

  struct Axis {
    int64_t kernel, stride, dilation, before, after;
  };
  Axis axis(int64_t extent, bool may_dilate) {
    Axis a{r_.pick<int64_t>({1, 1, 2, 3}), r_.range(1, 2), 1, 0, 0};
    if (may_dilate && r_.chance(15)) a.dilation = 2;
    const int64_t reach = (a.kernel - 1) * a.dilation + 1;
    if (r_.chance(60)) a.before = (reach - 1) / 2, a.after = reach - 1 - a.before;
    if (extent + a.before + a.after < reach) a.kernel = a.dilation = 1, a.before = a.after = 0;
    return a;
  }

  TensorId conv(TensorId x) {
    const Shape& in = tensor(x).shape;
    const Axis h = axis(in[1], true), w = axis(in[2], true);
    const int64_t inputs = in[3], outputs = r_.range(1, 6) * sizes_.channel_unit;
    Node node{OpKind::Conv2d, "", {}, {x}, {}, ""};
    weights(node, {outputs, h.kernel, w.kernel, inputs}, outputs, inputs, false);
    node.attributes = Conv2dAttrs{
        h.stride,    w.stride, h.dilation, w.dilation, {h.before, w.before, h.after, w.after},
        activation()};
    return finish(std::move(node), quantization());
  }

  TensorId depthwise(TensorId x) {
    const Shape& in = tensor(x).shape;
    const Axis h = axis(in[1], true), w = axis(in[2], true);
    const int64_t multiplier = r_.chance(20) ? 2 : 1, outputs = in[3] * multiplier;
    Node node{OpKind::DepthwiseConv2d, "", {}, {x}, {}, ""};
    weights(node, {1, h.kernel, w.kernel, outputs}, outputs, in[3], true);
    node.attributes =
        DepthwiseConv2dAttrs{h.stride,    w.stride,   h.dilation,
                             w.dilation,  multiplier, {h.before, w.before, h.after, w.after},
                             activation()};
    return finish(std::move(node), quantization());
  }

  TensorId pool(TensorId x) {
    const Shape& in = tensor(x).shape;
    const Axis h = axis(in[1], false), w = axis(in[2], false);
    Node node{r_.chance(50) ? OpKind::AveragePool2d : OpKind::MaxPool2d, "", {}, {x}, {}, ""};
    node.attributes = Pool2dAttrs{
        h.kernel,    w.kernel, h.stride, w.stride, {h.before, w.before, h.after, w.after},
        activation()};
    return finish(std::move(node), tensor(x).quantization);
  }

  TensorId pad(TensorId x) {
    PadAttrs attrs{{0, r_.range(0, 2), r_.range(0, 2), r_.chance(15) ? 1 : 0},
                   {0, r_.range(0, 2), r_.range(0, 2), r_.chance(15) ? 2 : 0}};
    return finish({OpKind::Pad, "", attrs, {x}, {}, ""}, tensor(x).quantization);
  }

  // Beside an earlier picture of the same extents; pieces of one quantisation.
  TensorId concat(TensorId x) {
    std::vector<TensorId> pieces{x};
    for (const TensorId other : images_)
      if (tensor(other).shape == tensor(x).shape && other != x && pieces.size() < 3)
        pieces.push_back(other);
    for (TensorId& piece : pieces)
      if (tensor(piece).quantization != tensor(x).quantization)
        piece = finish({OpKind::Quantize, "", NoAttrs{}, {piece}, {}, ""}, tensor(x).quantization);
    const int64_t axis = r_.chance(70) ? 3 : 1;
    return finish({OpKind::Concat, "", AxisAttrs{axis}, pieces, {}, ""}, tensor(x).quantization);
  }

  // With an earlier picture of the shape, or with a constant per channel.
  TensorId binary(TensorId x) {
    Node node{r_.pick<OpKind>({OpKind::Add, OpKind::Add, OpKind::Mul, OpKind::Sub}),
              "",
              BinaryAttrs{activation()},
              {x},
              {},
              ""};
    for (const TensorId other : images_)
      if (other != x && tensor(other).shape == tensor(x).shape && r_.chance(80))
        node.inputs.push_back(other);
    node.inputs.resize(std::min<size_t>(node.inputs.size(), 2));
    if (node.inputs.size() < 2) {
      Quantization q = quantization();
      const int64_t half = type_ == DataType::Int16 ? 32767 : 127,
                    count = r_.chance(50) ? channels(x) : 1;
      std::vector<int64_t> values;
      for (int64_t i = 0; i < count; ++i)
        values.push_back(r_.chance(30) ? q.zero_point[0] : r_.range(-half, half));
      node.inputs.push_back(constant({count}, type_, q, values));
      if (r_.chance(30)) std::swap(node.inputs[0], node.inputs[1]);
    }
    Quantization q = quantization();
    q.scale[0] *= 3;  // an addition's factor is at most 1
    return finish(std::move(node), std::move(q));
  }

  TensorId pointwise(TensorId x) {
    if (r_.chance(50)) {
      const Activation clamp =
          r_.pick<Activation>({Activation::Relu, Activation::Relu6, Activation::ReluN1To1});
      return finish({OpKind::Relu, "", ReluAttrs{clamp}, {x}, {}, ""},
                    r_.chance(70) ? tensor(x).quantization : quantization());
    }
    return finish({OpKind::Quantize, "", NoAttrs{}, {x}, {}, ""},
                  r_.chance(50) ? tensor(x).quantization : quantization());
  }

  TensorId image_layer(TensorId x) {
    switch (r_.range(0, 11)) {
      case 0:
      case 1:
      case 2:
        return conv(x);
      case 3:
      case 4:
        return depthwise(x);
      case 5:
        return pool(x);
      case 6:
        return pad(x);
      case 7:
      case 8:
        return pointwise(r_.chance(50) ? pointwise(x) : x);
      case 9:
        return concat(x);
      default:
        return binary(x);
    }
  }

  // To a vector and through a fully connected layer or two.
  TensorId head(TensorId x) {
    const Shape& in = tensor(x).shape;
    if (r_.chance(40)) {
      x = finish({OpKind::Mean, "", ReduceAttrs{{1, 2}, r_.chance(50)}, {x}, {}, ""},
                 quantization());
    } else if (r_.chance(60)) {
      const Shape flat{in[0], element_count(in) / in[0]};
      x = finish({OpKind::Reshape, "", ReshapeAttrs{flat}, {x}, {}, ""}, tensor(x).quantization);
    }
    for (int64_t i = r_.range(1, 2); i > 0; --i) {
      const Shape& shape = tensor(x).shape;
      const int64_t depth = element_count(shape) / shape[0], outputs = r_.range(1, 6);
      Node node{OpKind::FullyConnected, "", FullyConnectedAttrs{false, activation()}, {x}, {}, ""};
      weights(node, {outputs, depth}, outputs, depth, false);
      x = finish(std::move(node), quantization());
    }
    return x;
  }

  Random& r_;
  DataType type_;
  NetworkSizes sizes_;
  Module module_;
  Function function_;
  std::vector<TensorId> images_;
};

}  // namespace

Module random_network(Random& random, DataType type, const NetworkSizes& sizes) {
  return NetworkBuilder(random, type, sizes).build();
}

}  // namespace intarsia::testing
