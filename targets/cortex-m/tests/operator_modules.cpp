#include "operator_modules.h"

#include <cmath>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"

namespace intarsia::test::cortex_m {
namespace {

using namespace graph;

class Builder {
 public:
  explicit Builder(Random& random) : random_(random) {
    module_.name = std::string("m");
    module_.entry = function_.name = std::string("main");
  }

  TensorId add(Tensor tensor) {
    function_.tensors.push_back(std::move(tensor));
    return {static_cast<int32_t>(function_.tensors.size()) - 1};
  }

  TensorId input(Shape shape) {
    const TensorId id =
        add({"x", DataType::Int8, std::move(shape), {{0.05f}, {random_.range(-128, 127)}, 0}, {}});
    function_.inputs.push_back(id);
    return id;
  }

  // Weights [..] with per-channel scales along `axis`, and mostly a bias.
  void constants(Node& node, Shape shape, int32_t axis, bool has_bias = true, int64_t most = 127) {
    const int64_t channels = shape[static_cast<size_t>(axis)];
    Quantization weights{{}, {}, axis}, bias{{}, {}, 0};
    for (int64_t c = 0; c < channels; ++c) {
      weights.scale.push_back(random_.real(0.001f, 0.01f));
      weights.zero_point.push_back(0);
      bias.scale.push_back(0.05f * weights.scale.back());
      bias.zero_point.push_back(0);
    }
    // Saturated weights now and then: the largest sums. Few networks have -128, the least of them.
    const bool saturated = random_.chance(10);
    const int64_t reach = random_.chance(20) && most == 127 ? 128 : most;
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < element_count(shape); ++i)
      bytes.push_back(static_cast<uint8_t>(
          saturated ? (random_.chance(50) ? -reach : std::min<int64_t>(reach, 127))
                    : random_.range(-reach, std::min<int64_t>(reach, 127))));
    node.inputs.push_back(add({"w", DataType::Int8, shape, weights, constant(std::move(bytes))}));
    if (!has_bias) return;
    std::vector<uint8_t> words;
    for (int64_t c = 0; c < channels; ++c) {
      const auto value = static_cast<uint32_t>(random_.range(-20000, 20000));
      for (int byte = 0; byte < 4; ++byte)
        words.push_back(static_cast<uint8_t>(value >> (8 * byte)));
    }
    node.inputs.push_back(
        add({"b", DataType::Int32, {channels}, bias, constant(std::move(words))}));
  }

  // The scale of results follows from how far sums of `taps` products reach.
  Module finish(Node node, int64_t taps, bool small_multipliers) {
    const float reach = 0.05f * 0.01f * 5000.0f * std::sqrt(static_cast<float>(taps)) / 128.0f;
    const float scale =
        small_multipliers ? std::max(reach, 0.0011f) : random_.real(0.0003f, 0.002f);
    return finish(std::move(node), {{scale}, {random_.range(-128, 127)}, 0});
  }

  Module finish(Node node, Quantization quantization) {
    node.name = std::string("op");
    node.outputs.push_back(add({"y", DataType::Int8, {}, std::move(quantization), {}}));
    const Result<std::vector<Shape>> shapes = infer_shapes(module_, function_, node);
    INTARSIA_CHECK(shapes.ok(), shapes.ok() ? "" : shapes.error().to_string());
    function_.tensors.back().shape = (*shapes)[0];
    function_.outputs.push_back(node.outputs[0]);
    function_.nodes.push_back(std::move(node));
    module_.functions.push_back(std::move(function_));
    const Result<void> verified = verify(module_);
    INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
    return std::move(module_);
  }

  const Quantization& quantization(TensorId id) const { return function_.tensor(id).quantization; }

 private:
  ConstantId constant(std::vector<uint8_t> bytes) {
    module_.constants.push_back({fmt::format("c{}", module_.constants.size()), std::move(bytes)});
    return {static_cast<int32_t>(module_.constants.size()) - 1};
  }

  Random& random_;
  Module module_;
  Function function_;
};

}  // namespace

