// Element-wise operators one of whose operands repeats along some axes, as calls of the kernel for a row.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "kernels.h"

namespace intarsia::targets::cortex_m {

// A call and what is around its loop take as long as some tens of elements: rows that are shorter than this many are
// laid out several times. More would be copied for nothing.
constexpr int64_t kLongRow = 128;

// Neighbouring axes of the result that both operands have, or one of them repeats along.
struct RepeatedAxis {
  std::array<bool, 2> repeats;  // by operand
  int64_t extent;
  bool operator==(const RepeatedAxis&) const = default;
};
// How two operands repeat to fill `whole`, outermost first; none where they do not. Without axes of extent 1, and the innermost axis is
// one that an operand has.
std::optional<std::vector<RepeatedAxis>> repeated_axes(const Shape& a, const Shape& b,
                                                       const Shape& whole);

// A kernel that takes rows of both operands and of the result, and its numbers for a count of elements. The result may be an operand:
// its name begins with intarsia_each_ (host-compiler/src/tir/verify_in_place.cpp).
struct RowKernel {
  std::string name;
  std::function<std::vector<int64_t>(int64_t count)> numbers;
  // Bytes of a table that follows the result, and the type of its elements; none for none.
  std::vector<uint8_t> table;
  DataType table_type = DataType::Int32;
};
// The operands repeat as `axes` say. Of the one that repeats along the innermost axes, short rows and single elements are laid out in
// scratch first, as often as is worth a call.
tir::Stmt call_by_rows(CoreClass core, OpLowering& op, const RowKernel& kernel,
                       const std::vector<RepeatedAxis>& axes);

}  // namespace intarsia::targets::cortex_m
