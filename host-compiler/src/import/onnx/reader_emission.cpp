// The part of the reader that makes constants, tensors and operators of what it reads.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "import/onnx/reader.h"
#include "support/c_identifier.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;
using tflite::printable;

namespace {

// What operators compute from constants alone enters the program as a constant when it is no larger than
// this, or than the constants.
constexpr int64_t kMostComputed = 1 << 16;

const graph::Tensor kNoTensor{};

}  // namespace

const TensorList* Reader::list(size_t operand) const {
  const auto found = lists_.find(node_->inputs[operand]);
  return found == lists_.end() ? nullptr : &found->second;
}

const graph::Node* Reader::maker_of(TensorId id) const {
  for (auto node = function_.nodes.rbegin(); node != function_.nodes.rend(); ++node)
    if (std::ranges::find(node->outputs, id) != node->outputs.end()) return &*node;
  return nullptr;
}

const graph::Tensor& Reader::tensor(TensorId id) const {
  return id.valid() ? function_.tensor(id) : kNoTensor;
}

Values Reader::values_of(TensorId constant) const {
  const graph::Tensor& source = tensor(constant);
  return {source.type, source.shape, module_.constant(source.constant).bytes};
}

TensorId Reader::make_constant(Values values, graph::Quantization quantization) {
  const TensorId id{static_cast<int32_t>(function_.tensors.size())};
  const ConstantId constant{static_cast<int32_t>(module_.constants.size())};
  const std::string name = node_ == nullptr ? "" : base_name() + "_constant";
  module_.constants.push_back({name, std::move(values.bytes)});
  function_.tensors.push_back({.name = name,
                               .type = values.type,
                               .shape = std::move(values.shape),
                               .quantization = std::move(quantization),
                               .constant = constant});
  return id;
}

std::string Reader::base_name() const {
  const std::string& given =
      node_->name.empty() && !node_->outputs.empty() ? node_->outputs.front() : node_->name;
  std::string_view path = given;
  while (path.starts_with('/')) path.remove_prefix(1);
  // "conv1/Conv": exporters append the operator's type to the layer's name.
  if (path.size() > node_->type.size() + 1 && path.ends_with("/" + node_->type))
    path.remove_suffix(node_->type.size() + 1);
  constexpr size_t kLongest = 48;
  return c_identifier(path.substr(path.size() > kLongest ? path.size() - kLongest : 0),
                      node_->type);
}

TensorId Reader::emit(OpKind kind, graph::Attributes attributes, std::vector<TensorId> inputs,
                      DataType type, graph::Quantization quantization, std::string_view suffix) {
  return emit_many(kind, std::move(attributes), std::move(inputs), 1, type, quantization, suffix)
      .front();
}

std::vector<TensorId> Reader::emit_many(OpKind kind, graph::Attributes attributes,
                                        std::vector<TensorId> inputs, size_t outputs, DataType type,
                                        const graph::Quantization& quantization,
                                        std::string_view suffix) {
  return emit_typed(kind, std::move(attributes), std::move(inputs),
                    std::vector<Typed>(outputs, {type, quantization}), suffix);
}

std::vector<TensorId> Reader::emit_typed(OpKind kind, graph::Attributes attributes,
                                         std::vector<TensorId> inputs,
                                         const std::vector<Typed>& outputs,
                                         std::string_view suffix) {
  const std::vector<TensorId> nothing(outputs.size());
  if (failed_) return nothing;
  graph::Node made{.kind = kind, .attributes = std::move(attributes), .inputs = std::move(inputs)};
  made.name = suffix.empty() ? base_name() : fmt::format("{}_{}", base_name(), suffix);
  const size_t first = function_.tensors.size();
  for (const auto& [type, quantization] : outputs) {
    made.outputs.push_back({static_cast<int32_t>(function_.tensors.size())});
    function_.tensors.push_back({.name = made.name, .type = type, .quantization = quantization});
  }
  const Result<std::vector<Shape>> shapes = graph::infer_shapes(module_, function_, made);
  if (!shapes.ok()) {
    for (const Diagnostic& item : shapes.error().items()) problem(item.what, item.hint);
    function_.tensors.resize(first);
    return nothing;
  }
  for (size_t i = 0; i < outputs.size(); ++i) function_.tensors[first + i].shape = (*shapes)[i];
  if (compute_now(made)) return made.outputs;
  if (!attempting_) made.name = names_.take(made.name);
  std::vector<TensorId> ids = made.outputs;
  function_.nodes.push_back(std::move(made));
  return ids;
}

std::string Reader::function_name(std::string_view suffix) {
  return names_.take(fmt::format("{}_{}", base_name(), suffix));
}

