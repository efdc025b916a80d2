#include "schedule/feature_map.h"

#include "hardware/hardware.h"
#include "intarsia/npu/map_layout.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "schedule/cascade.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr npu::MapLayout kLayouts[] = {npu::kLinearLayout, {1, 1, kBrickDepth}};  // by Layout

int64_t bricks(int64_t channels) {
  return ceil_div(channels, kBrickDepth);
}

// Rows of a rolling buffer, or columns of one of a single row, of `step` bytes each: the first ones up to its end, the rest from
// its beginning. All of it takes `bytes`.
void roll(const TensorPlace& place, const Operand& operand, StripeAxis axis, int64_t step,
          int64_t bytes, FeatureMap& map) {
  if (place.rolling_rows == 0) return;
  const int32_t at = operand.origin.*axis % place.rolling_rows;
  map.base -= (operand.origin.*axis - at) * step;
  map.span = {place.storage, place.offset, bytes};
  if (at + operand.extent.*axis <= place.rolling_rows) return;
  (axis == &Extent::width ? map.wrap_width : map.wrap_height) = place.rolling_rows - at;
  map.wrap_base = map.base - at * step;
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
  const StripeAxis axis = stripe_axis(tensor);
  const bool rolls_columns = place.rolling_rows > 0 && axis == &Extent::width;
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
    INTARSIA_CHECK(place.rolling_rows == 0 || (rolls_columns ? walk.x == pixel : walk.y == line),
                   "rolling buffers are walked over row by row");
    const int64_t step = rolls_columns ? x : y;
    roll(place, operand, axis, step, place.rolling_rows * step, map);
    return map;
  }
  INTARSIA_CHECK(!operand.walk && operand.step == Extent{} && origin.depth % kBrickDepth == 0,
                 "operands in NHCWB16 are boxes of whole bricks");
  const int64_t x = size * kBrickDepth,
                c = x * (rolls_columns ? place.rolling_rows : tensor.extent.width);
  const int64_t y = c * bricks(tensor.extent.depth);
  map.base = place.offset + origin.height * y + origin.depth / kBrickDepth * c + origin.width * x;
  map.stride_y = y;
  map.stride_x = x;
  map.stride_c = c;
  // The last brick is written whole.
  map.span = {place.storage, map.base,
              last.height * y + last.depth / kBrickDepth * c + (last.width + 1) * x};
  roll(place, operand, axis, rolls_columns ? x : y, rolls_columns ? y : place.rolling_rows * y,
       map);
  return map;
}

}  // namespace intarsia::targets::ethos_u
