#include "support/random_operator.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "intarsia/check.h"

namespace intarsia::testing {

namespace {

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
    if (type == DataType::Int16 || type == DataType::Int32) zero_low = zero_high = 0;
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
    if (random_.chance(80)) constant({channels}, DataType::Int32, bias_q, -9000, 9000);
  }

  // The result's shape is inferred; the module is complete and verified.
  Module finish(DataType output_type, Quantization q) {
    const TensorId output = add({"y", output_type, {}, std::move(q), {}});
    node_.outputs.push_back(output);
    const Result<std::vector<Shape>> shapes = infer_shapes(module_, function_, node_);
    INTARSIA_CHECK(shapes.ok(), shapes.ok() ? "" : shapes.error().to_string());
    function_.tensors[output.at()].shape = (*shapes)[0];
    function_.outputs.push_back(output);
    function_.nodes.push_back(std::move(node_));
    module_.functions.push_back(std::move(function_));
    const Result<void> verified = verify(module_);
    INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
    return std::move(module_);
  }
  Module finish() { return finish(type_, quantization(type_)); }

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

// One spatial axis: the kernel covers at least one element from every position.
struct WindowAxis {
  int64_t input, kernel, stride, dilation, before, after;
};

WindowAxis window_axis(Random& r, bool may_dilate) {
  WindowAxis a{};
  a.kernel = r.range(1, 4);
  a.dilation = may_dilate && r.chance(25) ? r.range(2, 3) : 1;
  a.stride = r.range(1, 3);
  const int64_t reach = (a.kernel - 1) * a.dilation + 1;
  if (r.chance(60)) {
    a.before = r.range(0, reach - 1);
    a.after = r.range(0, reach - 1);
  }
  const int64_t least = reach - a.before - a.after;
  // Often as narrow as the window allows.
  a.input = std::max<int64_t>(std::max<int64_t>(least, 1), r.chance(30) ? 1 : r.range(1, 9));
  return a;
}

Padding2d padding(const WindowAxis& y, const WindowAxis& x) {
  return {y.before, x.before, y.after, x.after};
}

Module conv2d(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, true),
                   x = r.chance(15) ? WindowAxis{1, 1, 1, 1, 0, 0} : window_axis(r, true);
  const int64_t groups = r.chance(20) ? r.range(2, 3) : 1, per_group = r.range(1, 4);
  const int64_t channels = groups * r.range(1, 4);
  b.input({r.range(1, 2), y.input, x.input, groups * per_group});
  b.weights({channels, y.kernel, x.kernel, per_group}, channels, 0, r.chance(70));
  b.node().attributes =
      Conv2dAttrs{y.stride, x.stride, y.dilation, x.dilation, padding(y, x), b.activation()};
  return b.finish();
}

Module depthwise_conv2d(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, true),
                   x = r.chance(15) ? WindowAxis{1, 1, 1, 1, 0, 0} : window_axis(r, true);
  const int64_t channels = r.range(1, 5), multiplier = r.range(1, 3);
  b.input({r.range(1, 2), y.input, x.input, channels});
  b.weights({1, y.kernel, x.kernel, channels * multiplier}, channels * multiplier, 3, r.chance(70));
  b.node().attributes = DepthwiseConv2dAttrs{y.stride,   x.stride,      y.dilation,    x.dilation,
                                             multiplier, padding(y, x), b.activation()};
  return b.finish();
}

Module fully_connected(Builder& b) {
  Random& r = b.random();
  const int64_t in = r.range(1, 20), out = r.range(1, 6);
  b.input({r.range(1, 3), in});
  b.weights({out, in}, out, 0, r.chance(30));
  b.node().attributes = FullyConnectedAttrs{false, b.activation()};
  return b.finish();
}

Module pool(Builder& b) {
  Random& r = b.random();
  const WindowAxis y = window_axis(r, false), x = window_axis(r, false);
  const TensorId input = b.input({r.range(1, 2), y.input, x.input, r.range(1, 5)});
  b.node().attributes =
      Pool2dAttrs{y.kernel, x.kernel, y.stride, x.stride, padding(y, x), b.activation()};
  return b.finish(b.type(), b.tensor(input).quantization);
}

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
    b.constant(second, b.type(), b.quantization(b.type()), -128, 127);
  } else {
    b.input(second);
  }
  b.node().attributes = BinaryAttrs{b.activation()};
  return b.finish();
}

