// Matrix products, and products of integers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/weighted.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// input[..,K] times weights[N,K], one row of weights per output channel.
TensorId fully_connected(Reader& in, TensorId input, TensorId weights, TensorId bias,
                         graph::Activation activation, DataType type,
                         const graph::Quantization& q) {
  const graph::FullyConnectedAttrs attrs{in.shape(input).size() > 2, activation};
  return in.emit(OpKind::FullyConnected, attrs, {input, weights, bias}, type, q);
}

// The scales of known weights times `factor`; plain floats are multiplied.
TensorId scaled(Reader& in, TensorId weights, float factor) {
  if (factor == 1) return weights;
  graph::Quantization q = in.tensor(weights).quantization;
  if (!q.present())
    return in.emit(OpKind::Mul, BinaryAttrs{}, {weights, in.number(factor)}, kFloat, {}, "alpha");
  for (float& scale : q.scale) scale *= factor;
  return in.make_constant(in.values_of(weights), q);
}

// Bytes [..,K] times known bytes [N,K] as floats, where nothing quantises the result: several rows are the pixels of an image, which has one
// scale.
TensorId bytes_connected(Reader& in, TensorId bias, graph::Activation activation, bool turned,
                         float factor) {
  const Shape left = in.shape_of(0), right = in.shape_of(1);
  if (left.empty() || right.size() != 2 || (bias.valid() && !in.is_constant(bias)) || factor <= 0)
    return {};
  const int64_t depth = right[turned ? 1 : 0], columns = right[turned ? 0 : 1];
  if (left.back() != depth || depth == 0) return {};
  const auto bytes = bytes_for_floats(in, 1, depth);
  if (!bytes) return {};
  const int64_t rows = element_count(left) / depth;
  const TensorId w =
      scaled(in, turned ? bytes->weights : in.transpose(bytes->weights, {1, 0}), factor);
  const std::vector<TensorId> rest = {bias, bytes->scales, bytes->zero_points};
  TensorId y;
  if (rows == 1) {
    y = in.emit(OpKind::HybridFullyConnected, graph::FullyConnectedAttrs{false, activation},
                {in.reshape(bytes->values, {1, depth}), w, rest[0], rest[1], rest[2]}, kFloat);
  } else {
    y = in.emit(OpKind::HybridConv2d, graph::Conv2dAttrs{.activation = activation},
                {in.reshape(bytes->values, {1, 1, rows, depth}),
                 in.reshape(w, {columns, 1, 1, depth}), rest[0], rest[1], rest[2]},
                kFloat);
  }
  Shape shape = left;
  shape.back() = columns;
  return y.valid() ? in.reshape(y, shape) : y;
}

}  // namespace

