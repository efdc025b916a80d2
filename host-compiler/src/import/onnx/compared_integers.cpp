#include "import/onnx/compared_integers.h"

#include <array>

namespace intarsia::onnx {
namespace {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

constexpr int64_t kLeastByte = -128, kMostByte = 127;

template <typename T>
bool holds(OpKind kind, T a, T b) {
  switch (kind) {
    case OpKind::Equal:
      return a == b;
    case OpKind::NotEqual:
      return a != b;
    case OpKind::Less:
      return a < b;
    case OpKind::LessEqual:
      return a <= b;
    case OpKind::Greater:
      return a > b;
    case OpKind::GreaterEqual:
      return a >= b;
    default:
      INTARSIA_CHECK(false, "only comparisons compare");
      return false;
  }
}

// The comparison with an integer that says of every byte what the one with the number says of the real.
TensorId compared_with_number(Reader& in, OpKind kind, size_t running) {
  const TensorId x = in.value(running).tensor, known = in.value(1 - running).tensor;
  const graph::Tensor bytes = in.tensor(x);
  if (bytes.type != DataType::Int8 || bytes.quantization.per_channel() ||
      element_count(in.shape(known)) != 1)
    return {};
  const TensorId plain = in.operand(1 - running);
  if (!in.is_constant(plain) || in.tensor(plain).type != kFloat) return {};
  const float number = as_reals(in.values_of(plain)).front();
  std::array<bool, 256> says = {};
  for (int64_t byte = kLeastByte; byte <= kMostByte; ++byte) {
    const float real =
        static_cast<float>(byte - bytes.quantization.zero_point[0]) * bytes.quantization.scale[0];
    says[static_cast<size_t>(byte - kLeastByte)] =
        running == 0 ? holds(kind, real, number) : holds(kind, number, real);
  }
  // Numbers that are no real of the scale, or beyond all of them, have one of these too.
  for (const OpKind other : {OpKind::Less, OpKind::GreaterEqual, OpKind::Equal, OpKind::NotEqual})
    for (int64_t limit = kLeastByte; limit <= kMostByte; ++limit) {
      bool fits = true;
      for (int64_t byte = kLeastByte; fits && byte <= kMostByte; ++byte)
        fits = holds(other, byte, limit) == says[static_cast<size_t>(byte - kLeastByte)];
      if (!fits) continue;
      const TensorId end = in.make_constant(
          integer_values(DataType::Int8, in.shape(known), {limit}), bytes.quantization);
      return in.emit(other, NoAttrs{}, {x, end}, DataType::Bool);
    }
  return {};
}

}  // namespace

TensorId compared_integers(Reader& in, OpKind kind) {
  const auto runs = [&](size_t i) { return in.is_real(i) && !in.is_constant(in.value(i).tensor); };
  if (!runs(0) && !runs(1)) return {};
  return in.attempt([&]() -> TensorId {
    const TensorId x = in.value(0).tensor, y = in.value(1).tensor;
    if (in.is_real(0) && in.is_real(1) && !in.tensor(x).quantization.per_channel() &&
        in.tensor(x).quantization == in.tensor(y).quantization &&
        in.tensor(x).type == in.tensor(y).type)
      return in.emit(kind, NoAttrs{}, {x, y}, DataType::Bool);
    if (runs(0) && in.is_constant(y)) return compared_with_number(in, kind, 0);
    if (runs(1) && in.is_constant(x)) return compared_with_number(in, kind, 1);
    return {};
  });
}

}  // namespace intarsia::onnx
