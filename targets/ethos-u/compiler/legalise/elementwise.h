// Element-wise operators of two operands.
#pragma once

#include <functional>

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

// Null when the NPU can pair the operands: it broadcasts the second one only. Where both repeat, the first or
// the second is copied into the output's shape.
Reason refuses_pairing(const Site& site);

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

}  // namespace intarsia::targets::ethos_u