void read_gemm(Reader& in) {
  const bool a_turned = in.integer("transA", 0) != 0, b_turned = in.integer("transB", 0) != 0;
  const float alpha = in.real("alpha", 1), beta = in.real("beta", 1);
  if (!in.require(in.shape_of(0).size() == 2 && in.shape_of(1).size() == 2,
                  fmt::format("multiplies [{}] by [{}]; both have to be matrices",
                              fmt::join(in.shape_of(0), ","), fmt::join(in.shape_of(1), ","))))
    return;
  const int64_t columns = in.shape_of(1)[b_turned ? 0 : 1];
  const Tail tail = in.tail(true);
  const auto rows = [&](TensorId b) { return b_turned ? b : in.transpose(b, {1, 0}); };
  const auto upright = [&](TensorId a) { return a_turned ? in.transpose(a, {1, 0}) : a; };
  if (in_integers(in, 0, 1) && tail.as && alpha > 0) {
    const TensorId made = in.attempt([&]() -> TensorId {
      TensorId w = symmetric_weights(in, in.value(1).tensor);
      if (!w.valid()) return {};
      w = scaled(in, rows(w), alpha);
      const TensorId x = upright(in.value(0).tensor);
      const TensorId bias = in.has(2) ? integer_bias(in, 2, x, w, columns, beta) : TensorId{};
      if (in.has(2) && !bias.valid()) return {};
      return fully_connected(in, x, w, bias, tail.activation, tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.finish(tail, {made, Form::Real, {}});
  }
  TensorId bias;
  bool is_row = false;
  if (in.has(2)) {
    bias = scaled(in, real_bias(in, 2, in.value(0).tensor, in.value(1).tensor), beta);
    const Shape shape = in.shape(bias);
    is_row = in.is_constant(bias) && element_count(shape) == columns &&
             (shape.empty() || shape.back() == columns);
    if (is_row) bias = in.reshape(bias, {columns});
  }
  const bool fused = !bias.valid() || is_row;
  const graph::Activation activation = fused ? tail.activation : graph::Activation::None;
  TensorId y;
  if (!a_turned && fused)
    y = in.attempt([&] { return bytes_connected(in, bias, activation, b_turned, alpha); });
  if (y.valid()) return in.finish(tail, {y, Form::Plain, {}});
  const TensorId a = upright(in.operand(0)), b = in.operand(1);
  if (in.is_constant(b)) {
    y = fully_connected(in, a, scaled(in, rows(b), alpha), is_row ? bias : TensorId{}, activation,
                        kFloat, {});
  } else {
    y = in.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{false, b_turned},
                {scaled(in, a, alpha), b}, kFloat);
    if (is_row) y = in.emit(OpKind::Add, BinaryAttrs{activation}, {y, bias}, kFloat, {}, "bias");
    if (!bias.valid() && activation != graph::Activation::None)
      y = in.emit(OpKind::Relu, graph::ReluAttrs{activation}, {y}, kFloat, {}, "activation");
  }
  if (!fused) y = in.emit(OpKind::Add, BinaryAttrs{tail.activation}, {y, bias}, kFloat, {}, "bias");
  in.finish(tail, {y, Form::Plain, {}});
}

TensorId matrix_product(Reader& in, TensorId a, TensorId b, DataType type,
                        const graph::Quantization& q) {
  const bool row = in.shape(a).size() == 1, column = in.shape(b).size() == 1;
  if (row) a = in.reshape(a, {1, in.shape(a)[0]});
  if (column) b = in.reshape(b, {in.shape(b)[0], 1});
  if (in.shape(a).size() < 2 || in.shape(b).size() < 2) {
    in.problem("multiplies a scalar");
    return {};
  }
  TensorId y;
  if (in.is_constant(b) && in.shape(b).size() == 2) {
    if (!in.require(in.shape(a).back() == in.shape(b)[0],
                    fmt::format("multiplies [{}] by [{}]", fmt::join(in.shape(a), ","),
                                fmt::join(in.shape(b), ","))))
      return {};
    y = fully_connected(in, a, in.transpose(b, {1, 0}), {}, graph::Activation::None, type, q);
  } else {
    y = in.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{}, {a, b}, type, q);
  }
  if (!y.valid()) return {};
  Shape shape = in.shape(y);
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return in.reshape(y, shape);
}

// With known weights on a scale for each of the matrices along an axis, as a quantiser writes them of an attention's positions: matrix by
// matrix.
static TensorId product_by_heads(Reader& in, TensorId a, TensorId b, const QuantizedAs& as) {
  constexpr int64_t kMostHeads = 32;
  const graph::Tensor weights = in.tensor(b);
  const Shape left = in.shape(a), right = weights.shape;
  const auto axis = static_cast<size_t>(weights.quantization.axis);
  if (left.size() != right.size() || left[axis] != right[axis] || right[axis] > kMostHeads)
    return {};
  const std::vector<int64_t> numbers = as_integers(in.values_of(b));
  const auto inner = static_cast<size_t>(
      element_count(Shape(right.begin() + static_cast<ptrdiff_t>(axis) + 1, right.end())));
  const auto heads = static_cast<size_t>(right[axis]);
  std::vector<TensorId> products;
  for (size_t head = 0; head < heads; ++head) {
    std::vector<int64_t> own;
    for (size_t i = 0; i < numbers.size(); ++i)
      if (i / inner % heads == head) own.push_back(numbers[i]);
    Shape shape = right;
    shape[axis] = 1;
    // One matrix is the weights of a layer.
    const Shape matrix(right.end() - 2, right.end());
    if (element_count(matrix) == std::ssize(own)) shape = matrix;
    const TensorId known = in.make_constant(integer_values(weights.type, shape, own),
                                            {{weights.quantization.scale[head]}, {0}, 0});
    graph::SliceAttrs part{Shape(left.size(), 0), left, Shape(left.size(), 1), {}};
    part.begin[axis] = static_cast<int64_t>(head), part.size[axis] = 1;
    const TensorId rows = in.emit_alike(OpKind::Slice, part, {a}, "head");
    if (!rows.valid()) return {};
    products.push_back(matrix_product(in, rows, known, as.type, as.quantization));
    if (!products.back().valid()) return {};
  }
  return in.emit_alike(OpKind::Concat, graph::AxisAttrs{static_cast<int64_t>(axis)}, products,
                       "heads");
}

void read_matmul(Reader& in) {
  const Tail tail = in.tail(false);
  if (in.is_real(0) && in.is_real(1) && tail.as) {
    const TensorId made = in.attempt([&]() -> TensorId {
      TensorId b = in.value(1).tensor;
      if (in.is_constant(b)) b = symmetric_weights(in, b);
      if (!b.valid()) return {};
      const graph::Quantization& q = in.tensor(b).quantization;
      if (q.per_channel() && q.axis + 2 < std::ssize(in.shape(b)))
        return product_by_heads(in, in.value(0).tensor, b, *tail.as);
      return matrix_product(in, in.value(0).tensor, b, tail.as->type, tail.as->quantization);
    });
    if (made.valid()) return in.result(0, {made, Form::Real, {}});
  }
  const TensorId made =
      in.attempt([&] { return bytes_connected(in, {}, graph::Activation::None, false, 1); });
  in.result(made.valid() ? made : matrix_product(in, in.operand(0), in.operand(1), kFloat, {}));
}

namespace {

// Floats hold all whole numbers up to 2^24.
constexpr double kHeld = 1 << 24;
// What a byte less its zero point reaches, where it is not known.
constexpr double kByte = 255;

TensorId less_zero(Reader& in, size_t operand, bool per_row) {
  TensorId x = in.cast(in.operand(operand), kFloat);
  if (!in.has(operand + 2)) return x;
  TensorId zero = in.cast(in.operand(operand + 2), kFloat);
  const Shape shape = in.shape(zero);
  if (shape.size() == 1 && shape[0] > 1 && per_row) {
    Shape column(in.shape(x).size(), 1);
    if (!in.require(column.size() >= 2, fmt::format("has {} zero points for a vector", shape[0])))
      return {};
    const size_t at = operand == 0 ? column.size() - 2 : 0;
    column[in.is("MatMulInteger") && operand == 1 ? column.size() - 1 : at] = shape[0];
    zero = in.reshape(zero, column);
  }
  return in.emit(OpKind::Sub, BinaryAttrs{}, {x, zero}, kFloat, {}, "zero");
}

// Where the axis along which products are summed is cut, so that floats hold the sums of every piece exactly whatever the
// other operand is: the ends of the pieces. Nothing where one place of the axis alone sums more.
std::optional<std::vector<int64_t>> exact_pieces(Reader& in, TensorId factors, size_t axis,
                                                 double largest) {
  const Shape shape = in.shape(factors);
  const int64_t extent = shape[axis];
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  // One sum for each output: along the axis, and along what lies within it in a filter.
  const int64_t outer = element_count(shape) / std::max<int64_t>(1, extent * inner);
  const bool is_filter = !in.is("MatMulInteger");
  const int64_t sums = is_filter ? outer : outer * inner;
  const std::vector<float> known =
      in.is_constant(factors) ? as_reals(in.values_of(factors)) : std::vector<float>{};
  std::vector<double> sum(static_cast<size_t>(sums), 0), added(sum.size());
  std::vector<int64_t> ends;
  for (int64_t k = 0; k < extent; ++k) {
    std::ranges::fill(added, !known.empty() ? 0 : kByte * largest * (is_filter ? inner : 1));
    if (!known.empty()) {
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; ++i)
          added[static_cast<size_t>(is_filter ? o : o * inner + i)] +=
              std::abs(known[static_cast<size_t>((o * extent + k) * inner + i)]) * largest;
      }
    }
    if (std::ranges::any_of(added, [](double one) { return one > kHeld; })) return std::nullopt;
    bool fits = true;
    for (size_t i = 0; i < sum.size(); ++i) fits = fits && sum[i] + added[i] <= kHeld;
    if (!fits) {
      ends.push_back(k);
      std::ranges::fill(sum, 0);
    }
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
  }
  ends.push_back(extent);
  return ends;
}

