#include <cmath>
#include <cstring>

#include "engine/execute.h"
#include "intarsia/plugin/check.h"

namespace intarsia::engine {
namespace {

using tir::BinaryOp;

template <typename T>
T read(const uint8_t* buffer, int64_t element) {
  T value;
  std::memcpy(&value, buffer + element * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void write(uint8_t* buffer, int64_t element, T value) {
  std::memcpy(buffer + element * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

Value compute_float(BinaryOp op, float a, float b) {
  switch (op) {
    case BinaryOp::Add:
      return of_float(a + b);
    case BinaryOp::Sub:
      return of_float(a - b);
    case BinaryOp::Mul:
      return of_float(a * b);
    case BinaryOp::Div:
      return of_float(a / b);
    case BinaryOp::Min:
      return of_float(a < b ? a : b);
    case BinaryOp::Max:
      return of_float(a > b ? a : b);
    case BinaryOp::Lt:
      return of_int(a < b);
    case BinaryOp::Le:
      return of_int(a <= b);
    case BinaryOp::Gt:
      return of_int(a > b);
    case BinaryOp::Ge:
      return of_int(a >= b);
    case BinaryOp::Eq:
      return of_int(a == b);
    case BinaryOp::Ne:
      return of_int(a != b);
    default:
      INTARSIA_CHECK(false, "a verified operation of floats");
  }
  return {};
}

int64_t compute_int(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case BinaryOp::Add:
      return static_cast<int64_t>(x + y);
    case BinaryOp::Sub:
      return static_cast<int64_t>(x - y);
    case BinaryOp::Mul:
      return static_cast<int64_t>(x * y);
    case BinaryOp::Div:
      return b == 0 ? 0 : a / b;
    case BinaryOp::Mod:
      return b == 0 ? 0 : a % b;
    case BinaryOp::Min:
      return a < b ? a : b;
    case BinaryOp::Max:
      return a > b ? a : b;
    case BinaryOp::And:
      return a & b;
    case BinaryOp::Or:
      return a | b;
    case BinaryOp::Xor:
      return a ^ b;
    case BinaryOp::Shl:
      return static_cast<int64_t>(x << (y & 63));
    case BinaryOp::Shr:
      return a >> (y & 63);
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
  }
  return 0;
}

Value evaluate_binary(const ExprCode& expr, Frame& frame) {
  const Value a = evaluate(expr.operands[0], frame);
  if (expr.operand_type == DataType::Bool) {
    if (expr.op == BinaryOp::And && a.i == 0) return of_int(0);
    if (expr.op == BinaryOp::Or && a.i != 0) return of_int(1);
  }
  return compute(expr.op, expr.operand_type, expr.type, a, evaluate(expr.operands[1], frame));
}

}  // namespace

Value load_element(DataType type, const uint8_t* buffer, int64_t element) {
  switch (type) {
    case DataType::Bool:
    case DataType::UInt8:
      return of_int(read<uint8_t>(buffer, element));
    case DataType::Int8:
      return of_int(read<int8_t>(buffer, element));
    case DataType::Int16:
      return of_int(read<int16_t>(buffer, element));
    case DataType::UInt16:
      return of_int(read<uint16_t>(buffer, element));
    case DataType::Int32:
      return of_int(read<int32_t>(buffer, element));
    case DataType::UInt32:
      return of_int(read<uint32_t>(buffer, element));
    case DataType::Int64:
      return of_int(read<int64_t>(buffer, element));
    case DataType::Float32:
      return of_float(read<float>(buffer, element));
    default:
      INTARSIA_CHECK(false, "packed elements are refused before");
  }
  return {};
}

void store_element(DataType type, uint8_t* buffer, int64_t element, Value value) {
  switch (bits(type)) {
    case 8:
      return write(buffer, element, static_cast<uint8_t>(value.i));
    case 16:
      return write(buffer, element, static_cast<uint16_t>(value.i));
    case 32:
      if (type == DataType::Float32) return write(buffer, element, value.f);
      return write(buffer, element, static_cast<uint32_t>(value.i));
    default:
      return write(buffer, element, value.i);
  }
}

Value compute(BinaryOp op, DataType operands, DataType type, Value a, Value b) {
  if (operands == DataType::Float32) return compute_float(op, a.f, b.f);
  return of_int(narrowed(type, compute_int(op, a.i, b.i)));
}

Value converted(DataType from, DataType to, Value value) {
  if (from == to) return value;
  if (to == DataType::Float32) return of_float(static_cast<float>(value.i));
  if (from != DataType::Float32) return of_int(narrowed(to, value.i));
  const bool fits = std::abs(value.f) < 9.2e18f;
  return of_int(narrowed(to, fits ? static_cast<int64_t>(value.f) : 0));
}

Value evaluate(const ExprCode& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprCode::Kind::Number:
      return expr.number;
    case ExprCode::Kind::Slot:
      return frame.slots[static_cast<size_t>(expr.slot)];
    case ExprCode::Kind::Load:
      return load_element(expr.type, frame.buffers[static_cast<size_t>(expr.slot)],
                          evaluate(expr.operands[0], frame).i);
    case ExprCode::Kind::Negate: {
      const Value value = evaluate(expr.operands[0], frame);
      if (expr.type == DataType::Float32) return of_float(-value.f);
      return of_int(narrowed(expr.type, compute_int(BinaryOp::Sub, 0, value.i)));
    }
    case ExprCode::Kind::Not:
      return of_int(evaluate(expr.operands[0], frame).i == 0);
    case ExprCode::Kind::Binary:
      return evaluate_binary(expr, frame);
    case ExprCode::Kind::Cast:
      return converted(expr.operand_type, expr.type, evaluate(expr.operands[0], frame));
    case ExprCode::Kind::Select:
      return evaluate(expr.operands[evaluate(expr.operands[0], frame).i != 0 ? 1 : 2], frame);
    case ExprCode::Kind::Call: {
      Value arguments[ScalarFunction::kMostArguments];
      for (size_t i = 0; i < expr.operands.size(); ++i)
        arguments[i] = evaluate(expr.operands[i], frame);
      return expr.function->call(arguments);
    }
  }
  return {};
}

}  // namespace intarsia::engine
