// What constant operands come to, in exactly the arithmetic of the expression's type. Nothing is
// answered where the emitted C would be undefined (overflow of i32 or i64, a shift too far).
#pragma once

#include <cstdint>
#include <optional>

#include "intarsia/plugin/tir.h"

namespace intarsia::tir {

// The value whose low bits are `value`'s, in the range of the integer type (or bool).
int64_t wrap(DataType type, int64_t value);
int64_t min_value(DataType type);  // of an integer type or bool
int64_t max_value(DataType type);

bool is_comparison(BinaryOp op);

// `type` is the type of the operands.
std::optional<int64_t> fold(BinaryOp op, DataType type, int64_t lhs, int64_t rhs);
std::optional<int64_t> fold(UnaryOp op, DataType type, int64_t operand);

}  // namespace intarsia::tir