std::vector<TensorId> Reader::emit_loop(graph::Function condition, graph::Function body,
                                        std::vector<TensorId> carried) {
  const std::vector<TensorId> nothing(carried.size());
  if (failed_) return nothing;
  graph::Node made{.kind = OpKind::While,
                   .name = names_.take(base_name()),
                   .attributes = graph::WhileAttrs{condition.name, body.name},
                   .inputs = std::move(carried)};
  module_.functions.push_back(std::move(condition));
  module_.functions.push_back(std::move(body));
  for (const TensorId id : made.inputs) {
    graph::Tensor after = tensor(id);
    after.name = made.name, after.constant = {};
    made.outputs.push_back({static_cast<int32_t>(function_.tensors.size())});
    function_.tensors.push_back(std::move(after));
  }
  const Result<std::vector<Shape>> shapes = graph::infer_shapes(module_, function_, made);
  if (!shapes.ok()) {
    for (const Diagnostic& item : shapes.error().items()) problem(item.what, item.hint);
    return nothing;
  }
  function_.nodes.push_back(made);
  return made.outputs;
}

std::vector<TensorId> Reader::emit_inline(const graph::Function& written,
                                          const std::vector<TensorId>& arguments) {
  if (failed_) return std::vector<TensorId>(written.outputs.size());
  std::vector<TensorId> ids(written.tensors.size());
  const auto add = [&](TensorId id, const std::string& name) {
    if (!id.valid() || ids[id.at()].valid()) return;
    ids[id.at()] = {static_cast<int32_t>(function_.tensors.size())};
    function_.tensors.push_back(written.tensors[id.at()]);
    function_.tensors.back().name = name;
  };
  for (size_t i = 0; i < arguments.size(); ++i) ids[written.inputs[i].at()] = arguments[i];
  for (const graph::Node& node : written.nodes) {
    graph::Node made = node;
    made.name = names_.take(fmt::format("{}_{}", base_name(), node.name));
    for (std::vector<TensorId>* operands : {&made.inputs, &made.outputs})
      for (TensorId& id : *operands) {
        add(id, made.name);
        if (id.valid()) id = ids[id.at()];
      }
    function_.nodes.push_back(std::move(made));
  }
  std::vector<TensorId> results;
  for (const TensorId id : written.outputs) results.push_back(ids[id.at()]);
  return results;
}

// By the reference evaluator, in a module of this operator alone. False when an operand is no constant.
bool Reader::compute_now(const graph::Node& node) {
  graph::Module module{
      .name = "constants", .functions = {{.name = "main"}}, .constants = {}, .entry = "main"};
  graph::Function& function = module.functions.front();
  graph::Node copy = node;
  int64_t given = 0, made = 0;
  for (TensorId& id : copy.inputs) {
    if (!id.valid()) continue;
    graph::Tensor operand = tensor(id);
    if (!operand.constant.valid()) return false;
    given += operand.bytes();
    id = {static_cast<int32_t>(function.tensors.size())};
    module.constants.push_back(module_.constant(operand.constant));
    operand.constant = {static_cast<int32_t>(module.constants.size()) - 1};
    function.tensors.push_back(std::move(operand));
  }
  for (TensorId& id : copy.outputs) {
    graph::Tensor output = tensor(id);
    made += output.bytes();
    id = {static_cast<int32_t>(function.tensors.size())};
    function.tensors.push_back(std::move(output));
  }
  if (made > std::max(given, kMostComputed)) return false;
  function.outputs = copy.outputs;
  function.nodes.push_back(std::move(copy));
  if (!graph::verify(module).ok()) return false;
  graph::Evaluator evaluator(module);
  const Result<std::vector<graph::TensorValue>> outputs = evaluator.run({});
  if (!outputs.ok()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    function_.tensors[node.outputs[i].at()].constant = {
        static_cast<int32_t>(module_.constants.size())};
    module_.constants.push_back({node.name, (*outputs)[i]});
  }
  return true;
}

TensorId Reader::emit_alike(OpKind kind, graph::Attributes attributes, std::vector<TensorId> inputs,
                            std::string_view suffix) {
  const graph::Tensor first = tensor(inputs.front());
  return emit(kind, std::move(attributes), std::move(inputs), first.type, first.quantization,
              suffix);
}

TensorId Reader::transpose(TensorId id, std::vector<int64_t> permutation) {
  if (std::ranges::is_sorted(permutation)) return id;
  graph::Quantization q = tensor(id).quantization;
  if (q.per_channel())
    q.axis = static_cast<int32_t>(std::ranges::find(permutation, q.axis) - permutation.begin());
  const auto make = [&] {
    return emit(OpKind::Transpose, graph::TransposeAttrs{permutation}, {id}, tensor(id).type, q,
                "order");
  };
  // Weights that many operators read, as the steps of an unrolled loop do, are one constant in this order too. What is made
  // in an attempt may be taken back.
  if (attempting_ || !is_constant(id)) return make();
  const auto known = transposed_.find({id.at(), permutation});
  if (known != transposed_.end()) return known->second;
  const TensorId made = make();
  if (made.valid() && is_constant(made)) transposed_.emplace(std::pair{id.at(), permutation}, made);
  return made;
}

