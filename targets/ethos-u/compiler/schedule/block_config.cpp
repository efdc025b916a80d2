#include "schedule/block_config.h"

#include <algorithm>

#include "hardware/ifm_block.h"
#include "hardware/limits.h"
#include "intarsia/npu/block_sizes.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

bool keeps_depth(OperationKind kind) {
  return is_elementwise(kind) || kind == OperationKind::Depthwise ||
         kind == OperationKind::MaxPool || kind == OperationKind::AveragePool;
}

// Input elements along one axis for `count` outputs. A kernel is processed in sub-kernels.
int32_t input_extent(int32_t count, int32_t stride, int32_t kernel, int32_t limit, Upscale upscale,
                     int32_t ublock) {
  const int32_t window = std::min(kernel, limit);
  const int32_t nearest = upscale == Upscale::Nearest ? 1 : 0;
  const int32_t elements = (count - 1) * stride + window + nearest;
  return round_up(ceil_div(elements, upscale == Upscale::None ? 1 : 2), ublock);
}

int32_t banks_of(int64_t bytes, int32_t granule) {
  return round_up(2 * ceil_div(bytes, kShramBankBytes), granule);  // two, to work while loading
}

int32_t ifm_granule(const Hardware& hardware, const BlockRequest& request) {
  const Granules& granules = hardware.granules;
  if (request.ifm_bits == 32) return granules.ifm32;
  if (is_elementwise(request.kind))
    return request.ifm_bits == 16 ? granules.elementwise16 : granules.elementwise8;
  return request.ifm_bits == 16 ? granules.ifm16 : granules.ifm8;
}

std::vector<int32_t> divisions(int32_t extent, int32_t unit, int64_t most) {
  const std::vector<int64_t> sizes = npu::piece_sizes(extent, unit, most);
  return {sizes.begin(), sizes.end()};
}

}  // namespace

BlockRequest block_request(const Operation& operation, DataType ifm_type, const Extent& ofm) {
  BlockRequest request;
  request.kind = operation.kind;
  request.ifm = operation.ifm.extent;
  request.ofm = ofm;
  request.ifm_bits = static_cast<int32_t>(8 * element_bytes(ifm_type));
  request.kernel = operation.kernel;
  request.upscale = operation.upscale;
  request.lut = operation.activation == Activation::Lut;
  request.ifm2_tensor = operation.ifm2.has_value();
  return request;
}

std::optional<BlockConfig> try_block(const Hardware& hardware, const BlockRequest& request,
                                     const Extent& ofm_block, bool part_kernel) {
  const Kernel& kernel = request.kernel;
  const Extent& ublock = hardware.ofm_ublock;
  BlockConfig config;
  config.ofm = ofm_block;
  config.part_kernel = part_kernel;
  config.ifm.height =
      input_extent(ofm_block.height, kernel.stride_y, (kernel.height - 1) * kernel.dilation_y + 1,
                   kSubKernelMaxHeight, request.upscale, ublock.height);
  config.ifm.width =
      input_extent(ofm_block.width, kernel.stride_x, (kernel.width - 1) * kernel.dilation_x + 1,
                   kSubKernelMaxWidth, request.upscale, ublock.width);
  config.ifm.depth = keeps_depth(request.kind)
                         ? ofm_block.depth
                         : static_cast<int32_t>(summed_block_depth(request.ifm.depth,
                                                                   request.ifm_bits, part_kernel));

  const int64_t ifm_bytes = int64_t{config.ifm.height} * config.ifm.width *
                            round_up(int64_t{config.ifm.depth} * request.ifm_bits / 8, 8);
  const int32_t ifm_banks = banks_of(ifm_bytes, ifm_granule(hardware, request));
  const int32_t end = hardware.banks - std::max(request.lut ? 2 : 0, hardware.reserved_banks());
  const int32_t ifm_end = static_cast<int32_t>(kShramOutputBanks) + ifm_banks;
  if (is_elementwise(request.kind)) {
    // No accumulators: what is left is input, of both operands.
    if (ifm_end + (request.ifm2_tensor ? ifm_banks : 0) > end) return std::nullopt;
    config.shram = {end, ifm_end, end};
    return config;
  }
  config.accumulators = accumulators_of(request);
  const bool wide = config.accumulators == AccumulatorFormat::Int40;
  const int64_t acc_bytes =
      int64_t{ofm_block.height} * ofm_block.width * round_up(ofm_block.depth, 8) * (wide ? 5 : 4);
  const int32_t acc_banks =
      banks_of(acc_bytes, wide ? hardware.granules.acc40 : hardware.granules.acc32);
  if (ifm_end > end - acc_banks) return std::nullopt;
  config.shram = {ifm_end, ifm_end, end - acc_banks};
  return config;
}

AccumulatorFormat accumulators_of(const BlockRequest& request) {
  const bool wide = request.ifm_bits == 16 && has_weights(request.kind);
  return wide ? AccumulatorFormat::Int40 : AccumulatorFormat::Int32;
}

BlockSizes block_sizes(const Hardware& hardware, const BlockRequest& request) {
  const Extent& ublock = hardware.ofm_ublock;
  BlockSizes sizes;
  // Blocks of part of the depth are multiples of the depth at which the hardware divides.
  for (const int32_t depth : divisions(request.ofm.depth, ublock.depth, kOfmBlockMaxDepth)) {
    const int32_t whole =
        depth < request.ofm.depth
            ? std::min<int32_t>(round_up(depth, static_cast<int32_t>(kSplitDepth)),
                                kOfmBlockMaxDepth)
            : depth;
    if (sizes.depths.empty() || sizes.depths.back() != whole) sizes.depths.push_back(whole);
  }
  sizes.heights = divisions(request.ofm.height, ublock.height, kOfmBlockMaxHeight);
  sizes.widths = divisions(request.ofm.width, ublock.width, kOfmBlockMaxWidth);
  if (request.kind == OperationKind::Conv && request.ifm.depth <= 8)
    sizes.part_kernel = {true};
  else if (request.kind == OperationKind::Conv)
    sizes.part_kernel = {false, true};
  else
    sizes.part_kernel = {false};
  return sizes;
}

}  // namespace intarsia::targets::ethos_u
