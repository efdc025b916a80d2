// Resizing of images: what the members of the family share.
#pragma once

#include <cstdint>
#include <vector>

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

inline constexpr int64_t kResizeOne = 1 << 10;  // weights of neighbours, as TFLite counts them

struct Neighbours {
  int64_t low, high, weight;  // of `high`; none for the nearest neighbour
};
// Of each output element along an axis.
std::vector<Neighbours> neighbours_along(const Site& site, size_t axis);

// resize_lines.cpp: any sizes, one axis after the other. Copies for the nearest neighbour; else the sums of both axes on 32
// bits, which are rounded once, at the end, as TFLite does.
Reason refuses_resize_by_lines(const Site& site);
void resize_by_lines(Builder& builder, const graph::Node& node);

}  // namespace intarsia::targets::ethos_u
