// Operators that combine the elements of an axis.
#include <algorithm>

#include "support/random_builder.h"

namespace intarsia::testing::families {

Module fully_connected(Builder& b) {
  Random& r = b.random();
  const int64_t in = r.range(1, 20), out = r.range(1, 6);
  b.input({r.range(1, 3), in});
  b.weights({out, in}, out, 0, r.chance(30));
  b.node().attributes = FullyConnectedAttrs{false, b.activation()};
  return b.finish();
}

Module hybrid_fully_connected(Builder& b) {
  Random& r = b.random();
  const int64_t in = r.range(1, 20), out = r.range(1, 6), rows = r.range(1, 3);
  const bool keeps = r.chance(40);
  b.input(keeps ? Shape{1, rows, in} : Shape{rows, in});
  b.hybrid_weights({out, in}, out, 0, rows);
  b.node().attributes = FullyConnectedAttrs{keeps, b.activation()};
  return b.finish(DataType::Float32, {});
}

Module quantize_rows(Builder& b) {
  Random& r = b.random();
  const int64_t rows = r.range(1, 3);
  b.input({rows, r.range(1, 4), r.range(1, 9)});
  const bool asymmetric = r.chance(60);
  b.node().attributes = QuantizeRowsAttrs{rows, asymmetric, asymmetric && r.chance(50)};
  b.output({}, DataType::Float32), b.output({}, DataType::Int32);
  return b.finish(DataType::Int8, {});
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

Module row_normalization(Builder& b) {
  Random& r = b.random();
  b.input({r.range(1, 3), r.range(1, 12)});
  b.node().attributes = NoAttrs{};
  if (!is_integer(b.type())) return b.finish();
  if (b.node().kind == OpKind::LogSoftmax) return b.finish(b.type(), {{1.0f / 16}, {127}, 0});
  return b.finish(b.type(), {{1.0f / 128}, {0}, 0});
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
  const bool narrow = b.type() == DataType::Int8 || b.type() == DataType::Int16;
  const bool sums = kind == OpKind::Mean || ((kind == OpKind::Sum || kind == OpKind::ReduceProd) &&
                                             (narrow || b.type() == DataType::Float32));
  return !sums ? b.finish(b.type(), b.tensor(input).quantization) : b.finish();
}

Module arg(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  b.input(shape);
  b.node().attributes = AxisAttrs{r.range(0, static_cast<int64_t>(shape.size()) - 1)};
  return b.finish(DataType::Int32, {});
}

Module cumsum(Builder& b) {
  Random& r = b.random();
  const Shape shape = small_shape(r, 1, 3);
  b.input(shape);
  b.node().attributes =
      CumsumAttrs{r.range(0, static_cast<int64_t>(shape.size()) - 1), r.chance(50), r.chance(50)};
  return b.finish();
}

}  // namespace intarsia::testing::families
