// Element-wise operators one of whose operands repeats along some axes, as calls of the kernel for a row.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kernels.h"

namespace intarsia::targets::cortex_m {

// A call and what is around its loop take as long as some tens of elements: rows that are shorter than this many are
// laid out several times. More would be copied for nothing.
constexpr int64_t kLongRow = 128;

// Neighbouring axes of the result that an operand has too, or repeats along.
struct RepeatedAxis {
  bool repeats;
  int64_t extent;
};
// How `part` repeats to fill `whole`, outermost first; none where it does not. Without axes of extent 1.
std::optional<std::vector<RepeatedAxis>> repeated_axes(const Shape& part, const Shape& whole);

// A kernel that takes rows of both operands and of the result, and its numbers for a count of elements. The result may be an operand:
// its name begins with intarsia_each_ (host-compiler/src/tir/verify_in_place.cpp).
struct RowKernel {
  std::string name;
  std::function<std::vector<int64_t>(int64_t count)> numbers;
};
// Operand `part` (0 or 1) repeats as `axes` say, the other one has the result's shape. Short rows, and single elements that
// repeat, are laid out in scratch first, as often as is worth a call.
tir::Stmt call_by_rows(OpLowering& op, const RowKernel& kernel, size_t part,
                       const std::vector<RepeatedAxis>& axes);

}  // namespace intarsia::targets::cortex_m