TensorId Reader::reshape(TensorId id, Shape shape) {
  if (tensor(id).shape == shape) return id;
  return emit_alike(OpKind::Reshape, graph::ReshapeAttrs{std::move(shape)}, {id}, "shape");
}

TensorId Reader::to_channels_last(TensorId id) {
  return transpose(id, {0, 2, 3, 1});
}
TensorId Reader::to_channels_first(TensorId id) {
  return transpose(id, {0, 3, 1, 2});
}

TensorId Reader::cast(TensorId id, DataType type) {
  if (tensor(id).type == type) return id;
  return emit(OpKind::Cast, graph::NoAttrs{}, {id}, type, {}, "cast");
}

TensorId Reader::requantize(TensorId id, const QuantizedAs& as) {
  if (!id.valid() || as.fits(tensor(id))) return id;
  return emit(OpKind::Quantize, graph::NoAttrs{}, {id}, as.type, as.quantization, "quantize");
}

void Reader::result(size_t output, Value value) {
  if (failed_ || !value.tensor.valid() || output >= node_->outputs.size() ||
      node_->outputs[output].empty())
    return;
  graph::Tensor& tensor = function_.tensors[value.tensor.at()];
  if (std::ranges::find(function_.inputs, value.tensor) == function_.inputs.end() &&
      value.form == Form::Plain)
    tensor.name = printable(node_->outputs[output]);
  values_[node_->outputs[output]] = value;
  if (!whole_.empty()) many_axes_[node_->outputs[output]] = whole_;
}

const Shape& Reader::shape_of(size_t operand) {
  if (is_empty(operand)) return empty_.at(listed_->inputs[operand]);
  const auto tall = many_axes_.find(node_->inputs[operand]);
  return tall != many_axes_.end() ? tall->second : tensor(value(operand).tensor).shape;
}

void Reader::result_of_shape(Value value, const Shape& shape) {
  if (!value.tensor.valid()) return;
  if (shape.size() <= graph::kMaxRank) {
    value.tensor = reshape(value.tensor, shape);
    return result(0, value);
  }
  result(0, value);
  many_axes_[node_->outputs.front()] = shape;
}

TensorId Reader::carry(size_t operand) {
  const Value& given = value(operand);
  return tensor(given.tensor).quantization.per_channel() ? this->operand(operand) : given.tensor;
}

// The convolution is followed by the transposition to ONNX's order, which stays as it is.
TensorId Reader::fold_into_convolution(TensorId x, TensorId factor, TensorId offset,
                                       graph::Activation activation) {
  if (failed_ || !is_constant(factor) || !is_constant(offset) || function_.nodes.size() < 2)
    return {};
  if (only_reader(node_->inputs[0]) != listed_) return {};
  const graph::Node& last = function_.nodes.back();
  graph::Node& convolution = function_.nodes[function_.nodes.size() - 2];
  const bool is_pair = last.kind == OpKind::Transpose && last.outputs[0] == x &&
                       last.inputs[0] == convolution.outputs[0];
  const bool depthwise = convolution.kind == OpKind::DepthwiseConv2d;
  if (!is_pair || (convolution.kind != OpKind::Conv2d && !depthwise) || tensor(x).type != kFloat)
    return {};
  graph::Activation& own =
      depthwise ? std::get<graph::DepthwiseConv2dAttrs>(convolution.attributes).activation
                : std::get<graph::Conv2dAttrs>(convolution.attributes).activation;
  const bool has_bias = convolution.inputs.size() > 2 && convolution.inputs[2].valid();
  const TensorId weights = convolution.inputs[1],
                 bias = has_bias ? convolution.inputs[2] : TensorId{};
  if (own != graph::Activation::None || !is_constant(weights) || (has_bias && !is_constant(bias)))
    return {};
  own = activation;
  const std::vector<float> factors = as_reals(values_of(factor)),
                           offsets = as_reals(values_of(offset));
  const size_t channels = factors.size();
  std::vector<float> w = as_reals(values_of(weights));
  std::vector<float> b = has_bias ? as_reals(values_of(bias)) : std::vector<float>(channels, 0.0f);
  if (channels == 0 || w.size() % channels != 0 || b.size() != channels ||
      offsets.size() != channels)
    return {};
  for (size_t i = 0; i < w.size(); ++i)
    w[i] *= factors[depthwise ? i % channels : i / (w.size() / channels)];
  for (size_t i = 0; i < channels; ++i) b[i] = b[i] * factors[i] + offsets[i];
  const TensorId new_weights = make_constant(real_values(shape(weights), w));
  const TensorId new_bias = make_constant(real_values({static_cast<int64_t>(channels)}, b));
  convolution.inputs = {convolution.inputs[0], new_weights, new_bias};
  return x;
}

}  // namespace intarsia::onnx
