// What operators on rows share, softmax of int8 and its logarithm above all: differences to a row's largest element in gemmlowp's fixed point, their
// exponentials, and the reciprocal by three steps of Newton and Raphson.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "legalise/operators.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {

inline constexpr int kScaledDiffIntegerBits = 5;     // differences in Q5.26
inline constexpr int kAccumulationIntegerBits = 12;  // sums in Q12.19
inline constexpr int64_t kMostSoftmaxDepth = 4095;   // sums below 2^12

// Fixed-point values as the host computes them for tables: TFLite's rounded high half.
int32_t high_product(int32_t a, int32_t b);

// From steps of an input into Q5.26; what is further below the largest than `least` is nothing.
struct SoftmaxDifferences {
  FixedFactor factor;
  int64_t least = 0;
};
SoftmaxDifferences softmax_differences(double steps);
// Entry i is e^(steps * (i - 255)) in Q0.31.
std::vector<int32_t> softmax_exponentials(const SoftmaxDifferences& differences);

// 1 / half in Q0.31, for 1/2 <= half <= 1 in Q0.31, as the commands compute it that `emit_reciprocals` makes: these leave
// it in Q2.29.
int32_t reciprocal_of(int32_t half);
Operand emit_reciprocals(Builder& builder, const Operand& half);

// Rows as pixels that follow each other in memory: two lines of them where that is possible, as the output unit makes two at a time.
// One row below the other would be read a few bytes at a time.
Extent extent_of_rows(int32_t rows, int32_t depth);
// A number for each of them.
inline Extent one_of_each_row(const Extent& rows) {
  return {rows.height, rows.width, 1};
}

// Of each row.
Operand emit_largest(Builder& builder, const Operand& in);
// The table's words by the difference to it, the last one for the largest itself.
Operand look_up_below(Builder& builder, const char* name, const Operand& in, const Operand& largest,
                      int32_t table);

// Of the node's rows: the last axis. Values of 32 bits take four times the memory of the operands, and there are two of them for
// each element: rows that are many go in eighths. A band has as many as its numbers for each row take to be worth their commands.
void emit_in_bands_of_rows(Builder& builder, const graph::Node& node,
                           const std::function<void(const Operand& in, const Operand& out)>& emit);

}  // namespace intarsia::targets::ethos_u
