// Bits of whole numbers.
#include <fmt/format.h>

#include <algorithm>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/whole_numbers.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

bool has_known_bits(DataType type) {
  return type == DataType::Int8 || type == DataType::UInt8 || type == DataType::Int16 ||
         is_whole(type);
}

bool require_known_bits(Reader& in, DataType type) {
  return in.require(has_known_bits(type), fmt::format("works on the bits of {}", to_string(type)),
                    "int8, uint8, int16, int32 and int64 are possible");
}

}  // namespace

// Numbers of 64 bits have their lower 32, and of narrower ones what is above them is cut off in the end.
void read_bitwise(Reader& in) {
  TensorId a = in.operand(0);
  const DataType type = in.tensor(a).type;
  if (!require_known_bits(in, type)) return;
  a = narrowed(in, a);
  const auto combined = [&](OpKind kind, TensorId x, TensorId y) {
    const graph::Attributes attributes =
        kind == OpKind::Sub ? graph::Attributes(BinaryAttrs{}) : graph::Attributes(NoAttrs{});
    return in.emit(kind, attributes, {x, y}, DataType::Int32, {}, "bits");
  };
  if (in.is("BitwiseNot"))
    return in.result(in.cast(
        combined(OpKind::Sub, in.make_constant(integer_values(DataType::Int32, {}, {-1})), a),
        type));
  const TensorId b = narrowed(in, in.operand(1));
  if (!in.ok()) return;
  if (in.is("BitwiseAnd")) return in.result(in.cast(combined(OpKind::LogicalAnd, a, b), type));
  const TensorId any = combined(OpKind::LogicalOr, a, b);
  if (in.is("BitwiseOr")) return in.result(in.cast(any, type));
  in.result(in.cast(combined(OpKind::Sub, any, combined(OpKind::LogicalAnd, a, b)), type));
}

// Bytes times or by a power of two; nothing of them is left beyond their bits.
void read_bit_shift(Reader& in) {
  const std::string direction = in.text("direction", "");
  if (!in.require(direction == "LEFT" || direction == "RIGHT",
                  fmt::format("has the direction \"{}\"", direction),
                  "\"LEFT\" and \"RIGHT\" are possible") ||
      !in.require(in.tensor(in.operand(0)).type == DataType::UInt8,
                  fmt::format("shifts the bits of {}", to_string(in.tensor(in.operand(0)).type)),
                  "uint8 is possible; write it as a product with, or a quotient by, powers of two"))
    return;
  constexpr int64_t kBits = 8;
  std::vector<int64_t> powers;
  for (int64_t by = 0; by <= kBits; ++by) powers.push_back(int64_t{1} << by);
  const TensorId x = in.cast(in.operand(0), DataType::Int32);
  const TensorId by = in.emit(OpKind::Minimum, NoAttrs{},
                              {in.cast(in.operand(1), DataType::Int32),
                               in.make_constant(integer_values(DataType::Int32, {}, {kBits}))},
                              DataType::Int32, {}, "distance");
  const TensorId factor =
      in.emit(OpKind::Gather, graph::GatherAttrs{0, 0},
              {in.make_constant(integer_values(DataType::Int32, {kBits + 1}, powers)), by},
              DataType::Int32, {}, "power");
  const TensorId made =
      direction == "LEFT"
          ? in.emit(OpKind::Mul, BinaryAttrs{}, {x, factor}, DataType::Int32, {}, "shift")
          : in.emit(OpKind::FloorDiv, NoAttrs{}, {x, factor}, DataType::Int32, {}, "shift");
  in.result(in.cast(made, DataType::UInt8));
}

}  // namespace intarsia::onnx
