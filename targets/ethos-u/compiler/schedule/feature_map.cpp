#include "schedule/feature_map.h"

#include "hardware/hardware.h"
#include "intarsia/npu/map_layout.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr npu::MapLayout kLayouts[] = {npu::kLinearLayout, {1, 1, kBrickDepth}};  // by Layout

int64_t bricks(int64_t channels) {
  return ceil_div(channels, kBrickDepth);
}

// Rows of a rolling buffer, of `y` bytes each: the upper ones up to its end, the rest from its beginning.
void roll(const TensorPlace& place, const Operand& operand, int64_t y, FeatureMap& map) {
  if (place.rolling_rows == 0) return;
  const int32_t row = operand.origin.height % place.rolling_rows;
  map.base -= (operand.origin.height - row) * y;
  map.span = {place.storage, place.offset, place.rolling_rows * y};
  if (row + operand.extent.height <= place.rolling_rows) return;
  map.wrap_height = place.rolling_rows - row;
  map.wrap_base = map.base - row * y;
}

}  // namespace

int64_t stored_bytes(const Extent& extent, DataType type, Layout layout) {
  return kLayouts[static_cast<size_t>(layout)].stored_elements(extent.height, extent.width,
                                                               extent.depth) *
         element_bytes(type);
}

FeatureMap feature_map(const NpuTensor& tensor, const Operand& operand, const TensorPlace& place) {
  const int64_t size = element_bytes(tensor.type);
  FeatureMap map;
  map.type = tensor.type;
  map.layout = place.layout;
  map.extent = operand.extent;
  map.zero_point = operand.zero_point;
  const Extent& origin = operand.origin;
  const Extent last = {(operand.extent.height - 1) * operand.step.height,
                       (operand.extent.width - 1) * operand.step.width,
                       (operand.extent.depth - 1) * operand.step.depth};
  if (place.layout == Layout::Nhwc) {
    INTARSIA_CHECK(operand.step.depth == 1 || operand.extent.depth == 1,
                   "channels of an operand are neighbours");
    const int64_t pixel = tensor.extent.depth, line = pixel * tensor.extent.width;
    const Walk walk = operand.walk.value_or(Walk{line, pixel});
    const int64_t x = size * walk.x, y = size * walk.y;
    map.base = place.offset + origin.height * y + origin.width * x + origin.depth * size;
    map.stride_y = y * operand.step.height;
    map.stride_x = x * operand.step.width;
    map.stride_c = size;
    map.span = {place.storage, map.base,
                last.height * y + last.width * x + (last.depth + 1) * size};
    INTARSIA_CHECK(place.rolling_rows == 0 || walk.y == line,
                   "rolling buffers are walked over row by row");
    roll(place, operand, y, map);
    return map;
  }
  INTARSIA_CHECK(!operand.walk && operand.step == Extent{} && origin.depth % kBrickDepth == 0,
                 "operands in NHCWB16 are boxes of whole bricks");
  const int64_t x = size * kBrickDepth, c = x * tensor.extent.width;
  const int64_t y = c * bricks(tensor.extent.depth);
  map.base = place.offset + origin.height * y + origin.depth / kBrickDepth * c + origin.width * x;
  map.stride_y = y;
  map.stride_x = x;
  map.stride_c = c;
  // The last brick is written whole.
  map.span = {place.storage, map.base,
              last.height * y + last.depth / kBrickDepth * c + (last.width + 1) * x};
  roll(place, operand, y, map);
  return map;
}

}  // namespace intarsia::targets::ethos_u
