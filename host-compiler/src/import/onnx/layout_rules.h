// How each kind of operator behaves when the axes of its operands are in another order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::onnx {

// Axis i of a tensor is axis order[i] of what is stored.
using AxisOrder = std::vector<int64_t>;

AxisOrder natural_order(size_t rank);

// Elements by themselves, any number of operands that broadcast.
bool is_elementwise(graph::OpKind kind);

// The operator in terms of the stored axes of its operands, all of which have `order`.
struct Reordered {
  graph::Attributes attributes;
  AxisOrder output;  // of the result
};

// Nothing when the operator needs its axes in their own order. `rank` is that of the first operand.
std::optional<Reordered> reordered(const graph::Node& node, size_t rank, const AxisOrder& order);

}  // namespace intarsia::onnx
