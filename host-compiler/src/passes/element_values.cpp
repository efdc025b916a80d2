#include "passes/element_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "intarsia/plugin/fixed_point.h"
#include "intarsia/plugin/op_families.h"
#include "passes/channel_flow.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;
using graph::TensorValue;

constexpr int kDeepest = 32;  // operators that possible_values looks back through

std::vector<int64_t> range_of(int64_t least, int64_t most) {
  std::vector<int64_t> values(static_cast<size_t>(std::max<int64_t>(0, most - least + 1)));
  std::iota(values.begin(), values.end(), least);
  return values;
}

// Of all values of 16 bits there are many: not an element at a time.
template <class Element>
TensorValue packed(const std::vector<int64_t>& values) {
  const std::vector<Element> narrow(values.begin(), values.end());
  TensorValue bytes(narrow.size() * sizeof(Element));
  std::memcpy(bytes.data(), narrow.data(), bytes.size());
  return bytes;
}

std::vector<int64_t> all_values(DataType type) {
  const int64_t count = INT64_C(1) << bits(type);
  return is_signed(type) ? range_of(-count / 2, count / 2 - 1) : range_of(0, count - 1);
}

std::optional<graph::Activation> fused_activation(const Node& node) {
  switch (node.kind) {
    case OpKind::Conv2d:
      return node.attrs<graph::Conv2dAttrs>().activation;
    case OpKind::DepthwiseConv2d:
      return node.attrs<graph::DepthwiseConv2dAttrs>().activation;
    case OpKind::FullyConnected:
      return node.attrs<graph::FullyConnectedAttrs>().activation;
    case OpKind::AveragePool2d:
    case OpKind::MaxPool2d:
      return node.attrs<graph::Pool2dAttrs>().activation;
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
      return node.attrs<graph::BinaryAttrs>().activation;
    default:
      return std::nullopt;
  }
}

// What the fused activation lets pass; nothing for types without such a clamp.
std::optional<graph::Range<int64_t>> clamp_of(graph::Activation activation, const Tensor& output) {
  if (output.quantization.scale.size() != 1) return std::nullopt;
  if (output.type == DataType::Int8) return graph::quantized_range<int8_t>(activation, output);
  if (output.type == DataType::Int16) return graph::quantized_range<int16_t>(activation, output);
  return std::nullopt;
}

// The distinct elements, ascending; of floats their bits.
std::vector<int64_t> unpack(DataType type, const TensorValue& bytes) {
  std::vector<int64_t> values;
  const auto count = static_cast<int64_t>(bytes.size()) * 8 / bits(type);
  for (int64_t i = 0; i < count; ++i) values.push_back(element_at(type, bytes.data(), i));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<int64_t> possible(const Function& function, const Uses& uses, TensorId id, int depth) {
  const Tensor& tensor = function.tensor(id);
  const int producer = uses.producer(id);
  if (tensor.variable || producer < 0 || depth == 0) return all_values(tensor.type);
  const Node& node = function.nodes[static_cast<size_t>(producer)];
  const auto of_input = [&]() -> std::vector<int64_t> {
    const bool same_type = function.tensor(node.inputs[0]).type == tensor.type;
    return same_type ? possible(function, uses, node.inputs[0], depth - 1)
                     : all_values(tensor.type);
  };
  switch (node.kind) {
    case OpKind::Reshape:
      return of_input();
    case OpKind::Pad: {
      std::vector<int64_t> values = of_input();
      const int64_t fill = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
      const auto place = std::lower_bound(values.begin(), values.end(), fill);
      if (place == values.end() || *place != fill) values.insert(place, fill);
      return values;
    }
    case OpKind::Relu:
    case OpKind::Quantize: {
      const Tensor& input = function.tensor(node.inputs[0]);
      if (!enumerable(input.type)) break;
      const std::optional<TensorValue> made =
          on_elements({}, function, node,
                      pack(input.type, possible(function, uses, node.inputs[0], depth - 1)));
      if (made) return unpack(tensor.type, *made);
      break;
    }
    default:
      break;
  }
  const std::optional<graph::Activation> activation = fused_activation(node);
  const std::optional<graph::Range<int64_t>> clamp =
      activation ? clamp_of(*activation, tensor) : std::nullopt;
  if (!clamp) return all_values(tensor.type);
  if (node.kind != OpKind::AveragePool2d && node.kind != OpKind::MaxPool2d)
    return range_of(clamp->least, clamp->most);
  const std::vector<int64_t> input = of_input();  // an average lies between the least and the most
  return range_of(clamp->clamp(input.front()), clamp->clamp(input.back()));
}

bool every_element_alone(const Function& function, const Node& node) {
  if (is_unary(node.kind)) return true;
  switch (node.kind) {
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
      return function.tensor(node.inputs[0]).constant.valid() !=
             function.tensor(node.inputs[1]).constant.valid();
    case OpKind::AveragePool2d:
    case OpKind::MaxPool2d: {
      const auto& a = node.attrs<graph::Pool2dAttrs>();
      return a.filter_h == 1 && a.filter_w == 1 && a.stride_h == 1 && a.stride_w == 1 &&
             a.padding == graph::Padding2d{};
    }
    case OpKind::Mean: {
      const Shape& shape = function.tensor(node.inputs[0]).shape;
      return std::ranges::all_of(node.attrs<graph::ReduceAttrs>().axes, [&](int64_t axis) {
        return shape[static_cast<size_t>(axis)] == 1;
      });
    }
    default:
      return false;
  }
}

}  // namespace