Module reshape(Builder& b) {
  Random& r = b.random();
  const Shape shape{r.range(1, 3), r.range(1, 4), r.range(1, 5)};
  const TensorId input = b.input(shape);
  b.node().attributes = ReshapeAttrs{{shape[2], shape[0] * shape[1]}};
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module softmax(Builder& b) {
  Random& r = b.random();
  b.input({r.range(1, 4), r.range(1, 12)});
  b.node().attributes = SoftmaxAttrs{r.chance(50) ? 1.0f : r.real(0.3f, 3.0f)};
  if (!is_integer(b.type())) return b.finish();
  return b.finish(b.type(), {{1.0f / 256.0f}, {-128}, 0});
}

Module pad(Builder& b) {
  Random& r = b.random();
  Shape shape;
  PadAttrs attrs;
  const int64_t rank = r.range(1, 4);
  for (int64_t axis = 0; axis < rank; ++axis) {
    shape.push_back(r.range(1, 4));
    attrs.before.push_back(r.chance(50) ? r.range(0, 3) : 0);
    attrs.after.push_back(r.chance(50) ? r.range(0, 3) : 0);
  }
  const TensorId input = b.input(shape);
  b.node().attributes = attrs;
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module mean(Builder& b) {
  Random& r = b.random();
  Shape shape;
  ReduceAttrs attrs;
  const int64_t rank = r.range(1, 4);
  for (int64_t axis = 0; axis < rank; ++axis) {
    shape.push_back(r.range(1, 6));
    if (r.chance(50)) attrs.axes.push_back(axis);
  }
  if (attrs.axes.empty()) attrs.axes.push_back(rank - 1);
  attrs.keep_dims = r.chance(50);
  b.input(shape);
  b.node().attributes = attrs;
  return b.finish();
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

Module relu(Builder& b) {
  Random& r = b.random();
  const TensorId input = b.input({r.range(1, 3), r.range(1, 9)});
  b.node().attributes =
      ReluAttrs{r.pick<Activation>({Activation::Relu, Activation::Relu6, Activation::ReluN1To1})};
  if (r.chance(40)) return b.finish(b.type(), b.tensor(input).quantization);
  return b.finish();
}

}  // namespace

graph::Module random_operator(Random& random, OpKind kind, DataType type) {
  Builder b(random, kind, type);
  switch (kind) {
    case OpKind::Conv2d:
      return conv2d(b);
    case OpKind::DepthwiseConv2d:
      return depthwise_conv2d(b);
    case OpKind::FullyConnected:
      return fully_connected(b);
    case OpKind::AveragePool2d:
    case OpKind::MaxPool2d:
      return pool(b);
    case OpKind::Add:
    case OpKind::Mul:
      return binary(b);
    case OpKind::Reshape:
      return reshape(b);
    case OpKind::Softmax:
      return softmax(b);
    case OpKind::Pad:
      return pad(b);
    case OpKind::Mean:
      return mean(b);
    case OpKind::Quantize:
      return quantize(b);
    case OpKind::Dequantize:
      return dequantize(b);
    case OpKind::Relu:
      return relu(b);
    default:
      break;
  }
  INTARSIA_CHECK(false, "random_operator knows the kind");
}

std::vector<TensorValue> random_inputs(Random& random, const graph::Module& module) {
  Builder b(random, OpKind::Relu, DataType::Int8);
  std::vector<TensorValue> values;
  for (const TensorId id : module.entry_function().inputs) {
    const Tensor& tensor = module.entry_function().tensor(id);
    const int64_t half = int64_t{1} << (bits(tensor.type) - 1);
    const bool is_unsigned = !is_signed(tensor.type);
    // Some inputs are extreme, so that sums saturate.
    const bool extreme = random.chance(15);
    values.emplace_back();
    for (int64_t i = 0; i < element_count(tensor.shape); ++i) {
      const int64_t low = is_unsigned ? 0 : -half, high = is_unsigned ? 2 * half - 1 : half - 1;
      b.append_element(values.back(), tensor.type, extreme ? high - 2 : low, high);
    }
  }
  return values;
}

}  // namespace intarsia::testing
