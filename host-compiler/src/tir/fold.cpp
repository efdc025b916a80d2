#include "tir/fold.h"

#include <algorithm>

namespace intarsia::tir {

namespace {

bool wraps(DataType type) {
  return type != DataType::Int32 && type != DataType::Int64;
}

// The result of an operation whose exact value fits 64 bits, if the type can say it.
std::optional<int64_t> in_type(DataType type, int64_t exact) {
  if (wrap(type, exact) == exact || wraps(type)) return wrap(type, exact);
  return std::nullopt;
}

std::optional<int64_t> fold_arithmetic(BinaryOp op, DataType type, int64_t lhs, int64_t rhs) {
  int64_t exact = 0;
  bool overflow = false;
  switch (op) {
    case BinaryOp::Add:
      overflow = __builtin_add_overflow(lhs, rhs, &exact);
      break;
    case BinaryOp::Sub:
      overflow = __builtin_sub_overflow(lhs, rhs, &exact);
      break;
    case BinaryOp::Mul:
      overflow = __builtin_mul_overflow(lhs, rhs, &exact);
      // Two u32 may exceed 64 signed bits; their low 32 bits are still known.
      if (overflow && wraps(type)) return wrap(type, exact);
      break;
    default:
      return std::nullopt;
  }
  if (overflow) return std::nullopt;
  return in_type(type, exact);
}

std::optional<int64_t> fold_shift(BinaryOp op, DataType type, int64_t lhs, int64_t rhs) {
  if (rhs < 0 || rhs >= bits(type)) return std::nullopt;
  if (op == BinaryOp::Shr) return lhs >> rhs;  // of the value, thus arithmetic when signed
  if (wraps(type)) return wrap(type, static_cast<int64_t>(static_cast<uint64_t>(lhs) << rhs));
  if (rhs == 63) return lhs == 0 ? std::optional<int64_t>(0) : std::nullopt;
  return fold_arithmetic(BinaryOp::Mul, type, lhs, int64_t{1} << rhs);
}

}  // namespace

int64_t wrap(DataType type, int64_t value) {
  if (type == DataType::Bool) return value & 1;
  const int unused = 64 - bits(type);
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  return is_signed(type) ? static_cast<int64_t>(shifted) >> unused
                         : static_cast<int64_t>(shifted >> unused);
}

int64_t min_value(DataType type) {
  return is_signed(type) ? -max_value(type) - 1 : 0;
}

int64_t max_value(DataType type) {
  if (type == DataType::Bool) return 1;
  if (type == DataType::Int64) return INT64_MAX;
  return (int64_t{1} << (bits(type) - (is_signed(type) ? 1 : 0))) - 1;
}

bool is_comparison(BinaryOp op) {
  return op >= BinaryOp::Lt;
}

std::optional<int64_t> fold(BinaryOp op, DataType type, int64_t lhs, int64_t rhs) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
      return fold_arithmetic(op, type, lhs, rhs);
    case BinaryOp::Div:
      return rhs > 0 ? std::optional(lhs / rhs) : std::nullopt;
    case BinaryOp::Mod:
      return rhs > 0 ? std::optional(lhs % rhs) : std::nullopt;
    case BinaryOp::Min:
      return std::min(lhs, rhs);
    case BinaryOp::Max:
      return std::max(lhs, rhs);
    case BinaryOp::And:
      return lhs & rhs;
    case BinaryOp::Or:
      return lhs | rhs;
    case BinaryOp::Xor:
      return lhs ^ rhs;
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return fold_shift(op, type, lhs, rhs);
    case BinaryOp::Lt:
      return lhs < rhs;
    case BinaryOp::Le:
      return lhs <= rhs;
    case BinaryOp::Gt:
      return lhs > rhs;
    case BinaryOp::Ge:
      return lhs >= rhs;
    case BinaryOp::Eq:
      return lhs == rhs;
    case BinaryOp::Ne:
      return lhs != rhs;
  }
  return std::nullopt;
}

std::optional<int64_t> fold(UnaryOp op, DataType type, int64_t operand) {
  if (op == UnaryOp::Not) return operand == 0;
  return fold_arithmetic(BinaryOp::Sub, type, 0, operand);
}

}  // namespace intarsia::tir