Module window_module(Random& random, const WindowCase& c) {
  Builder builder(random);
  Node node;
  node.kind = c.kind;
  node.inputs.push_back(builder.input({c.batches, c.height, c.width, c.channels}));
  if (c.kind == OpKind::Conv2d) {
    Conv2dAttrs attrs;
    attrs.stride_h = c.stride;
    attrs.stride_w = c.stride_w == 0 ? c.stride : c.stride_w;
    attrs.dilation_h = c.dilation_h;
    attrs.dilation_w = c.dilation_w;
    attrs.padding = c.padding;
    attrs.activation = c.activation;
    node.attributes = attrs;
    const int64_t depth = c.channels / c.groups;
    builder.constants(node, {c.out_channels, c.kernel_h, c.kernel_w, depth}, 0, c.has_bias,
                      c.most_weight);
    return builder.finish(std::move(node), c.kernel_h * c.kernel_w * depth, c.small_multipliers);
  }
  if (c.kind == OpKind::TransposeConv2d) {
    TransposeConv2dAttrs attrs;
    attrs.stride_h = c.stride;
    attrs.stride_w = c.stride_w == 0 ? c.stride : c.stride_w;
    attrs.pad_top = c.padding.top, attrs.pad_left = c.padding.left;
    // As long as its windows reach, and what `bottom` and `right` add.
    const auto extent = [](int64_t in, int64_t stride, int64_t kernel, int64_t before,
                           int64_t more) {
      return std::max<int64_t>((in - 1) * stride + kernel - before + more, 1);
    };
    attrs.out_h = extent(c.height, attrs.stride_h, c.kernel_h, attrs.pad_top, c.padding.bottom);
    attrs.out_w = extent(c.width, attrs.stride_w, c.kernel_w, attrs.pad_left, c.padding.right);
    attrs.activation = c.activation;
    node.attributes = attrs;
    builder.constants(node, {c.out_channels, c.kernel_h, c.kernel_w, c.channels}, 0, c.has_bias);
    return builder.finish(std::move(node), c.kernel_h * c.kernel_w * c.channels,
                          c.small_multipliers);
  }
  DepthwiseConv2dAttrs attrs;
  attrs.stride_h = c.stride;
  attrs.stride_w = c.stride_w == 0 ? c.stride : c.stride_w;
  attrs.dilation_h = c.dilation_h;
  attrs.dilation_w = c.dilation_w;
  attrs.multiplier = c.out_channels / c.channels;
  attrs.padding = c.padding;
  attrs.activation = c.activation;
  node.attributes = attrs;
  builder.constants(node, {1, c.kernel_h, c.kernel_w, c.out_channels}, 3, c.has_bias,
                    c.most_weight);
  return builder.finish(std::move(node), c.kernel_h * c.kernel_w, c.small_multipliers);
}

Module fully_connected_module(Random& random, int64_t rows, int64_t inputs, int64_t outputs) {
  Builder builder(random);
  Node node;
  node.kind = OpKind::FullyConnected;
  node.attributes = FullyConnectedAttrs{};
  node.inputs.push_back(builder.input({rows, inputs}));
  builder.constants(node, {outputs, inputs}, 0);
  return builder.finish(std::move(node), inputs, true);
}

Module plain_module(Random& random, OpKind kind, Attributes attributes, const Shape& shape,
                    int operands) {
  Builder builder(random);
  Node node;
  node.kind = kind;
  node.attributes = std::move(attributes);
  for (int i = 0; i < operands; ++i) node.inputs.push_back(builder.input(shape));
  const bool pool = kind == OpKind::AveragePool2d || kind == OpKind::MaxPool2d;
  if (kind == OpKind::Softmax) return builder.finish(std::move(node), {{1.0f / 256.0f}, {-128}, 0});
  return builder.finish(std::move(node), pool ? builder.quantization(node.inputs[0])
                                              : Quantization{{0.06f}, {random.range(-60, 60)}, 0});
}

Module matmul_module(Random& random, const Shape& a, const Shape& b, bool transpose_b,
                     bool transpose_a) {
  Builder builder(random);
  Node node;
  node.kind = OpKind::BatchMatmul;
  node.attributes = BatchMatmulAttrs{transpose_a, transpose_b};
  node.inputs = {builder.input(a), builder.input(b)};
  return builder.finish(
      std::move(node), {{0.05f * 0.05f * random.real(2.5f, 600.0f)}, {random.range(-128, 127)}, 0});
}

Module binary_module(Random& random, OpKind kind, const Shape& a, const Shape& b,
                     Activation activation) {
  Builder builder(random);
  Node node;
  node.kind = kind;
  node.attributes = BinaryAttrs{activation};
  node.inputs = {builder.input(a), builder.input(b)};
  const float scale =
      kind == OpKind::Mul ? 0.05f * 0.05f * random.real(2.5f, 600.0f) : random.real(0.05f, 0.2f);
  return builder.finish(std::move(node), {{scale}, {random.range(-128, 127)}, 0});
}

}  // namespace intarsia::test::cortex_m
