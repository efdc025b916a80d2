// Operators on single elements.
#include <algorithm>

#include "support/random_builder.h"

namespace intarsia::testing::families {

Module binary(Builder& b) {
  Random& r = b.random();
  Shape shape;
  const int64_t rank = r.range(1, 4);
  for (int64_t axis = 0; axis < rank; ++axis) shape.push_back(r.range(1, 4));
  const auto operand = [&](bool broadcast) {
    Shape s = shape;
    if (broadcast) {
      for (int64_t& extent : s) {
        if (r.chance(50)) extent = 1;
      }
      s.erase(s.begin(), s.begin() + r.range(0, rank - 1));
    }
    return s;
  };
  const bool broadcasts = r.chance(60);
  b.input(operand(broadcasts && r.chance(30)));
  const Shape second = operand(broadcasts);
  if (r.chance(20)) {
    b.node().inputs.push_back(b.node().inputs[0]);  // x op x
  } else if (r.chance(25)) {
    const bool is_bool = b.type() == DataType::Bool;
    b.constant(second, b.type(), b.quantization(b.type()), is_bool ? 0 : -128, is_bool ? 1 : 127);
  } else {
    b.input(second);
  }
  if (default_attributes(b.node().kind).index() == Attributes(BinaryAttrs{}).index()) {
    const bool plain = b.type() == DataType::Int32;
    b.node().attributes = BinaryAttrs{plain ? Activation::None : b.activation()};
    if (plain) {
      for (const TensorId id : b.node().inputs) b.tensor(id).quantization = {};
      return b.finish(b.type(), {});
    }
  } else {
    b.node().attributes = NoAttrs{};
  }
  return b.finish();
}

Module comparison(Builder& b) {
  Random& r = b.random();
  const Shape shape{r.range(1, 4), r.range(1, 4)};
  b.input(shape);
  b.input(r.chance(50) ? shape : Shape{shape[1]});
  b.node().attributes = NoAttrs{};
  return b.finish(DataType::Bool, {});
}

Module select(Builder& b) {
  Random& r = b.random();
  const Shape shape{r.range(1, 4), r.range(1, 4)};
  b.input(r.chance(50) ? shape : Shape{shape[0], 1}, DataType::Bool);
  const TensorId x = b.input(shape);
  b.input(shape);
  b.node().attributes = NoAttrs{};
  return b.finish(b.type(), b.tensor(x).quantization);
}

Module prelu(Builder& b) {
  Random& r = b.random();
  const Shape shape{r.range(1, 3), r.range(1, 4), r.range(1, 5)};
  b.input(shape);
  const DataType alpha = b.type() == DataType::Float32 ? DataType::Float32 : DataType::Int8;
  b.constant({shape[2]}, alpha, b.quantization(alpha), -128, 127);
  b.node().attributes = NoAttrs{};
  return b.finish();
}

// Straight lines over an int16, which an Ethos-U has where they rise by less than half the range.
Module lines(Builder& b) {
  Random& r = b.random();
  LookupAttrs attributes;
  int64_t point = r.range(-32768, 32767);
  for (int i = 0; i <= 512; ++i) {
    attributes.results.push_back(point);
    point = std::clamp<int64_t>(point + r.range(-3000, 3000), -32768, 32767);
  }
  b.node().attributes = std::move(attributes);
  b.input({r.range(1, 3), r.range(1, 40)}, DataType::Int16);
  return b.finish(DataType::Int16, b.quantization(DataType::Int16));
}

Module lookup(Builder& b) {
  if (b.type() == DataType::Int16) return lines(b);
  Random& r = b.random();
  b.input({r.range(1, 3), r.range(1, 40)}, DataType::Int8);
  const DataType type = r.pick<DataType>({DataType::Int8, DataType::Int16, DataType::UInt8});
  const int64_t count = int64_t{1} << bits(type), least = is_signed(type) ? -count / 2 : 0;
  LookupAttrs attributes;
  for (int i = 0; i < 256; ++i) attributes.results.push_back(r.range(least, least + count - 1));
  b.node().attributes = std::move(attributes);
  return b.finish(type, b.quantization(type));
}

Module unary(Builder& b, OpKind kind) {
  Random& r = b.random();
  b.input({r.range(1, 3), r.range(1, 40)});
  b.node().attributes = default_attributes(kind);
  if (kind == OpKind::Gelu) b.node().attributes = GeluAttrs{r.chance(50)};
  if (kind == OpKind::LeakyRelu) b.node().attributes = LeakyReluAttrs{r.real(-0.5f, 1.0f)};
  if (!is_integer(b.type())) return b.finish();
  if (kind == OpKind::Neg) {  // plain numbers
    b.tensor(b.node().inputs[0]).quantization = {};
    return b.finish(b.type(), {});
  }
  if (kind == OpKind::Logistic || kind == OpKind::Tanh) {
    const bool wide = b.type() == DataType::Int16, is_tanh = kind == OpKind::Tanh;
    Tensor& input = b.tensor(b.node().inputs[0]);
    if (wide && r.chance(30)) input.quantization.scale[0] = std::ldexp(1.0f, -12 + is_tanh);
    const float scale = wide ? 1.0f / 32768 : is_tanh ? 1.0f / 128 : 1.0f / 256;
    return b.finish(b.type(), {{scale}, {wide || is_tanh ? 0 : -128}, 0});
  }
  return b.finish();
}

Module relu(Builder& b) {
  Random& r = b.random();
  const TensorId input = b.input({r.range(1, 3), r.range(1, 9)});
  b.node().attributes =
      ReluAttrs{r.pick<Activation>({Activation::Relu, Activation::Relu6, Activation::ReluN1To1})};
  if (r.chance(40)) return b.finish(b.type(), b.tensor(input).quantization);
  return b.finish();
}

Module cast(Builder& b) {
  Random& r = b.random();
  std::vector<DataType> types{DataType::Int8, DataType::Int16, DataType::Int32, DataType::Float32,
                              DataType::Bool};
  if (b.type() != DataType::Float32) types.push_back(DataType::UInt32);
  const DataType to = r.pick(types);
  b.input({r.range(1, 3), r.range(1, 9)});
  b.node().attributes = NoAttrs{};
  return b.finish(to, {});
}

Module quantize(Builder& b) {
  Random& r = b.random();
  const std::vector<DataType> from{DataType::Float32, DataType::Float32, DataType::Int8,
                                   DataType::Int16};
  const DataType source = b.type() == DataType::UInt8
                              ? r.pick<DataType>({DataType::Float32, DataType::Int8})
                              : r.pick(from);
  b.input({r.range(1, 3), r.range(1, 9)}, source);
  b.node().attributes = NoAttrs{};
  return b.finish();
}

Module dequantize(Builder& b) {
  Random& r = b.random();
  b.input({r.range(1, 3), r.range(1, 9)});
  b.node().attributes = NoAttrs{};
  return b.finish(DataType::Float32, {});
}

Module sum_of_many(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  const TensorId first = b.input(shape);
  for (int64_t i = r.range(0, 3); i > 0; --i) {
    const TensorId more = b.input(shape);
    b.tensor(more).quantization = b.tensor(first).quantization;
  }
  b.node().attributes = NoAttrs{};
  return b.finish();
}

}  // namespace intarsia::testing::families
