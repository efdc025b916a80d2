#include "legalise/rewrite.h"

#include <algorithm>

#include "legalise/linear.h"
#include "legalise/rewrites.h"
#include "legalise/rewriting_builder.h"

namespace intarsia::targets::ethos_n {
namespace {

using graph::OpKind;

constexpr int64_t kMostImages = 16;    // of a batch
constexpr int64_t kFlatChannels = 64;  // of elements whose places do not matter

bool has_weights(OpKind kind) {
  return kind == OpKind::Conv2d || kind == OpKind::DepthwiseConv2d ||
         kind == OpKind::TransposeConv2d || kind == OpKind::FullyConnected;
}

// The operands that the NPU reads and the results are tensors of 8 bits that are neither constant nor state.
bool is_of_activations(const graph::Function& function, const graph::Node& node) {
  const auto is_activation = [&](graph::TensorId id) {
    if (!id.valid()) return false;
    const graph::Tensor& tensor = function.tensor(id);
    return (tensor.type == DataType::Int8 || tensor.type == DataType::UInt8) &&
           tensor.quantization.scale.size() == 1 && !tensor.constant.valid() && !tensor.variable;
  };
  const size_t operands = has_weights(node.kind) ? 1 : node.inputs.size();
  // Of a sum, a difference or a product one operand may be constant.
  const bool is_arithmetic =
      node.kind == OpKind::Add || node.kind == OpKind::Sub || node.kind == OpKind::Mul;
  size_t constants = 0;
  for (size_t i = 0; i < operands; ++i) {
    if (is_activation(node.inputs[i])) continue;
    const bool is_constant =
        node.inputs[i].valid() && function.tensor(node.inputs[i]).constant.valid();
    if (!is_arithmetic || !is_constant || ++constants > 1) return false;
  }
  return std::all_of(node.outputs.begin(), node.outputs.end(), is_activation);
}

// ---- images of a batch one by one: they are rows, one image below the other ----

bool works_on_images(OpKind kind) {
  return kind == OpKind::Conv2d || kind == OpKind::DepthwiseConv2d ||
         kind == OpKind::TransposeConv2d || kind == OpKind::AveragePool2d ||
         kind == OpKind::MaxPool2d || kind == OpKind::DepthToSpace || kind == OpKind::ResizeNearest;
}

std::optional<Rewriting> one_by_one(const graph::Module& module, const graph::Function& function,
                                    const graph::Node& node) {
  const Shape in = function.tensor(node.inputs[0]).shape,
              out = function.tensor(node.outputs[0]).shape;
  const int64_t images = in[0];
  RewritingBuilder make(function, node);
  const graph::TensorId all = make.operand(0, {1, images * in[1], in[2], in[3]});
  std::vector<graph::TensorId> constants;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid() || !function.tensor(node.inputs[i]).constant.valid())
      return std::nullopt;
    constants.push_back(make.copy_constant(module, function.tensor(node.inputs[i])));
  }
  const graph::TensorId results = make.result(0, {1, images * out[1], out[2], out[3]});
  std::vector<graph::TensorId> parts, made;
  for (int64_t i = 0; i < images; ++i) {
    parts.push_back(make.between(all, {1, in[1], in[2], in[3]}));
    made.push_back(make.between(results, {1, out[1], out[2], out[3]}));
  }
  make.node(OpKind::Split,
            graph::SplitAttrs{1, std::vector<int64_t>(static_cast<size_t>(images), in[1])}, {all},
            parts);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<graph::TensorId> operands = {parts[i]};
    operands.insert(operands.end(), constants.begin(), constants.end());
    make.node(node.kind, node.attributes, operands, {made[i]});
  }
  make.node(OpKind::Concat, graph::AxisAttrs{1}, made, {results});
  return make.finish(true);
}

// ---- a maximum pooling of stride 1, as large as the image: then every stride-th, from where the first window is ----