TensorId piece(Reader& in, TensorId id, size_t axis, int64_t from, int64_t to) {
  const Shape shape = in.shape(id);
  graph::SliceAttrs cut{Shape(shape.size(), 0), shape, Shape(shape.size(), 1), {}};
  cut.begin[axis] = from;
  cut.size[axis] = to - from;
  return in.emit_alike(OpKind::Slice, cut, {id}, "piece");
}

// Known weights as int8 on a scale of 1. Less their zero points where bytes hold that; else there is what each channel's weights are too small
// by, all alike.
struct KnownBytes {
  TensorId weights;
  std::vector<float> missing;
};

// `channel` is the axis of their zero points. Nothing where int32 does not hold every sum, or floats do not and somebody sees it.
std::optional<KnownBytes> known_bytes(Reader& in, size_t channel) {
  const TensorId given = in.operand(1);
  if (!in.is_constant(given) || (in.has(3) && !in.is_constant(in.operand(3)))) return std::nullopt;
  const Shape shape = in.shape(given);
  std::vector<int64_t> numbers = as_integers(in.values_of(given));
  const auto channels = static_cast<size_t>(shape[channel]);
  std::vector<int64_t> zeros(channels, 0);
  if (in.has(3)) {
    const std::vector<int64_t> stated = as_integers(in.values_of(in.operand(3)));
    if (stated.size() != 1 && stated.size() != channels) return std::nullopt;
    for (size_t c = 0; c < channels; ++c) zeros[c] = stated[stated.size() == 1 ? 0 : c];
  }
  size_t inner = 1;
  for (size_t i = channel + 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  const auto channel_of = [&](size_t i) { return i / inner % channels; };
  bool fits = true;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t number = numbers[i] - zeros[channel_of(i)];
    fits = fits && number >= -128 && number <= 127;
  }
  // What is taken off in place of the zero points, so that bytes hold all that weights can be.
  const int64_t middle = in.tensor(given).type == DataType::UInt8 ? 128 : 0;
  KnownBytes known;
  std::vector<double> sums(channels, 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t c = channel_of(i);
    const int64_t whole = numbers[i] - zeros[c];
    numbers[i] = fits ? whole : numbers[i] - middle;
    sums[c] += kByte * static_cast<double>(std::abs(whole) + (fits ? 0 : 2 * 128));
  }
  if (!fits)
    for (const int64_t zero : zeros) known.missing.push_back(static_cast<float>(middle - zero));
  const double most = sums.empty() ? 0 : *std::ranges::max_element(sums);
  if (most > 2147483647.0 || (most > kHeld && !in.is_read_as_floats())) return std::nullopt;
  known.weights =
      in.make_constant(integer_values(DataType::Int8, shape, numbers), {{1.0f}, {0}, 0});
  return known;
}

