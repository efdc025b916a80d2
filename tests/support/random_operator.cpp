#include "support/random_operator.h"

#include <algorithm>
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
  void output(Quantization q) { node_.outputs.push_back(add({"z", type_, {}, std::move(q), {}})); }

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
    const bool is_bool = b.type() == DataType::Bool;
    b.constant(second, b.type(), b.quantization(b.type()), is_bool ? 0 : -128, is_bool ? 1 : 127);
  } else {
    b.input(second);
  }
  if (default_attributes(b.node().kind).index() == Attributes(BinaryAttrs{}).index()) {
    const bool plain = b.type() == DataType::Int32;
    b.node().attributes = BinaryAttrs{plain ? Activation::None : b.activation()};
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

Module unary(Builder& b, OpKind kind) {
  Random& r = b.random();
  b.input({r.range(1, 3), r.range(1, 40)});
  b.node().attributes = default_attributes(kind);
  if (kind == OpKind::LeakyRelu) b.node().attributes = LeakyReluAttrs{r.real(-0.5f, 1.0f)};
  if (!is_integer(b.type())) return b.finish();
  if (kind == OpKind::Logistic || kind == OpKind::Tanh) {
    const bool wide = b.type() == DataType::Int16, is_tanh = kind == OpKind::Tanh;
    Tensor& input = b.tensor(b.node().inputs[0]);
    if (wide && r.chance(30)) input.quantization.scale[0] = std::ldexp(1.0f, -12 + is_tanh);
    const float scale = wide ? 1.0f / 32768 : is_tanh ? 1.0f / 128 : 1.0f / 256;
    return b.finish(b.type(), {{scale}, {wide || is_tanh ? 0 : -128}, 0});
  }
  return b.finish();
}

Module cast(Builder& b) {
  Random& r = b.random();
  const DataType to = r.pick<DataType>({DataType::Int8, DataType::Int16, DataType::Int32,
                                        DataType::Float32, DataType::Bool});
  b.input({r.range(1, 3), r.range(1, 9)});
  b.node().attributes = NoAttrs{};
  return b.finish(to, {});
}

Module transpose_conv2d(Builder& b) {
  Random& r = b.random();
  TransposeConv2dAttrs a;
  a.stride_h = r.range(1, 3), a.stride_w = r.range(1, 3);
  a.pad_top = r.range(0, 2), a.pad_left = r.range(0, 2);
  const Shape in{r.range(1, 2), r.range(1, 5), r.range(1, 5), r.range(1, 4)};
  const int64_t filters = r.range(1, 5), kh = r.range(1, 4), kw = r.range(1, 4);
  a.out_h = std::max<int64_t>(1, (in[1] - 1) * a.stride_h + kh - a.pad_top - r.range(-1, 2));
  a.out_w = std::max<int64_t>(1, (in[2] - 1) * a.stride_w + kw - a.pad_left - r.range(-1, 2));
  a.activation = b.activation();
  b.input(in);
  b.weights({filters, kh, kw, in[3]}, filters, 0, r.chance(70));
  b.node().attributes = a;
  return b.finish();
}

Module batch_matmul(Builder& b) {
  Random& r = b.random();
  const BatchMatmulAttrs a{r.chance(40), r.chance(40)};
  const int64_t rows = r.range(1, 4), depth = r.range(1, 9), columns = r.range(1, 4);
  const int64_t batch = r.range(1, 3);
  Shape x = a.transpose_a ? Shape{depth, rows} : Shape{rows, depth};
  Shape y = a.transpose_b ? Shape{columns, depth} : Shape{depth, columns};
  if (r.chance(60)) x.insert(x.begin(), r.chance(70) ? batch : 1);
  if (r.chance(60)) y.insert(y.begin(), batch);
  b.input(x), b.input(y);
  b.node().attributes = a;
  return b.finish();
}

Shape small_shape(Random& r, int64_t least_rank, int64_t most_rank) {
  Shape shape;
  const int64_t rank = r.range(least_rank, most_rank);
  for (int64_t axis = 0; axis < rank; ++axis) shape.push_back(r.range(1, 4));
  return shape;
}

Module moved(Builder& b, OpKind kind) {
  Random& r = b.random();
  const auto finish = [&] { return b.finish(b.type(), b.tensor(b.node().inputs[0]).quantization); };
  switch (kind) {
    case OpKind::Concat:
    case OpKind::Pack: {
      Shape shape = small_shape(r, 1, 4);
      const int64_t axis = r.range(0, static_cast<int64_t>(shape.size()) - 1);
      for (int64_t i = r.range(1, 5); i > 0; --i) {
        b.input(shape);
        if (kind == OpKind::Concat) shape[static_cast<size_t>(axis)] = r.range(1, 4);
      }
      b.node().attributes = AxisAttrs{axis};
      return finish();
    }
    case OpKind::Split: {
      Shape shape = small_shape(r, 1, 4);
      SplitAttrs a{r.range(0, static_cast<int64_t>(shape.size()) - 1), {}};
      shape[static_cast<size_t>(a.axis)] = 0;
      for (int64_t i = r.range(1, 3); i > 0; --i) {
        a.sizes.push_back(r.range(1, 3));
        shape[static_cast<size_t>(a.axis)] += a.sizes.back();
      }
      const TensorId input = b.input(shape);
      for (size_t i = 1; i < a.sizes.size(); ++i) b.output(b.tensor(input).quantization);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::Unpack: {
      const Shape shape = small_shape(r, 1, 4);
      const int64_t axis = r.range(0, static_cast<int64_t>(shape.size()) - 1);
      const TensorId input = b.input(shape);
      for (int64_t i = 1; i < shape[static_cast<size_t>(axis)]; ++i)
        b.output(b.tensor(input).quantization);
      b.node().attributes = AxisAttrs{axis};
      return finish();
    }
    case OpKind::Slice: {
      SliceAttrs a;
      Shape shape;
      for (int64_t axis = 0, rank = r.range(1, 4); axis < rank; ++axis) {
        const int64_t extent = r.range(1, 7), size = r.range(1, extent);
        const int64_t most = size == 1 ? 3 : (extent - 1) / (size - 1);
        const int64_t stride = r.range(1, std::max<int64_t>(1, most));
        const int64_t slack = extent - 1 - (size - 1) * stride, first = r.range(0, slack);
        const bool backwards = r.chance(30);
        shape.push_back(extent), a.size.push_back(size);
        a.begin.push_back(backwards ? first + (size - 1) * stride : first);
        a.stride.push_back(backwards ? -stride : stride);
        if (size == 1 && r.chance(30)) a.drop.push_back(axis);
      }
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::Transpose: {
      const Shape shape = small_shape(r, 1, 5);
      TransposeAttrs a;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        a.permutation.insert(a.permutation.begin() + r.range(0, static_cast<int64_t>(axis)),
                             static_cast<int64_t>(axis));
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace: {
      const int64_t block = r.range(1, 3), squared = block * block;
      if (kind == OpKind::SpaceToDepth)
        b.input({r.range(1, 2), block * r.range(1, 3), block * r.range(1, 3), r.range(1, 3)});
      else
        b.input({r.range(1, 2), r.range(1, 3), r.range(1, 3), squared * r.range(1, 3)});
      b.node().attributes = BlockAttrs{block};
      return finish();
    }
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace: {
      BatchSpaceAttrs a;
      Shape shape{1};
      const bool to_batch = kind == OpKind::SpaceToBatch;
      for (int64_t axis = 0; axis < 2; ++axis) {
        const int64_t block = r.range(1, 3), blocks = r.range(1, 3);
        a.block.push_back(block);
        a.before.push_back(r.range(0, block - 1));
        a.after.push_back(to_batch ? r.range(0, 2) : 0);
        if (to_batch) {
          const int64_t padded = a.before.back() + a.after.back();
          int64_t extent = r.range(1, 6);
          while ((extent + padded) % block != 0) ++extent;
          shape.push_back(extent);
        } else {
          shape[0] *= block;
          shape.push_back(blocks);
        }
      }
      if (to_batch) shape[0] = r.range(1, 2);
      shape.push_back(r.range(1, 3));
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    case OpKind::MirrorPad: {
      MirrorPadAttrs a;
      a.symmetric = r.chance(50);
      const Shape shape = small_shape(r, 1, 4);
      for (const int64_t extent : shape) {
        const int64_t most = extent - (a.symmetric ? 0 : 1);
        a.before.push_back(r.range(0, most)), a.after.push_back(r.range(0, most));
      }
      b.input(shape);
      b.node().attributes = a;
      return finish();
    }
    default: {  // pad_v2
      PadAttrs a;
      const Shape shape = small_shape(r, 1, 4);
      for (size_t axis = 0; axis < shape.size(); ++axis)
        a.before.push_back(r.range(0, 2)), a.after.push_back(r.range(0, 2));
      const TensorId input = b.input(shape);
      b.constant({}, b.type(), b.tensor(input).quantization, -100, 100);
      b.node().attributes = a;
      return finish();
    }
  }
}

Module gather(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  GatherAttrs a;
  a.axis = r.range(0, static_cast<int64_t>(shape.size()) - 1);
  const TensorId input = b.input(shape);
  b.constant({r.range(1, 5)}, DataType::Int32, {}, 0, shape[static_cast<size_t>(a.axis)] - 1);
  b.node().attributes = a;
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module resize(Builder& b) {
  Random& r = b.random();
  ResizeAttrs a{r.range(1, 9), r.range(1, 9), false, false};
  a.align_corners = r.chance(30);
  a.half_pixel_centers = !a.align_corners && r.chance(50);
  const TensorId input = b.input({r.range(1, 2), r.range(1, 6), r.range(1, 6), r.range(1, 3)});
  b.node().attributes = a;
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module arg(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  b.input(shape);
  b.node().attributes = AxisAttrs{r.range(0, static_cast<int64_t>(shape.size()) - 1)};
  return b.finish(DataType::Int32, {});
}

Module row_normalization(Builder& b) {
  Random& r = b.random();
  b.input({r.range(1, 3), r.range(1, 12)});
  b.node().attributes = NoAttrs{};
  if (!is_integer(b.type())) return b.finish();
  return b.finish(b.type(), {{1.0f / 128}, {0}, 0});
}

Quantization one_scale(float scale, int64_t zero_point = 0) { return {{scale}, {zero_point}, 0}; }

Module svdf(Builder& b) {
  Random& r = b.random();
  const bool integer = is_integer(b.type());
  const int64_t batches = r.range(1, 2), inputs = r.range(1, 8), rank = r.range(1, 2);
  const int64_t units = r.range(1, 4), filters = rank * units, memory = r.range(1, 5);
  const DataType state = !integer ? b.type() : r.pick<DataType>({DataType::Int8, DataType::Int16});
  b.input({batches, inputs});
  const auto scale = [&] { return integer ? one_scale(r.real(0.002f, 0.02f)) : Quantization{}; };
  b.constant({filters, inputs}, b.type(), scale(), -127, 127);
  b.constant({filters, memory}, state, scale(), -127, 127);
  b.constant({units}, integer ? DataType::Int32 : b.type(), scale(), -900, 900);
  b.state({batches, filters * memory}, state, scale());
  b.node().attributes = SvdfAttrs{rank, integer ? Activation::None : b.activation()};
  return b.finish();
}

Module lstm(Builder& b) {
  Random& r = b.random();
  const bool integer = is_integer(b.type()), wide = b.type() == DataType::Int16;
  LstmAttrs a{r.chance(50), r.chance(30) ? r.real(0.5f, 2.0f) : 0.0f};
  const int64_t batches = r.range(1, 2), steps = r.range(1, 3), inputs = r.range(1, 6);
  const int64_t units = r.range(1, 5);
  b.input(a.time_major ? Shape{steps, batches, inputs} : Shape{batches, steps, inputs});
  const auto scale = [&] { return integer ? one_scale(r.real(0.002f, 0.02f)) : Quantization{}; };
  const DataType weights = integer ? DataType::Int8 : b.type();
  const DataType bias = !integer ? b.type() : wide ? DataType::Int64 : DataType::Int32;
  for (int i = 0; i < 4; ++i) b.constant({units, inputs}, weights, scale(), -127, 127);
  for (int i = 0; i < 4; ++i) b.constant({units, units}, weights, scale(), -127, 127);
  for (int i = 0; i < 4; ++i) b.constant({units}, bias, scale(), -900, 900);
  const Quantization hidden =
      integer ? one_scale(wide ? 1.0f / 32768 : 1.0f / 128, wide ? 0 : r.range(-9, 9)) : Quantization{};
  b.state({batches, units}, b.type(), hidden);
  b.state({batches, units}, integer ? DataType::Int16 : b.type(),
          integer ? one_scale(std::ldexp(1.0f, static_cast<int>(r.range(-13, -10)))) : Quantization{});
  b.node().attributes = a;
  return b.finish(b.type(), hidden);
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
  const bool widens = b.type() == DataType::Int16 && r.chance(40);
  b.input({r.range(1, 4), r.range(1, 12)}, widens ? DataType::Int8 : b.type());
  b.node().attributes = SoftmaxAttrs{r.chance(50) ? 1.0f : r.real(0.3f, 3.0f)};
  if (!is_integer(b.type())) return b.finish();
  if (widens) return b.finish(b.type(), {{1.0f / 65536.0f}, {-32768}, 0});
  if (b.type() == DataType::Int16) return b.finish(b.type(), {{1.0f / 32768.0f}, {0}, 0});
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
  const TensorId input = b.input(shape);
  b.node().attributes = attrs;
  const OpKind kind = b.node().kind;
  const bool sums = kind == OpKind::Mean || kind == OpKind::Sum;
  return !sums ? b.finish(b.type(), b.tensor(input).quantization) : b.finish();
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

Module cumsum(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  b.input(shape);
  b.node().attributes =
      CumsumAttrs{r.range(0, static_cast<int64_t>(shape.size()) - 1), r.chance(50), r.chance(50)};
  return b.finish();
}

Module repeated(Builder& b, OpKind kind) {
  Random& r = b.random();
  Shape shape = small_shape(r, 1, 3), larger = shape;
  TileAttrs tile;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    tile.multiples.push_back(r.range(1, 3));
    if (r.chance(50)) shape[axis] = 1;
  }
  if (r.chance(50)) larger.insert(larger.begin(), r.range(1, 3));
  const TensorId input = b.input(shape);
  if (kind == OpKind::Tile) {
    b.node().attributes = tile;
  } else {
    b.node().attributes = ShapeAttrs{larger};
  }
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module gather_nd(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 4);
  const int64_t depth = r.range(1, static_cast<int64_t>(shape.size()));
  const TensorId input = b.input(shape);
  const int64_t least = *std::min_element(shape.begin(), shape.begin() + depth);
  b.constant({r.range(1, 4), depth}, DataType::Int32, {}, 0, least - 1);
  b.node().attributes = NoAttrs{};
  return b.finish(b.type(), b.tensor(input).quantization);
}

Module dynamic_update_slice(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  Shape update;
  for (const int64_t extent : shape) update.push_back(r.range(1, extent));
  const TensorId input = b.input(shape);
  b.input(update);
  const Shape starts{static_cast<int64_t>(shape.size())};
  if (r.chance(50)) {
    b.constant(starts, DataType::Int32, {}, -3, 6);
  } else {
    b.tensor(b.input(starts, DataType::Int32)).quantization = {};
  }
  b.node().attributes = NoAttrs{};
  return b.finish(b.type(), b.tensor(input).quantization);
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
    case OpKind::L2Pool2d:
      return pool(b);
    case OpKind::AddN:
      return sum_of_many(b);
    case OpKind::Cumsum:
      return cumsum(b);
    case OpKind::BroadcastTo:
    case OpKind::Tile:
      return repeated(b, kind);
    case OpKind::GatherNd:
      return gather_nd(b);
    case OpKind::DynamicUpdateSlice:
      return dynamic_update_slice(b);
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Minimum:
    case OpKind::Maximum:
    case OpKind::SquaredDifference:
    case OpKind::LogicalAnd:
    case OpKind::LogicalOr:
    case OpKind::Pow:
    case OpKind::FloorDiv:
    case OpKind::FloorMod:
      return binary(b);
    case OpKind::Equal:
    case OpKind::NotEqual:
    case OpKind::Greater:
    case OpKind::GreaterEqual:
    case OpKind::Less:
    case OpKind::LessEqual:
      return comparison(b);
    case OpKind::Select:
      return select(b);
    case OpKind::Prelu:
      return prelu(b);
    case OpKind::Cast:
      return cast(b);
    case OpKind::TransposeConv2d:
      return transpose_conv2d(b);
    case OpKind::BatchMatmul:
      return batch_matmul(b);
    case OpKind::Gather:
      return gather(b);
    case OpKind::ResizeNearest:
    case OpKind::ResizeBilinear:
      return resize(b);
    case OpKind::ArgMax:
    case OpKind::ArgMin:
      return arg(b);
    case OpKind::LogSoftmax:
    case OpKind::L2Normalization:
      return row_normalization(b);
    case OpKind::Svdf:
      return svdf(b);
    case OpKind::Lstm:
      return lstm(b);
    case OpKind::Concat:
    case OpKind::Pack:
    case OpKind::Split:
    case OpKind::Unpack:
    case OpKind::Slice:
    case OpKind::Transpose:
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace:
    case OpKind::SpaceToBatch:
    case OpKind::BatchToSpace:
    case OpKind::MirrorPad:
    case OpKind::PadV2:
      return moved(b, kind);
    case OpKind::LeakyRelu:
    case OpKind::Logistic:
    case OpKind::Tanh:
    case OpKind::HardSwish:
    case OpKind::Elu:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Abs:
    case OpKind::Neg:
    case OpKind::Square:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
    case OpKind::Ceil:
    case OpKind::Floor:
    case OpKind::Round:
    case OpKind::LogicalNot:
    case OpKind::Sin:
    case OpKind::Cos:
      return unary(b, kind);
    case OpKind::Reshape:
      return reshape(b);
    case OpKind::Softmax:
      return softmax(b);
    case OpKind::Pad:
      return pad(b);
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceProd:
    case OpKind::ReduceAny:
    case OpKind::ReduceAll:
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
    const int64_t half =
        tensor.type == DataType::Bool ? 1 : int64_t{1} << (bits(tensor.type) - 1);
    const bool is_unsigned = !is_signed(tensor.type);
    // Some inputs are extreme, so that sums saturate.
    const bool extreme = random.chance(15);
    values.emplace_back();
    for (int64_t i = 0; i < element_count(tensor.shape); ++i) {
      const int64_t low = is_unsigned ? 0 : -half, high = is_unsigned ? 2 * half - 1 : half - 1;
      b.append_element(values.back(), tensor.type, extreme ? std::max(low, high - 2) : low, high);
    }
  }
  return values;
}

}  // namespace intarsia::testing
