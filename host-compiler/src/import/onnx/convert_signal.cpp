// Fourier transforms as operators of a network, and grids of affine maps: products with constant matrices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/tflite/transform_writer.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;
using tflite::Spectrum;

namespace {

tflite::TransformWriter writer_of(Reader& in) {
  return tflite::TransformWriter(
      [&in](OpKind kind, graph::Attributes attributes, std::vector<int32_t> inputs,
            const graph::Tensor& result) {
        std::vector<TensorId> ids;
        for (const int32_t id : inputs) ids.push_back({id});
        return in.emit(kind, std::move(attributes), std::move(ids), result.type, {}, "transform")
            .index;
      },
      [&in](const import::MadeConstant& made) {
        return in.make_constant({made.tensor.type, made.tensor.shape, made.bytes}).index;
      });
}

// [rows, length * parts] -> [rows, kept * parts]. Lengths that are no power of two are one product.
TensorId transformed(Reader& in, TensorId x, const Spectrum& s) {
  constexpr int64_t kMostFactors = int64_t{1} << 21;
  if (!in.ok()) return {};
  const int64_t rows = in.shape(x)[0];
  if (tflite::is_power_of_two(s.length) && s.length <= tflite::kLongest)
    return {writer_of(in).transform(x.index, rows, s)};
  const Shape shape{s.kept * s.out_parts(), s.length * s.in_parts()};
  if (!in.require(shape[0] * shape[1] <= kMostFactors,
                  fmt::format("transforms a length of {}", s.length),
                  "powers of two up to 2^18, and other lengths below a thousand are possible"))
    return {};
  const TensorId matrix =
      in.make_constant(real_values(shape, tflite::matrix_of(s, s.inverse ? s.length : 1)));
  return in.emit(OpKind::FullyConnected, graph::FullyConnectedAttrs{true, {}}, {x, matrix}, kFloat,
                 {}, "transform");
}

// The axis behind all others but the parts of the numbers, and back.
std::vector<int64_t> order_with_last(size_t rank, int64_t axis) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[static_cast<size_t>(axis)], order[rank - 2]);
  return order;
}

TensorId fitted(Reader& in, TensorId x, size_t axis, int64_t extent) {
  return {writer_of(in).fitted(x.index, in.shape(x), axis, extent)};
}

}  // namespace

// [.., length, .., parts], 1 for reals and 2 for complex numbers.
void read_dft(Reader& in) {
  const Shape given = in.shape_of(0);
  const size_t rank = given.size();
  if (!in.require(rank >= 2 && (given.back() == 1 || given.back() == 2),
                  fmt::format("transforms [{}]", fmt::join(given, ",")),
                  "the last axis has one part of a number or two"))
    return;
  int64_t axis = in.integer("axis", 1);
  if (in.node().operator_set >= 20) {
    const auto named = in.has(2) ? in.known_integers(2, "its axis") : std::vector<int64_t>{-2};
    if (!named || !in.require(named->size() == 1, "has one axis")) return;
    axis = named->front();
  }
  axis = in.axis(axis, rank);
  if (!in.ok() || !in.require(axis + 1 < std::ssize(given), "transforms the parts of numbers"))
    return;
  const auto length_given = in.has(1) ? in.known_integers(1, "its length")
                                      : std::vector{given[static_cast<size_t>(axis)]};
  if (!length_given ||
      !in.require(length_given->size() == 1 && length_given->front() >= 1, "has no length"))
    return;
  const bool inverse = in.integer("inverse", 0) != 0, onesided = in.integer("onesided", 0) != 0;
  if (!in.require(!onesided || (!inverse && given.back() == 1),
                  "gives one side of the transform of complex numbers"))
    return;
  const int64_t length = length_given->front();
  const Spectrum s{length, onesided ? length / 2 + 1 : length, given.back() == 1, false, inverse};
  const std::vector<int64_t> order = order_with_last(rank, axis);
  TensorId x = in.transpose(in.operand(0), order);
  x = fitted(in, x, rank - 2, length);
  if (!in.ok()) return;
  Shape shape = in.shape(x);
  x = transformed(
      in, in.reshape(x, {element_count(shape) / (length * shape.back()), length * shape.back()}),
      s);
  if (!in.ok()) return;
  shape[rank - 2] = s.kept, shape[rank - 1] = 2;
  in.result(in.transpose(in.reshape(x, shape), order));
}