// The zero points that DynamicQuantizeLinear gives for so many rows, 128 less than ONNX's; no tensor: others are needed.
TensorId zero_points_of_rows(Reader& in, int64_t rows) {
  const Node* maker = in.operator_of(in.node().inputs[2]);
  if (maker == nullptr || maker->type != "DynamicQuantizeLinear") return {};
  const graph::Node* steps = in.maker_of(in.tensor_of(maker->outputs[0]));
  if (steps == nullptr || steps->kind != OpKind::QuantizeRows) return {};
  return in.shape(steps->outputs[2]) == Shape{rows} ? steps->outputs[2] : TensorId{};
}

// Operand 0 as int8, with a scale of 1 and its zero point for each of `rows`; nothing where it has a zero point of each of its own rows.
struct RunningBytes {
  TensorId values, scales, zero_points;
};
std::optional<RunningBytes> running_bytes(Reader& in, int64_t rows) {
  const Value given = in.value(0);
  const DataType type = in.tensor(given.tensor).type;
  const bool is_shifted = given.form == Form::Shifted;
  if (given.form == Form::Real ||
      (!is_shifted && type != DataType::Int8 && type != DataType::UInt8))
    return std::nullopt;
  if (in.has(2) && element_count(in.shape_of(2)) != 1) return std::nullopt;
  const bool is_unsigned = is_shifted || type == DataType::UInt8;
  TensorId x = given.tensor;
  if (type == DataType::UInt8)
    x = in.emit(OpKind::Quantize, graph::NoAttrs{}, {in.cast(x, kFloat)}, DataType::Int8,
                {{1.0f}, {-128}, 0}, "shifted");
  const std::vector<int64_t> offsets(static_cast<size_t>(rows), is_unsigned ? -128 : 0);
  TensorId zero = is_unsigned && in.has(2) ? zero_points_of_rows(in, rows) : TensorId{};
  const bool are_known = zero.valid();
  if (!are_known) zero = in.make_constant(integer_values(DataType::Int32, {rows}, offsets));
  if (in.has(2) && !are_known)
    zero = in.emit(OpKind::Add, BinaryAttrs{},
                   {in.reshape(in.cast(in.operand(2), DataType::Int32), {1}), zero},
                   DataType::Int32, {}, "zero");
  const TensorId ones =
      in.make_constant(real_values({rows}, std::vector<float>(static_cast<size_t>(rows), 1.0f)));
  if (!x.valid() || !zero.valid()) return std::nullopt;
  return RunningBytes{x, ones, zero};
}

