// Whether the driver stack runs one operator of a graph.
#pragma once

#include <optional>
#include <string>

#include "intarsia/graph.h"
#include "support/support_queries.h"

namespace intarsia::targets::ethos_n {

// An axis of an image; of a vector, whose last axis are the channels, no other but that of images.
int64_t image_axis(const Shape& shape, int64_t axis);

// The queries that an operator amounts to; none: the library has no operation for it. The operator's
// tensors are quantised, of batch 1 and rank 4, or vectors.
std::optional<Query> query_of(const graph::Function& function, const graph::Node& node);

// Why the driver stack does not run the operator: the words of support_reasons.def with the reason's short name behind
// them, or what the operator has that no query can say. Nothing when it is supported.
std::optional<std::string> refuses_by_support(const Variant& variant, const graph::Module& module,
                                              const graph::Function& function,
                                              const graph::Node& node);

}  // namespace intarsia::targets::ethos_n
