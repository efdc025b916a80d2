// What the families of random operators are made with; random_operator.h is what tests include.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "intarsia/plugin/check.h"
#include "support/random_operator.h"

namespace intarsia::testing::families {

using namespace graph;

class Builder {
 public:
  Builder(Random& random, OpKind kind, DataType type) : random_(random), type_(type) {
    module_.name = std::string("m");
    module_.entry = "main";
    function_.name = "main";
    node_.kind = kind;
    node_.name = fmt::format("{}_1", to_string(kind));
  }

  Quantization quantization(DataType type, int64_t zero_low = -100, int64_t zero_high = 100) {
    if (!is_integer(type)) return {};
    if (type == DataType::UInt8) zero_low = 0;
    if (type == DataType::Int16 || bits(type) > 16) zero_low = zero_high = 0;
    return {{random_.real(0.001f, 0.1f)}, {random_.range(zero_low, zero_high)}, 0};
  }

  TensorId input(Shape shape, DataType type) {
    const TensorId id = add({"x", type, std::move(shape), quantization(type), {}});
    function_.inputs.push_back(id);
    node_.inputs.push_back(id);
    return id;
  }
  TensorId input(Shape shape) { return input(std::move(shape), type_); }

  TensorId constant(Shape shape, DataType type, Quantization q, int64_t low, int64_t high) {
    const int64_t count = element_count(shape);
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < count; ++i) append_element(bytes, type, low, high);
    module_.constants.push_back({fmt::format("c{}", module_.constants.size()), std::move(bytes)});
    const ConstantId id{static_cast<int32_t>(module_.constants.size()) - 1};
    const TensorId tensor = add({"c", type, std::move(shape), std::move(q), id});
    node_.inputs.push_back(tensor);
    return tensor;
  }

  // Weights and, mostly, a bias. The scales of channels differ by up to 2^12.
  void weights(Shape shape, int64_t channels, int32_t axis, bool per_channel) {
    if (!is_integer(type_)) {
      constant(std::move(shape), type_, {}, 0, 0);
      if (random_.chance(80)) constant({channels}, type_, {}, 0, 0);
      return;
    }
    Quantization q{{}, {}, axis}, bias_q{{}, {}, 0};
    const float input_scale = function_.tensor(node_.inputs[0]).quantization.scale[0];
    for (int64_t i = 0; i < (per_channel ? channels : 1); ++i) {
      const int exponent = static_cast<int>(random_.range(0, 12));
      q.scale.push_back(std::ldexp(random_.real(0.5f, 1.0f), -exponent));
      q.zero_point.push_back(0);
      bias_q.scale.push_back(input_scale * q.scale.back());
      bias_q.zero_point.push_back(0);
    }
    constant(std::move(shape), DataType::Int8, q, -127, 127);
    const DataType bias = type_ == DataType::Int16 ? DataType::Int64 : DataType::Int32;
    if (random_.chance(80)) constant({channels}, bias, bias_q, -9000, 9000);
  }

  // The result's shape is inferred; the module is complete and verified.
  Module finish(DataType output_type, Quantization q) {
    const TensorId output = add({"y", output_type, {}, std::move(q), {}});
    node_.outputs.insert(node_.outputs.begin(), output);
    const Result<std::vector<Shape>> shapes = infer_shapes(module_, function_, node_);
    INTARSIA_CHECK(shapes.ok(), shapes.ok() ? "" : shapes.error().to_string());
    for (size_t i = 0; i < shapes->size(); ++i)
      function_.tensors[node_.outputs[i].at()].shape = (*shapes)[i];
    function_.outputs.push_back(output);
    for (const TensorId id : node_.outputs)
      if (id != output && !tensor(id).variable) function_.outputs.push_back(id);
    function_.nodes.push_back(std::move(node_));
    module_.functions.push_back(std::move(function_));
    const Result<void> verified = verify(module_);
    INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
    return std::move(module_);
  }
  Module finish() { return finish(type_, quantization(type_)); }

  // An operand that the operator writes as well.
  TensorId state(Shape shape, DataType type, Quantization q) {
    const TensorId id = add({"s", type, std::move(shape), std::move(q), {}, true});
    node_.inputs.push_back(id);
    node_.outputs.push_back(id);
    return id;
  }
  // One more output; its shape is inferred.
  void output(Quantization q, DataType type) {
    node_.outputs.push_back(add({"z", type, {}, std::move(q), {}}));
  }
  void output(Quantization q) { output(std::move(q), type_); }