// What weights that are too small leave out: the sum of the running bytes that each channel sees, times what is missing.
template <typename Multiply>
TensorId missing_sum(Reader& in, const KnownBytes& known, size_t channel, size_t result_axis,
                     const RunningBytes& x, Multiply&& multiply) {
  const auto channels = static_cast<int64_t>(known.missing.size());
  const int64_t groups = in.integer("group", 1);
  if (groups < 1 || channels % groups != 0) return {};
  Shape one = in.shape(known.weights);
  one[channel] = groups;
  const std::vector<int64_t> ones(static_cast<size_t>(element_count(one)), 1);
  TensorId sum =
      multiply(x, in.make_constant(integer_values(DataType::Int8, one, ones), {{1.0f}, {0}, 0}));
  if (!sum.valid()) return {};
  // One sum for all channels of a group.
  Shape whole = in.shape(sum), apart = whole;
  whole[result_axis] = channels;
  const auto at = static_cast<ptrdiff_t>(result_axis);
  apart.insert(apart.begin() + at + 1, 1);
  Shape along(apart.size(), 1);
  along[result_axis] = groups, along[result_axis + 1] = channels / groups;
  sum = in.emit(OpKind::Mul, BinaryAttrs{},
                {in.reshape(sum, apart), in.make_constant(real_values(along, known.missing))},
                kFloat, {}, "missing");
  return sum.valid() ? in.reshape(sum, whole) : sum;
}

