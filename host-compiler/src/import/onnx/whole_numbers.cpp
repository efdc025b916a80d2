#include "import/onnx/whole_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "import/onnx/stretches.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

TensorId combined(Reader& in, OpKind kind, TensorId a, TensorId b) {
  const bool selects = kind == OpKind::Minimum || kind == OpKind::Maximum;
  const graph::Attributes attributes =
      selects ? graph::Attributes(graph::NoAttrs{}) : graph::Attributes(graph::BinaryAttrs{});
  return in.emit(kind, attributes, {a, b}, in.tensor(a).type, {}, "half");
}

TensorId side_by_side(Reader& in, TensorId a, TensorId b, size_t axis) {
  return in.emit_alike(OpKind::Concat, graph::AxisAttrs{static_cast<int64_t>(axis)}, {a, b},
                       "join");
}

// Places that only an operator which finds places has made.
bool is_never_negative(const Reader& in, TensorId id, int depth = 0) {
  constexpr int kDeepest = 8;
  if (in.is_constant(id))
    return std::ranges::all_of(as_integers(in.values_of(id)), [](int64_t n) { return n >= 0; });
  const graph::Node* maker = in.maker_of(id);
  if (maker == nullptr || depth > kDeepest) return false;
  switch (maker->kind) {
    case OpKind::ArgMax:
    case OpKind::ArgMin:
      return true;
    case OpKind::Cast:
    case OpKind::Concat:
    case OpKind::Reshape:
    case OpKind::Slice:
    case OpKind::Transpose:
      return std::ranges::all_of(maker->inputs, [&](TensorId from) {
        return is_whole(in.tensor(from).type) && is_never_negative(in, from, depth + 1);
      });
    default:
      return false;
  }
}

