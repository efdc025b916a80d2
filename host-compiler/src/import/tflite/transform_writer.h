// Fourier transforms of floats, written out. One of a length P * Q is P transforms of length Q behind Q of length P, with a rotation of
// each element between them; both are products with constant matrices, which every target has kernels for. Complex numbers are
// pairs along a last axis of their own.
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/operator_reader.h"

namespace intarsia::tflite {

inline constexpr int64_t kLongestDirect = 32;          // is one product
inline constexpr int64_t kLongest = int64_t{1} << 18;  // its matrices have 2^20 factors

inline graph::Tensor reals(Shape shape) {
  return {.type = DataType::Float32, .shape = std::move(shape)};
}

// The angle of step `at` of `length` steps around the circle, exact for any product of indices.
inline double angle_of(int64_t at, int64_t length) {
  return 2 * std::numbers::pi * static_cast<double>(at % length) / static_cast<double>(length);
}

// What a transform makes of what.
struct Spectrum {
  int64_t length = 1;
  int64_t kept = 1;  // of the results, from the first on
  bool real_input = false, real_output = false;
  bool inverse = false;  // turns the other way, and divides by the length

  int64_t in_parts() const { return real_input ? 1 : 2; }
  int64_t out_parts() const { return real_output ? 1 : 2; }
};

// Rows: results and their parts; columns: inputs and their parts. Of a transform of `length` with `divided` as its divisor.
inline std::vector<float> matrix_of(const Spectrum& s, int64_t divided) {
  std::vector<float> factors;
  for (int64_t k = 0; k < s.kept; ++k)
    for (int64_t part = 0; part < s.out_parts(); ++part)
      for (int64_t n = 0; n < s.length; ++n) {
        const double angle = (s.inverse ? 1 : -1) * angle_of(n * k, s.length);
        const double cosine = std::cos(angle) / static_cast<double>(divided);
        const double sine = std::sin(angle) / static_cast<double>(divided);
        factors.push_back(static_cast<float>(part == 0 ? cosine : sine));
        if (!s.real_input) factors.push_back(static_cast<float>(part == 0 ? -sine : cosine));
      }
  return factors;
}

// Of a power of two the one at its root, or below it.
inline int64_t root_of(int64_t length) {
  int64_t root = 1;
  while (4 * root * root <= length) root *= 2;
  return root;
}

inline bool is_power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

// One operator's transforms, as they are written out.
class TransformWriter {
  using OpKind = graph::OpKind;

 public:
  using Put =
      std::function<int32_t(OpKind, graph::Attributes, std::vector<int32_t>, graph::Tensor)>;
  using Make = std::function<int32_t(MadeConstant)>;

  TransformWriter(Put put, Make make) : put_(std::move(put)), make_(std::move(make)) {}

  int32_t reshape(int32_t x, const Shape& shape) {
    return put_(OpKind::Reshape, graph::ReshapeAttrs{shape}, {x}, reals(shape));
  }
  int32_t transpose(int32_t x, std::vector<int64_t> permutation, const Shape& from) {
    Shape shape;
    for (const int64_t axis : permutation) shape.push_back(from[static_cast<size_t>(axis)]);
    return put_(OpKind::Transpose, graph::TransposeAttrs{std::move(permutation)}, {x},
                reals(shape));
  }
  int32_t multiply(int32_t a, MadeConstant b, const Shape& shape) {
    return put_(OpKind::Mul, graph::BinaryAttrs{}, {a, make_(std::move(b))}, reals(shape));
  }

  // The last axis of [.., extent], cut or filled with zeros.
  int32_t fitted(int32_t x, Shape shape, size_t axis, int64_t extent) {
    const int64_t given = shape[axis];
    if (given == extent) return x;
    if (given > extent) {
      shape[axis] = extent;
      const graph::SliceAttrs cut{Shape(shape.size(), 0), shape, Shape(shape.size(), 1), {}};
      return put_(OpKind::Slice, cut, {x}, reals(shape));
    }
    graph::PadAttrs pad{Shape(shape.size(), 0), Shape(shape.size(), 0)};
    pad.after[axis] = extent - given;
    shape[axis] = extent;
    return put_(OpKind::Pad, pad, {x}, reals(shape));
  }

