// Arithmetic on whole numbers of the running model: what the IR has of 32 bits, and in several operators what it has not.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

bool is_whole(DataType type);  // i32 and i64

// Numbers of 64 bits as those of 32, which they are computed with: a remark says so. A problem where a known one is larger.
graph::TensorId narrowed(Reader& in, graph::TensorId id);

// Floats that become numbers of 64 bits as those of 32, which a remark says of floats of the running model: the portable C has no
// other conversion. Known ones that have more stay floats.
graph::TensorId whole_floats(Reader& in, graph::TensorId id);

// One number of all along the axis, by halves: Add, Minimum or Maximum. The axis stays, with one element.
graph::TensorId reduced_by_halves(Reader& in, graph::OpKind kind, graph::TensorId id, size_t axis);
// Sums (Add) or products (Mul) from the first element on, by as many steps as the extent has bits.
graph::TensorId running(Reader& in, graph::OpKind kind, graph::TensorId id,
                        const graph::CumsumAttrs& attrs);

// A power by squares. A problem where the exponent is not one known number of 1 to 31.
graph::TensorId whole_power(Reader& in, graph::TensorId base, graph::TensorId exponent);

// Places, counted from the end where they are negative, as places from the beginning: of a tensor with these extents.
graph::TensorId from_beginning(Reader& in, graph::TensorId places,
                               const std::vector<int64_t>& extents);

// Operands of unsigned bytes, constants among them, as the signed bytes 128 less that they are known as: all on one scale, so that
// they have the order of ONNX's. Nothing where one is none.
std::optional<std::vector<graph::TensorId>> as_signed_bytes(Reader& in, size_t operands);

}  // namespace intarsia::onnx