// The exponent of a power of whole numbers, where it is one known whole number that a product of few factors is.
std::optional<int64_t> known_exponent(Reader& in, TensorId exponent) {
  constexpr float kMostExponent = 31;
  if (!in.is_constant(exponent) || element_count(in.shape(exponent)) != 1) return std::nullopt;
  const TensorId real = in.cast(exponent, kFloat);
  if (!in.ok()) return std::nullopt;
  const float value = as_reals(in.values_of(real))[0];
  if (value < 1 || value > kMostExponent || value != std::floor(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

bool is_whole(DataType type) {
  return type == DataType::Int32 || type == DataType::Int64;
}

TensorId narrowed(Reader& in, TensorId id) {
  if (in.tensor(id).type != DataType::Int64) return in.cast(id, DataType::Int32);
  if (in.is_constant(id)) {
    using Limits = std::numeric_limits<int32_t>;
    for (const int64_t number : as_integers(in.values_of(id)))
      if (!in.require(number >= Limits::min() && number <= Limits::max(),
                      fmt::format("computes with {}, which has more than 32 bits", number)))
        return {};
  } else if (const graph::Node* maker = in.maker_of(id);
             maker != nullptr && maker->kind == OpKind::Cast &&
             in.tensor(maker->inputs[0]).type == DataType::Int32) {
    return maker->inputs[0];
  } else {
    in.remark("computes whole numbers of 64 bits with 32");
  }
  return in.cast(id, DataType::Int32);
}

// A table may be too large to be converted when the model is read.
TensorId whole_floats(Reader& in, TensorId id) {
  constexpr float kBeyond = 2147483648.0f;
  if (!in.is_constant(id))
    in.remark("computes whole numbers of 64 bits with 32");
  else if (!std::ranges::all_of(as_reals(in.values_of(id)), [](float value) {
             return !std::isfinite(value) || std::abs(value) < kBeyond;
           }))
    return id;
  return in.cast(id, DataType::Int32);
}

TensorId reduced_by_halves(Reader& in, OpKind kind, TensorId id, size_t axis) {
  while (in.ok() && in.shape(id)[axis] > 1) {
    const int64_t count = in.shape(id)[axis], half = count / 2;
    TensorId both =
        combined(in, kind, stretch(in, id, axis, 0, half), stretch(in, id, axis, half, half));
    if (count % 2 != 0 && in.ok())
      both = side_by_side(in, both, stretch(in, id, axis, count - 1, 1), axis);
    id = both;
  }
  return id;
}

// Another square for each binary digit of the exponent, and a factor where the digit is 1.
TensorId whole_power(Reader& in, TensorId base, TensorId exponent) {
  const std::optional<int64_t> known = known_exponent(in, exponent);
  if (!in.require(known.has_value(),
                  "takes a power of whole numbers by an exponent that is not one known number of 1 "
                  "to 31",
                  "cast the operands to floats before it"))
    return {};
  TensorId power;
  TensorId square = base;
  for (int64_t left = *known; left > 0 && in.ok(); left /= 2) {
    if (left % 2 != 0) power = power.valid() ? combined(in, OpKind::Mul, power, square) : square;
    if (left > 1) square = combined(in, OpKind::Mul, square, square);
  }
  return power;
}

TensorId running(Reader& in, OpKind kind, TensorId id, const graph::CumsumAttrs& attrs) {
  const auto axis = static_cast<size_t>(attrs.axis);
  const int64_t count = in.shape(id)[axis];
  const double neutral = kind == OpKind::Mul ? 1 : 0;
  // Each element with the one so far before it, or behind it.
  const auto moved = [&](TensorId x, int64_t by) {
    Shape shape = in.shape(x);
    shape[axis] = std::min(by, count);
    const TensorId neutrals = filled(in, shape, in.tensor(x).type, neutral);
    if (by >= count) return neutrals;
    const TensorId rest = stretch(in, x, axis, attrs.reverse ? by : 0, count - by);
    return attrs.reverse ? side_by_side(in, rest, neutrals, axis)
                         : side_by_side(in, neutrals, rest, axis);
  };
  for (int64_t by = 1; by < count && in.ok(); by *= 2) id = combined(in, kind, id, moved(id, by));
  return attrs.exclusive && in.ok() ? moved(id, 1) : id;
}

std::optional<std::vector<TensorId>> as_signed_bytes(Reader& in, size_t operands) {
  const auto is_signed_byte = [&](size_t i) {
    return in.value(i).form == Form::Shifted &&
           in.tensor(in.value(i).tensor).type == DataType::Int8;
  };
  std::optional<size_t> first;
  for (size_t i = operands; i-- > 0;)
    if (is_signed_byte(i)) first = i;
  if (!first) return std::nullopt;
  const graph::Quantization q = in.tensor(in.value(*first).tensor).quantization;
  std::vector<TensorId> ids;
  for (size_t i = 0; i < operands; ++i) {
    const graph::Tensor given = in.tensor(in.value(i).tensor);
    if (is_signed_byte(i) && given.quantization == q) {
      ids.push_back(in.value(i).tensor);
    } else if (given.type == DataType::UInt8 && given.constant.valid()) {
      std::vector<int64_t> numbers = as_integers(in.values_of(in.value(i).tensor));
      for (int64_t& number : numbers) number -= shift_of(DataType::Int8);
      ids.push_back(in.make_constant(integer_values(DataType::Int8, given.shape, numbers), q));
    } else {
      return std::nullopt;
    }
  }
  return ids;
}

TensorId from_beginning(Reader& in, TensorId places, const std::vector<int64_t>& extents) {
  if (!in.ok() || is_never_negative(in, places)) return places;
  const Shape shape = extents.size() == 1 ? Shape{} : Shape{std::ssize(extents)};
  const TensorId all = in.make_constant(integer_values(DataType::Int32, shape, extents));
  return in.emit(OpKind::FloorMod, graph::NoAttrs{}, {places, all}, DataType::Int32, {}, "place");
}

}  // namespace intarsia::onnx
