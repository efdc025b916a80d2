#include "passes/integer_forms.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "intarsia/plugin/op_families.h"
#include "passes/graph_edit.h"

namespace intarsia::passes {
namespace {

using graph::Activation;
using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;
using graph::TensorValue;

constexpr int64_t kWords = 65536;
constexpr int64_t kApart = 509;  // between the values that a form has to pass first

// What the function makes of every `apart`-th value, from the least on; one row for each of its outputs.
std::optional<std::vector<TensorValue>> rows_of_words(Module body, int64_t apart) {
  const int64_t count = (kWords + apart - 1) / apart;
  for (Function& function : body.functions)
    for (Tensor& tensor : function.tensors)
      if (!tensor.constant.valid()) tensor.shape = {count};
  TensorValue every;
  for (int64_t value = -kWords / 2; value < kWords / 2; value += apart) {
    every.push_back(static_cast<uint8_t>(value));
    every.push_back(static_cast<uint8_t>(value >> 8));
  }
  if (!graph::verify(body).ok()) return std::nullopt;
  Result<std::vector<TensorValue>> made = graph::Evaluator(body).run({every});
  if (!made.ok()) return std::nullopt;
  return *std::move(made);
}

// One function of an int16, which forms are held against.
class FormSearch {
 public:
  explicit FormSearch(const Module& alone) : alone_(alone) {}

  std::optional<std::vector<IntegerStep>> run() {
    Module with_floats = alone_;
    Function& body = with_floats.functions[0];
    const Tensor& result = body.tensor(body.outputs[0]);
    const TensorId real = body.nodes.back().inputs[0];
    if (body.nodes.back().kind != OpKind::Quantize || result.quantization.scale.size() != 1 ||
        body.tensor(real).type != DataType::Float32)
      return std::nullopt;
    body.outputs.push_back(real);
    const std::optional<std::vector<TensorValue>> wanted = rows_of_words(with_floats, 1);
    if (!wanted) return std::nullopt;
    all_ = wanted->at(0);
    real_ = wanted->at(1);
    const auto size = static_cast<size_t>(bits(result.type) / 8);
    for (int64_t at = 0; at < kWords; at += kApart) {
      const uint8_t* element = all_.data() + static_cast<size_t>(at) * size;
      some_.insert(some_.end(), element, element + size);
    }
    for (const std::vector<IntegerStep>& form : candidates())
      if (gives(form, kApart, some_) && gives(form, 1, all_)) return form;
    return std::nullopt;
  }

 private:
  float real_at(int64_t value) const {
    float number = 0;
    std::memcpy(&number, real_.data() + static_cast<size_t>(value + kWords / 2) * sizeof(float),
                sizeof(float));
    return number;
  }

  // From what costs least on.
  std::vector<std::vector<IntegerStep>> candidates() const {
    const Function& body = alone_.functions[0];
    const Tensor &source = body.tensor(body.inputs[0]), &result = body.tensor(body.outputs[0]);
    std::vector<std::vector<IntegerStep>> all;
    const IntegerStep requantised{OpKind::Quantize};
    all.push_back({requantised});
    std::vector<IntegerStep> exact;  // on the source's own scale
    for (const Activation activation : {Activation::Relu, Activation::Relu6, Activation::ReluN1To1})
      exact.push_back({OpKind::Relu, graph::ReluAttrs{activation}});
    exact.push_back({OpKind::Abs});
    for (const IntegerStep& step : exact) all.push_back({step});
    for (const Node& node : body.nodes)
      if (graph::is_elementwise_unary(node.kind) && node.kind != OpKind::Dequantize &&
          node.kind != OpKind::Quantize && node.kind != OpKind::Relu && node.kind != OpKind::Abs)
        all.push_back({{node.kind, node.attributes}});

    const float scale = source.quantization.scale[0];
    constexpr int64_t kHalf = 16384;
    const float above = real_at(kHalf) / (scale * kHalf),
                below = real_at(-kHalf) / (scale * -kHalf);
    const auto is_factor = [](float factor) { return std::isfinite(factor) && factor != 0; };
    if (is_factor(above))
      all.push_back({{OpKind::Mul, graph::BinaryAttrs{}, static_cast<int16_t>(above < 0 ? -1 : 1),
                      std::abs(above)}});
    if (is_factor(below) && below != above)
      all.push_back({{OpKind::LeakyRelu, graph::LeakyReluAttrs{below}}});

    // A clamp by the least or the largest result.
    const auto clamps_of = [&](float limit, OpKind kind) {
      const float steps = std::round(limit / scale);
      if (std::abs(steps) <= 32767)
        exact.push_back({kind, graph::NoAttrs{}, static_cast<int16_t>(steps), scale});
    };
    clamps_of(real_at(-kWords / 2), OpKind::Maximum);
    clamps_of(real_at(kWords / 2 - 1), OpKind::Minimum);
    for (size_t at = exact.size(); at-- > 0 && exact[at].constant;)
      if (result.type == source.type) all.push_back({exact[at]});
    if (exact.size() >= 2 && exact[exact.size() - 2].constant)
      all.push_back({exact[exact.size() - 2], exact.back()});
    for (const IntegerStep& step : exact) all.push_back({step, requantised});
    return all;
  }

  bool gives(const std::vector<IntegerStep>& form, int64_t apart, const TensorValue& wanted) const {
    Module candidate = alone_;
    Function& body = candidate.functions[0];
    const TensorId source = body.inputs[0];
    Node last = body.nodes.back();
    std::vector<Node> nodes = apply_steps(form, candidate, body, source, last);
    nodes.push_back(std::move(last));
    body.nodes = std::move(nodes);
    drop_unused(candidate);
    const std::optional<std::vector<TensorValue>> made = rows_of_words(std::move(candidate), apart);
    return made && made->at(0) == wanted;
  }

  const Module& alone_;
  TensorValue all_, some_, real_;
};

}  // namespace

std::optional<std::vector<IntegerStep>> integer_form(const Module& alone) {
  return FormSearch(alone).run();
}

std::vector<Node> apply_steps(const std::vector<IntegerStep>& steps, Module& module,
                              Function& function, TensorId source, Node& node) {
  std::vector<Node> before;
  const TensorId result = node.outputs[0];
  const std::string name = node.name;
  TensorId value = source;
  for (size_t i = 0; i < steps.size(); ++i) {
    const IntegerStep& step = steps[i];
    const bool last = i + 1 == steps.size();
    Node made = node;
    if (!last) made.name = free_name(function, fmt::format("{}_{}", name, to_string(step.kind)));
    made.kind = step.kind;
    made.attributes = step.attributes;
    made.inputs = {value};
    if (step.constant) {
      Tensor constant{.name = made.name + "_constant", .type = DataType::Int16, .shape = {1}};
      constant.quantization = {{step.scale}, {0}, 0};
      TensorValue bytes(2);
      put_element(DataType::Int16, bytes.data(), 0, *step.constant);
      constant.constant = add_constant(module, constant.name, std::move(bytes));
      made.inputs.push_back(add_tensor(function, std::move(constant)));
    }
    if (!last) {
      Tensor between = function.tensor(source);
      between.name = made.name;
      between.variable = false;
      value = add_tensor(function, std::move(between));
      made.outputs = {value};
      before.push_back(std::move(made));
    } else {
      made.outputs = {result};
      node = std::move(made);
    }
  }
  return before;
}

}  // namespace intarsia::passes
