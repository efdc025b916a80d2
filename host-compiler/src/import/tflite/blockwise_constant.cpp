#include "import/tflite/blockwise_constant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

namespace intarsia::tflite {

namespace {

// Whether `blocks` has one element for each `block_size` of `shape` along one axis, and for each index of the others.
bool is_of_blocks(const Shape& shape, int64_t block_size, const Shape& blocks) {
  if (block_size < 1 || blocks.size() != shape.size()) return false;
  bool is_divided = block_size == 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (blocks[axis] == shape[axis]) continue;
    if (is_divided || blocks[axis] * block_size != shape[axis]) return false;
    is_divided = true;
  }
  return is_divided;
}

// The block that holds an element.
size_t block_of(size_t element, const Shape& shape, const Shape& blocks) {
  auto rest = static_cast<int64_t>(element), place = int64_t{0}, step = int64_t{1};
  for (size_t axis = shape.size(); axis-- > 0;) {
    place += rest % shape[axis] / (shape[axis] / blocks[axis]) * step;
    rest /= shape[axis];
    step *= blocks[axis];
  }
  return static_cast<size_t>(place);
}

}  // namespace

std::string read_blocks(std::span<const int8_t> values, const Shape& shape, int64_t block_size,
                        const BlockNumbers& scales, const BlockNumbers& zero_points,
                        std::vector<uint8_t>& reals) {
  const bool has_zeros = !zero_points.values.empty();
  for (const BlockNumbers* numbers : {&scales, &zero_points}) {
    if (numbers == &zero_points && !has_zeros) continue;
    if (!is_of_blocks(shape, block_size, numbers->shape)) {
      return fmt::format("has {} [{}] for blocks of {} elements of [{}]",
                         numbers == &scales ? "scales" : "zero points",
                         fmt::join(numbers->shape, ","), block_size, fmt::join(shape, ","));
    }
  }
  for (size_t i = 0; i < scales.values.size(); ++i) {
    if (!std::isfinite(scales.values[i]))
      return fmt::format("has the scale {} of block {}, which is not finite", scales.values[i], i);
  }
  reals.resize(values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t block = block_of(i, shape, scales.shape);
    const float zero = has_zeros ? zero_points.values[block] : 0.0f;
    const float real = scales.values[block] * (static_cast<float>(values[i]) - zero);
    std::memcpy(&reals[i * sizeof real], &real, sizeof real);
  }
  return "";
}

}  // namespace intarsia::tflite
