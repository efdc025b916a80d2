// Element-wise operators of two operands.
#pragma once

#include <functional>

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

// Null when the NPU can pair the operands: it broadcasts the second one only. Where both repeat, the first or
// the second is copied into the output's shape.
Reason refuses_pairing(const Site& site);

// Whether the sum or difference is at most a step from TFLite's where the NPU may round it itself (LegaliseOptions::rounds_sums).
bool is_rounded_sum(const Site& site);

struct Operands {
  Operand a, b, out;
};
// To read and to write, with the copies that pairing them needs.
Operands operands_of(Builder& builder, const graph::Node& node);

// One operation, or one per image where the images of an operand repeat. A constant operand of one
// element becomes a scalar unless the operands are wider than the node's. `complete` sees every
// operation with its operands, after it was decided whether they are reversed.
void emit_binary(Builder& builder, const graph::Node& node, OperationKind kind,
                 const Operands& operands, const std::function<void(Operation&)>& complete);

// Bands of rows, or of a single row columns, of which as many values at once as `widened` says take no more memory on 32 bits than
// the result does. An operand that repeats along these stays as it is. Where none does, pixels may be others than the
// operands' own.
void in_bands(Builder& builder, const Operands& all,
              const std::function<void(const Operands&)>& emit, int64_t widened = 2);

// The same of an operator that does not mind which operand comes first: `a` is the one that does not repeat. Images whose
// operand repeats are bands of their own.
void in_symmetric_bands(Builder& builder, const graph::Node& node, const Operands& all,
                        const std::function<void(const Operands&, bool swapped)>& emit);

}  // namespace intarsia::targets::ethos_u
