// Networks that are large in one way each: many operators, many readers of one tensor, branches inside
// of branches, many weights.
#pragma once

#include "tflite_builder.h"

namespace intarsia::test {

// i8[1,width] through `operators` fully connected layers of their own weights, one behind the other.
ModelSpec chain_of(int operators, int width = 8);

// i8[1,16,16,16], two of them: each operator adds the two results before it.
ModelSpec sums_of(int operators);

// i8[1,8] read by `branches` operators, whose results become one by a concatenation.
ModelSpec fan_out_to(int branches);

// f32[1]: `depth` operators inside of each other that each run one of two functions, "a" or "b" of the
// next level; both go on there, so that there are 2^depth ways. Way "a" adds 1 on the way down, "b"
// doubles on the way up. Inputs: the value, and one flag for all levels.
ModelSpec branches_within(int depth);

// About `weight_bytes` bytes of weights, as a chain of layers of 1024 x 1024; of the type of the
// weights, with activations of `activations`.
ModelSpec weights_of(int64_t weight_bytes, ElementType weights, ElementType activations);

}  // namespace intarsia::test