std::optional<Rewriting> pooled_at_each_place(const graph::Function& function,
                                              const graph::Node& node) {
  const auto& attributes = node.attrs<graph::Pool2dAttrs>();
  const Shape &in = function.tensor(node.inputs[0]).shape,
              &out = function.tensor(node.outputs[0]).shape;
  struct Places {
    int64_t before, after, begin;
  };
  const auto places = [](int64_t size, int64_t kernel, int64_t stride, int64_t before,
                         int64_t results) -> std::optional<Places> {
    for (const int64_t padding : {(kernel - 1) / 2, kernel / 2})
      if (const int64_t begin = padding - before;
          begin >= 0 && begin + (results - 1) * stride < size)
        return Places{padding, kernel - 1 - padding, begin};
    return std::nullopt;
  };
  const auto y =
      places(in[1], attributes.filter_h, attributes.stride_h, attributes.padding.top, out[1]);
  const auto x =
      places(in[2], attributes.filter_w, attributes.stride_w, attributes.padding.left, out[2]);
  if (!y || !x) return std::nullopt;
  graph::Pool2dAttrs each = attributes;
  each.stride_h = each.stride_w = 1;
  each.padding = {y->before, x->before, y->after, x->after};
  if (each == attributes) return std::nullopt;
  RewritingBuilder make(function, node);
  const graph::TensorId input = make.operand(0, in), all = make.between(input, in),
                        result = make.result(0, out);
  make.node(OpKind::MaxPool2d, each, {input}, {all});
  const std::vector<int64_t> size = {1, out[1], out[2], out[3]};
  make.node(
      OpKind::Slice,
      graph::SliceAttrs{
          {0, y->begin, x->begin, 0}, size, {1, attributes.stride_h, attributes.stride_w, 1}, {}},
      {all}, {result});
  return make.finish(true);
}

// ---- element by element, whatever the shape: an image of as many ----

bool works_on_elements(OpKind kind) {
  return kind == OpKind::Add || kind == OpKind::Relu || kind == OpKind::LeakyRelu ||
         kind == OpKind::Logistic || kind == OpKind::Tanh || kind == OpKind::Quantize ||
         kind == OpKind::Mul;
}

std::optional<Rewriting> flattened(const graph::Function& function, const graph::Node& node) {
  const Shape shape = function.tensor(node.outputs[0]).shape,
              flat = flat_shape(element_count(shape));
  if (shape == flat) return std::nullopt;
  RewritingBuilder make(function, node);
  std::vector<graph::TensorId> operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (function.tensor(node.inputs[i]).shape != shape ||
        function.tensor(node.inputs[i]).constant.valid())
      return std::nullopt;
    operands.push_back(make.operand(i, flat));
  }
  make.node(node.kind, node.attributes, operands, {make.result(0, flat)});
  return make.finish();
}

}  // namespace

Shape flat_shape(int64_t elements) {
  int64_t channels = std::min(elements, kFlatChannels);
  while (elements % channels != 0) --channels;
  const int64_t pixels = elements / channels, columns = pixels % 8 == 0 ? 8 : 1;
  return {1, pixels / columns, columns, channels};
}

Shape as_image(const Shape& shape) {
  return shape.size() == 4 && shape[0] == 1 ? shape : flat_shape(element_count(shape));
}

std::vector<Way> ways_to_rewrite(const graph::Module& module, const graph::Function& function,
                                 const graph::Node& node) {
  if (node.inputs.empty() || !is_of_activations(function, node)) return {};
  const Shape& shape = function.tensor(node.inputs[0]).shape;
  const bool is_batch = shape.size() == 4 && shape[0] > 1;
  if (const std::optional<Linear> linear = linear_of(module, function, node)) {
    const bool is_whole =
        !works_on_images(node.kind) || !is_batch || linear->y.in == shape[0] * shape[1];
    if (is_whole) return ways_to_fold(function, node, *linear);
  }
  std::vector<Way> ways;
  ways.push_back([&] { return rewrite_arithmetic(module, function, node); });
  ways.push_back([&] { return rewrite_move(function, node); });
  if (node.kind == OpKind::MaxPool2d && !is_batch)
    ways.push_back([&] { return pooled_at_each_place(function, node); });
  if (works_on_images(node.kind) && is_batch && shape[0] <= kMostImages)
    ways.push_back([&] { return one_by_one(module, function, node); });
  if (works_on_elements(node.kind)) ways.push_back([&] { return flattened(function, node); });
  return ways;
}

}  // namespace intarsia::targets::ethos_n
