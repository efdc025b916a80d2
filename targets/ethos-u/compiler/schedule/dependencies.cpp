#include "schedule/dependencies.h"

#include "commands/stream_operation.h"
#include "commands/waits.h"
#include "schedule/units.h"

namespace intarsia::targets::ethos_u {
namespace {

PlacedMap placed(const FeatureMap& map) {
  PlacedMap result;
  result.region = map.span.storage;
  result.bases = {map.base, map.right_tile().value_or(kNoTile), map.lower_tile().value_or(kNoTile),
                  kNoTile};
  result.tile_height = map.tile_height();
  result.tile_width = map.tile_width();
  result.stride_y = map.stride_y;
  result.stride_x = map.stride_x;
  result.stride_c = map.stride_c;
  result.element_bytes = element_bytes(map.type);
  result.bricks = map.layout == Layout::Nhcwb16;
  result.extent = map.extent;
  result.range = {map.span.storage, map.span.offset, map.span.offset + map.span.bytes};
  return result;
}

StreamOperation view_of(const Operation& operation, const Unit& unit, const BlockConfig& block) {
  StreamOperation result;
  result.ifm = placed(unit.ifm);
  result.ofm = placed(unit.ofm);
  if (unit.ifm2) result.ifm2 = placed(*unit.ifm2);
  result.ofm_block = block.ofm;
  result.sums_depth =
      operation.kind == OperationKind::Conv || operation.kind == OperationKind::ReduceSum;
  result.elementwise = is_elementwise(operation.kind);
  result.uses_lut = operation.activation == Activation::Lut;
  const Kernel& kernel = operation.kernel;
  result.kernel_height = int64_t{kernel.height - 1} * kernel.dilation_y + 1;
  result.kernel_width = int64_t{kernel.width - 1} * kernel.dilation_x + 1;
  result.stride_y = kernel.stride_y;
  result.stride_x = kernel.stride_x;
  result.upscale = operation.upscale == Upscale::None ? 1 : 2;
  result.pad_top = unit.pads.top;
  result.pad_left = unit.pads.left;
  return result;
}

}  // namespace

bool unit_waits_for_last(const Hardware& hardware, const Operation& before_operation,
                         const Unit& before, const BlockConfig& before_block,
                         const Operation& operation, const Unit& unit, const BlockConfig& block) {
  return waits_for_last_block(hardware, view_of(before_operation, before, before_block),
                              view_of(operation, unit, block));
}

}  // namespace intarsia::targets::ethos_u
