// The families of rewritings.
#pragma once

#include "legalise/rewrite.h"

namespace intarsia::targets::ethos_n {

// Concatenations, splits, slices and permutations of any rank.
std::optional<Rewriting> rewrite_move(const graph::Function& function, const graph::Node& node);

// Sums, differences and products with constants of each channel, or one; differences.
std::optional<Rewriting> rewrite_arithmetic(const graph::Module& module,
                                            const graph::Function& function,
                                            const graph::Node& node);

// An image of as many elements: rows of eight columns where there are eight.
Shape flat_shape(int64_t elements);
// The shape, where it is an image's, or else a flat one.
Shape as_image(const Shape& shape);

}  // namespace intarsia::targets::ethos_n