// `multiply` of bytes that the running model has and known ones, which stay bytes; the sums as int32. False where that is not to be had.
// Channels are `channel` of the weights and `result_axis` of the result.
template <typename Multiply>
bool sum_bytes(Reader& in, size_t channel, size_t result_axis, int64_t rows, Multiply&& multiply) {
  if (in.options().widen_weights) return false;
  const TensorId made = in.attempt([&]() -> TensorId {
    const auto known = known_bytes(in, channel);
    if (!known) return {};
    const auto x = running_bytes(in, rows);
    TensorId sum = x ? multiply(*x, known->weights) : TensorId{};
    if (sum.valid() && !known->missing.empty()) {
      const TensorId rest = missing_sum(in, *known, channel, result_axis, *x, multiply);
      sum = rest.valid() ? in.emit(OpKind::Add, BinaryAttrs{}, {sum, rest}, kFloat, {}, "sum")
                         : TensorId{};
    }
    return sum.valid() ? in.cast(sum, DataType::Int32) : TensorId{};
  });
  if (made.valid()) in.result(made);
  return made.valid();
}

// `multiply` of the operands' pieces, their sums as int32.
template <typename Multiply>
void sum_exactly(Reader& in, TensorId x, TensorId factors, size_t x_axis, size_t axis,
                 Multiply&& multiply) {
  double largest = kByte;
  if (in.is_constant(x)) {
    largest = 1;
    for (const float value : as_reals(in.values_of(x)))
      largest = std::max<double>(largest, std::abs(value));
  }
  const auto ends = exact_pieces(in, factors, axis, largest);
  if (!in.require(ends && (ends->size() == 1 || in.shape(x)[x_axis] == in.shape(factors)[axis]),
                  "sums more products in int32 than floats hold exactly",
                  "quantise the model statically (QDQ), so that scales are known"))
    return;
  TensorId sum;
  int64_t from = 0;
  const bool whole = ends->size() == 1;  // also where a filter sees a group of the channels only
  for (const int64_t to : *ends) {
    const TensorId part = in.cast(
        whole ? multiply(x, factors)
              : multiply(piece(in, x, x_axis, from, to), piece(in, factors, axis, from, to)),
        DataType::Int32);
    if (!part.valid()) return;
    sum = sum.valid() ? in.emit(OpKind::Add, BinaryAttrs{}, {sum, part}, DataType::Int32, {}, "sum")
                      : part;
    from = to;
  }
  in.result(sum);
}

}  // namespace

void read_matmul_integer(Reader& in) {
  const size_t rank = in.shape_of(1).size();
  if (in.shape_of(0).empty() || rank == 0) return in.problem("multiplies a scalar");
  const Shape left = in.shape_of(0), right = in.shape_of(1);
  if (rank == 2 && left.size() >= 2 && left.back() == right[0] && right[0] > 0 &&
      sum_bytes(in, 1, left.size() - 1, element_count(left) / right[0],
                [&](const RunningBytes& x, TensorId w) {
                  return in.emit(
                      OpKind::HybridFullyConnected, graph::FullyConnectedAttrs{left.size() > 2},
                      {x.values, in.transpose(w, {1, 0}), TensorId{}, x.scales, x.zero_points},
                      kFloat);
                }))
    return;
  const TensorId a = less_zero(in, 0, true), b = less_zero(in, 1, true);
  if (!a.valid() || !b.valid()) return;
  sum_exactly(in, a, b, in.shape(a).size() - 1, rank < 2 ? 0 : rank - 2,
              [&](TensorId x, TensorId y) { return matrix_product(in, x, y, kFloat, {}); });
}

void read_conv_integer(Reader& in) {
  if (in.shape_of(1).size() < 3 || in.shape_of(0).size() < 3)
    return in.problem("has weights that are of no image");
  if (in.shape_of(1).size() <= 4 &&
      sum_bytes(in, 0, 1, in.shape_of(0)[0], [&](const RunningBytes& x, TensorId w) {
        return integer_convolution(in, x.values, w, x.scales, x.zero_points);
      }))
    return;
  const TensorId x = less_zero(in, 0, false), filters = less_zero(in, 1, true);
  if (!x.valid() || !filters.valid()) return;
  sum_exactly(in, x, filters, 1, 1,
              [&](TensorId image, TensorId part) { return float_convolution(in, image, part); });
}

}  // namespace intarsia::onnx