  // Integer weights of float activations: [bias], and scales and zero points of the input's rows.
  void hybrid_weights(Shape shape, int64_t channels, int32_t axis, int64_t rows) {
    Quantization q{{}, {}, axis};
    const int64_t scales = random_.chance(60) ? channels : 1;
    for (int64_t i = 0; i < scales; ++i) {
      q.scale.push_back(random_.real(0.001f, 0.1f));
      q.zero_point.push_back(0);
    }
    constant(std::move(shape), DataType::Int8, q, -127, 127);
    if (random_.chance(70))
      constant({channels}, DataType::Float32, {}, 0, 0);
    else
      node_.inputs.push_back({});
    constant({rows}, DataType::Float32, {}, 0, 0);
    constant({rows}, DataType::Int32, {}, -128, 127);
  }

  Activation activation() {
    return random_.pick<Activation>({Activation::None, Activation::None, Activation::Relu,
                                     Activation::Relu6, Activation::ReluN1To1});
  }

  Tensor& tensor(TensorId id) { return function_.tensors[id.at()]; }
  Node& node() { return node_; }
  Random& random() { return random_; }
  DataType type() const { return type_; }

  void append_element(std::vector<uint8_t>& bytes, DataType type, int64_t low, int64_t high) {
    uint64_t raw = static_cast<uint64_t>(random_.range(low, high));
    if (type == DataType::Float32) {
      const float value = random_.real(-2.0f, 2.0f);
      uint32_t word = 0;
      std::memcpy(&word, &value, sizeof word);
      raw = word;
    }
    for (int bit = 0; bit < bits(type); bit += 8) bytes.push_back(static_cast<uint8_t>(raw >> bit));
  }

 private:
  TensorId add(Tensor tensor) {
    function_.tensors.push_back(std::move(tensor));
    return {static_cast<int32_t>(function_.tensors.size()) - 1};
  }

  Random& random_;
  DataType type_;
  Module module_;
  Function function_;
  Node node_;
};

inline Shape small_shape(Random& r, int64_t least_rank, int64_t most_rank) {
  Shape shape;
  const int64_t rank = r.range(least_rank, most_rank);
  for (int64_t axis = 0; axis < rank; ++axis) shape.push_back(r.range(1, 4));
  return shape;
}

// Operators that slide a window over rows and columns.
Module conv2d(Builder& b);
Module depthwise_conv2d(Builder& b);
Module transpose_conv2d(Builder& b);
Module pool(Builder& b);
Module hybrid_conv2d(Builder& b);
Module hybrid_depthwise_conv2d(Builder& b);
Module resize(Builder& b);

// Operators on single elements.
Module binary(Builder& b);
Module comparison(Builder& b);
Module select(Builder& b);
Module prelu(Builder& b);
Module lookup(Builder& b);
Module unary(Builder& b, OpKind kind);
Module relu(Builder& b);
Module cast(Builder& b);
Module quantize(Builder& b);
Module dequantize(Builder& b);
Module sum_of_many(Builder& b);

// Operators that combine the elements of an axis.
Module fully_connected(Builder& b);
Module batch_matmul(Builder& b);
Module softmax(Builder& b);
Module row_normalization(Builder& b);
Module mean(Builder& b);
Module arg(Builder& b);
Module cumsum(Builder& b);

Module hybrid_fully_connected(Builder& b);
Module quantize_rows(Builder& b);

// Operators of audio front ends, and detections.
Module signal(Builder& b, OpKind kind);
Module detect_boxes(Builder& b);

// Operators that move elements.
Module reshape(Builder& b);
Module pad(Builder& b);
Module moved(Builder& b, OpKind kind);
Module gather(Builder& b);
Module gather_nd(Builder& b);
Module scatter_nd(Builder& b);
Module dynamic_update_slice(Builder& b);
Module repeated(Builder& b, OpKind kind);

// Operators that keep state.
Module svdf(Builder& b);
Module lstm(Builder& b);

// Whose state begins anew.
Module recurrent(Builder& b);

}  // namespace intarsia::testing::families