bool computes_elements(OpKind kind) {
  return graph::is_elementwise_unary(kind) || graph::is_elementwise_binary(kind) ||
         kind == OpKind::Select || kind == OpKind::AddN;
}

bool enumerable(DataType type) {
  return type == DataType::Int8 || type == DataType::UInt8 || type == DataType::Int16;
}

TensorValue pack(DataType type, const std::vector<int64_t>& values) {
  static_assert(std::endian::native == std::endian::little, "as elements of tensors lie");
  if (values.empty()) return {};
  if (type == DataType::Int16) return packed<int16_t>(values);
  if (type == DataType::Int8 || type == DataType::UInt8) return packed<int8_t>(values);
  TensorValue bytes(values.size() * static_cast<size_t>(bits(type) / 8));
  for (size_t i = 0; i < values.size(); ++i)
    put_element(type, bytes.data(), static_cast<int64_t>(i), values[i]);
  return bytes;
}

std::vector<int64_t> possible_values(const Function& function, const Uses& uses, TensorId id) {
  return possible(function, uses, id, kDeepest);
}

namespace {

// `extremes`: beside the least and the largest element of a constant alone.
std::optional<TensorValue> made_of(const Module& module, const Function& function, const Node& node,
                                   const TensorValue& values, bool extremes) {
  if (!every_element_alone(function, node)) return std::nullopt;
  const bool binary = is_binary(node.kind);
  const bool pool = node.kind == OpKind::AveragePool2d || node.kind == OpKind::MaxPool2d;
  const size_t other = binary && function.tensor(node.inputs[0]).constant.valid() ? 1 : 0;

  // The node alone, on a column of elements against a row of distinct constants.
  Module alone;
  alone.name = alone.entry = "alone";
  Function& body = alone.functions.emplace_back();
  body.name = "alone";
  Tensor input = function.tensor(node.inputs[other]);
  Tensor output = function.tensor(node.outputs[0]);
  if (input.constant.valid() || input.variable || output.variable || bits(input.type) % 8 != 0)
    return std::nullopt;
  const auto count = static_cast<int64_t>(values.size()) * 8 / bits(input.type);
  input.shape = pool ? Shape{1, count, 1, 1} : Shape{count, 1};
  output.shape = input.shape;

  Node copy = node;
  const TensorId x = add_tensor(body, input);
  body.inputs = {x};
  copy.inputs = {x};
  if (binary) {
    Tensor constant = function.tensor(node.inputs[1 - other]);
    if (bits(constant.type) % 8 != 0) return std::nullopt;
    std::vector<int64_t> distinct = unpack(constant.type, module.constant(constant.constant).bytes);
    if (extremes && distinct.size() > 2) distinct = {distinct.front(), distinct.back()};
    constant.shape = {1, static_cast<int64_t>(distinct.size())};
    constant.constant = add_constant(alone, "constant", pack(constant.type, distinct));
    const TensorId c = add_tensor(body, constant);
    copy.inputs = other == 1 ? std::vector{c, x} : std::vector{x, c};
    output.shape = {count, constant.shape[1]};
  }
  if (node.kind == OpKind::Mean) copy.attributes = graph::ReduceAttrs{{1}, true};
  const TensorId y = add_tensor(body, output);
  copy.outputs = body.outputs = {y};
  body.nodes.push_back(std::move(copy));
  if (!graph::verify(alone).ok()) return std::nullopt;
  Result<std::vector<TensorValue>> made = graph::Evaluator(alone).run({values});
  if (!made.ok()) return std::nullopt;
  return std::move(made.value()[0]);
}

}  // namespace

std::optional<TensorValue> on_elements(const Module& module, const Function& function,
                                       const Node& node, const TensorValue& values) {
  return made_of(module, function, node, values, false);
}

TensorValue few_of(DataType type, const TensorValue& values) {
  constexpr size_t kFew = 64;
  const auto size = static_cast<size_t>(bits(type) / 8);
  const size_t count = values.size() / size;
  if (count <= 8 * kFew) return values;
  TensorValue few;
  for (size_t i = 0; i < kFew; ++i) {
    const auto at = values.begin() + static_cast<ptrdiff_t>(i * count / kFew * size);
    few.insert(few.end(), at, at + static_cast<ptrdiff_t>(size));
  }
  return few;
}

bool keeps_elements(const Module& module, const Function& function, const Node& node,
                    const TensorValue& values) {
  const size_t input = function.tensor(node.inputs[0]).constant.valid() ? 1 : 0;
  const DataType type = function.tensor(node.inputs[input]).type;
  if (function.tensor(node.outputs[0]).type != type || bits(type) % 8 != 0) return false;
  const auto size = static_cast<size_t>(bits(type) / 8);
  // A few of many values first: mostly they say no, and sums with a position of each element have as many constants as those.
  if (const TensorValue few = few_of(type, values);
      few.size() < values.size() && !keeps_elements(module, function, node, few))
    return false;
  // Sums, differences and products of an element go up or down with the constant: what the least and the largest one keep, those between
  // them keep, of which a normalisation has as many as channels.
  const std::optional<TensorValue> made = made_of(module, function, node, values, true);
  if (!made || made->size() % values.size() != 0) return false;
  const size_t copies = made->size() / values.size();
  for (size_t at = 0; at < values.size(); at += size)
    for (size_t copy = 0; copy < copies; ++copy)
      if (std::memcmp(&values[at], &(*made)[at * copies + copy * size], size) != 0) return false;
  return true;
}

}  // namespace intarsia::passes
