// Constants with a scale for each block of neighbouring elements, as language models' weights are quantised.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::tflite {

// What there is of each block: a tensor of the constant's rank, in which a block is one element.
struct BlockNumbers {
  Shape shape;
  std::vector<float> values;
};

// scale * (value - zero point), in single precision, as bytes of float32. `block_size`: elements of a block, all along one
// axis. Without zero points they are 0. "", or what is wrong.
std::string read_blocks(std::span<const int8_t> values, const Shape& shape, int64_t block_size,
                        const BlockNumbers& scales, const BlockNumbers& zero_points,
                        std::vector<uint8_t>& reals);

}  // namespace intarsia::tflite