// Frames of a signal, each with a window and transformed: [images, frames, frequencies, 2].
void read_stft(Reader& in) {
  const Shape given = in.shape_of(0);
  const auto step = in.known_integers(1, "the step of its frames");
  if (!step || !in.require(step->size() == 1 && step->front() >= 1, "has no step of its frames"))
    return;
  if (!in.require(given.size() == 2 || (given.size() == 3 && given[2] == 1),
                  fmt::format("transforms [{}]", fmt::join(given, ",")),
                  "real signals [N,L,1] are possible"))
    return;
  int64_t size = in.has(2) ? element_count(in.shape_of(2)) : 0;
  if (in.has(3)) {
    const auto stated = in.known_integers(3, "the size of its frames");
    if (!stated || !in.require(stated->size() == 1, "has one size of its frames")) return;
    size = stated->front();
  }
  const int64_t count = given[0], samples = given[1], stride = step->front();
  if (!in.require(size >= 1 && size <= samples && (!in.has(2) || in.shape_of(2) == Shape{size}),
                  fmt::format("takes frames of {} of {} samples", size, samples)))
    return;
  const int64_t frames = 1 + (samples - size) / stride, rows = count * frames;
  // Frames begin and end where pieces do.
  const int64_t piece = std::gcd(size, stride), used = (frames - 1) * stride + size;
  const int64_t pieces = size / piece;
  if (!table_fits(in, frames * pieces)) return;
  TensorId x = fitted(in, in.reshape(in.operand(0), {count, samples}), 1, used);
  x = in.reshape(x, {count, used / piece, piece});
  std::vector<int64_t> places;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < pieces; ++i) places.push_back(frame * (stride / piece) + i);
  const TensorId starts =
      in.make_constant(integer_values(DataType::Int32, {frames, pieces}, places));
  x = in.emit(OpKind::Gather, graph::GatherAttrs{1, 0}, {x, starts}, kFloat, {}, "frames");
  x = in.reshape(x, {rows, size});
  if (in.has(2))
    x = in.emit(OpKind::Mul, graph::BinaryAttrs{}, {x, in.operand(2)}, kFloat, {}, "window");
  const int64_t kept = in.integer("onesided", 1) != 0 ? size / 2 + 1 : size;
  x = transformed(in, x, {size, kept, true, false, false});
  if (in.ok()) in.result(in.reshape(x, {count, frames, kept, 2}));
}

// The places that a map of each image gives the pixels of a result, as GridSample takes them.
void read_affine_grid(Reader& in) {
  const auto sizes = in.known_integers(1, "the size of its grid");
  const Shape given = in.shape_of(0);
  if (!sizes ||
      !in.require(
          sizes->size() == 4 && given.size() == 3 && given[1] == 2 && given[2] == 3,
          fmt::format("maps by [{}] onto [{}]", fmt::join(given, ","), fmt::join(*sizes, ",")),
          "images [N,C,H,W] are possible"))
    return;
  const int64_t height = (*sizes)[2], width = (*sizes)[3];
  constexpr int64_t kMostPlaces =
      1 << 24;  // along one axis: what their product with 3 is stays within 64 bits
  if (!in.require((*sizes)[0] == given[0] && height >= 1 && width >= 1, "has other images") ||
      !in.require(height <= kMostPlaces && width <= kMostPlaces,
                  fmt::format("makes places of {} x {} pixels", height, width)) ||
      !table_fits(in, height * width * 3))
    return;
  const bool at_corners = in.integer("align_corners", 0) != 0;
  const auto place = [&](int64_t at, int64_t extent) {
    if (at_corners)
      return extent == 1 ? -1.0f
                         : static_cast<float>(2 * at) / static_cast<float>(extent - 1) - 1.0f;
    return static_cast<float>(2 * at + 1) / static_cast<float>(extent) - 1.0f;
  };
  std::vector<float> points;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      points.insert(points.end(), {place(x, width), place(y, height), 1.0f});
  const TensorId grid = in.make_constant(real_values({1, height * width, 3}, points));
  graph::BatchMatmulAttrs attrs;
  attrs.transpose_b = true;
  const TensorId product =
      in.emit(OpKind::BatchMatmul, attrs, {grid, in.operand(0)}, kFloat, {}, "places");
  if (in.ok()) in.result(in.reshape(product, {given[0], height, width, 2}));
}

}  // namespace intarsia::onnx