  // [count, length * parts] -> [count, kept * parts]
  int32_t transform(int32_t x, int64_t count, const Spectrum& s) {
    const int64_t p = root_of(s.length), q = s.length / p;
    if (s.length <= kLongestDirect)
      return product(x, {count, s.length * s.in_parts()}, s, s.inverse ? s.length : 1);
    // Input n = q * n1 + n2, result k = k1 + p * k2.
    const Shape parts{count, p, q, s.in_parts()};
    x = transpose(reshape(x, parts), {0, 2, 1, 3}, parts);
    const Spectrum inner{p, p, s.real_input, false, s.inverse};
    x = product(reshape(x, {count, q, p * s.in_parts()}), {count, q, p * s.in_parts()}, inner, 1);
    x = rotated(reshape(x, {count, q, p, 2}), {count, q, p, 2}, s);
    x = transpose(x, {0, 2, 1, 3}, {count, q, p, 2});
    const Spectrum outer{q, (s.kept + p - 1) / p, false, s.real_output, s.inverse};
    x = product(reshape(x, {count, p, q * 2}), {count, p, q * 2}, outer, s.inverse ? s.length : 1);
    const Shape pieces{count, p, outer.kept, s.out_parts()};
    x = transpose(reshape(x, pieces), {0, 2, 1, 3}, pieces);
    const int64_t made = p * outer.kept * s.out_parts();
    return fitted(reshape(x, {count, made}), {count, made}, 1, s.kept * s.out_parts());
  }

  // The whole of a spectrum of reals from its first half: [count, (length / 2 + 1) * 2] -> [count, length * 2]
  int32_t mirrored(int32_t x, int64_t count, int64_t length) {
    const int64_t half = length / 2 + 1, rest = length - half;
    x = reshape(x, {count, half, 2});
    const graph::SliceAttrs back{{0, rest, 0}, {count, rest, 2}, {1, -1, 1}, {}};
    const int32_t others = multiply(put_(OpKind::Slice, back, {x}, reals({count, rest, 2})),
                                    real_constant("conjugate", {2}, {1, -1}), {count, rest, 2});
    const int32_t all =
        put_(OpKind::Concat, graph::AxisAttrs{1}, {x, others}, reals({count, length, 2}));
    return reshape(all, {count, length * 2});
  }

 private:
  int32_t product(int32_t x, Shape shape, const Spectrum& s, int64_t divided) {
    const int64_t rows = s.kept * s.out_parts(), columns = s.length * s.in_parts();
    const int32_t matrix =
        make_(real_constant("frequencies", {rows, columns}, matrix_of(s, divided)));
    shape.back() = rows;
    return put_(OpKind::FullyConnected, graph::FullyConnectedAttrs{true, {}}, {x, matrix},
                reals(shape));
  }

  // Each element, of [count, q, p, 2], turned by n2 * k1 steps.
  int32_t rotated(int32_t x, const Shape& shape, const Spectrum& s) {
    const int64_t q = shape[1], p = shape[2];
    std::vector<float> same, other;
    for (int64_t n = 0; n < q; ++n)
      for (int64_t k = 0; k < p; ++k) {
        const double angle = (s.inverse ? 1 : -1) * angle_of(n * k, s.length);
        const auto cosine = static_cast<float>(std::cos(angle));
        const auto sine = static_cast<float>(std::sin(angle));
        same.insert(same.end(), {cosine, cosine});
        other.insert(other.end(), {-sine, sine});
      }
    const graph::SliceAttrs swap{{0, 0, 0, 1}, shape, {1, 1, 1, -1}, {}};
    const int32_t swapped = put_(OpKind::Slice, swap, {x}, reals(shape));
    return put_(OpKind::Add, graph::BinaryAttrs{},
                {multiply(x, real_constant("cosines", {q, p, 2}, same), shape),
                 multiply(swapped, real_constant("sines", {q, p, 2}, other), shape)},
                reals(shape));
  }

  Put put_;
  Make make_;
};

// Reported where not.
inline bool can_be_transformed(OperatorReader& in, int64_t length) {
  if (length >= 2 && length <= kLongest && is_power_of_two(length)) return true;
  in.problem(fmt::format("transforms a length of {}", length),
             "powers of two from 2 to 2^18 are possible");
  return false;
}

}  // namespace intarsia::tflite
