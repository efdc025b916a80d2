#include "intarsia/targets/ethos_u/shram_needs.h"

#include <algorithm>

#include "intarsia/targets/ethos_u/blocks.h"
#include "intarsia/targets/ethos_u/rounding.h"

namespace intarsia::simulators::ethos_u {
namespace {

using isa::ethos_u::ceil_div;
using isa::ethos_u::round_up;

// Two buffers of `bytes` in whole banks and granules.
int32_t doubled(int64_t bytes, int32_t granule) {
  return static_cast<int32_t>(round_up(2 * ceil_div(bytes, kShramBankBytes), granule));
}

int32_t ifm_granule(const Granules& granules, int32_t bytes, bool elementwise) {
  if (bytes == 4) return granules.ifm32;
  if (bytes == 2) return elementwise ? granules.ifm16_elementwise : granules.ifm16;
  return elementwise ? granules.ifm8_elementwise : granules.ifm8;
}

}  // namespace

Block ifm_block_of(const Operation& op, const Configuration& configuration) {
  const bool elementwise = op.kind == OperationKind::Elementwise;
  const int32_t factor = op.upscale == Upscale::None ? 1 : 2;
  const int32_t nearest = op.upscale == Upscale::Nearest ? 1 : 0;
  // A sub-kernel is at most eight taps, counted with dilation, high and wide.
  const auto extent = [&](int32_t block, int32_t stride, int32_t window, int64_t most,
                          int32_t ublock) {
    const int64_t seen = (block - 1) * stride + std::min<int64_t>(window, most) + nearest;
    return static_cast<int32_t>(round_up(ceil_div(seen, factor), ublock));
  };
  Block block;
  block.width = extent(op.ofm_block.width, elementwise ? 1 : op.kernel.stride_x,
                       elementwise ? 1 : op.kernel.extent_x(), kSubKernelMaxWidth,
                       configuration.ofm_ublock.width);
  block.height = extent(op.ofm_block.height, elementwise ? 1 : op.kernel.stride_y,
                        elementwise ? 1 : op.kernel.extent_y(), kSubKernelMaxHeight,
                        configuration.ofm_ublock.height);
  block.depth = ifm_block_depth(op);
  return block;
}

ShramNeeds shram_needs(const Operation& op, const Configuration& configuration) {
  ShramNeeds needs;
  const bool elementwise = op.kind == OperationKind::Elementwise;
  const bool has_table = op.activation.function == ActivationFunction::Table;
  const int32_t reserved = configuration.shram_kib > kShramBanksWithoutReserve
                               ? static_cast<int32_t>(kShramReservedEndBanks)
                               : 0;
  const auto table_banks = static_cast<int32_t>(kLutBytes / kShramBankBytes);
  needs.end = configuration.shram_kib - std::max(reserved, has_table ? table_banks : 0);

  const auto buffer = [&](const FeatureMap& map) {
    const Block block = ifm_block_of(op, configuration);
    const int32_t bytes = element_bytes(map.type);
    return doubled(int64_t{block.width} * block.height * round_up(int64_t{block.depth} * bytes, 8),
                   ifm_granule(configuration.granules, bytes, elementwise));
  };
  needs.ifm = buffer(op.ifm);
  if (op.has_ifm2) needs.ifm2 = buffer(op.ifm2);
  if (!elementwise) {
    Block block = op.ofm_block;
    // One row of output on micro-blocks of two rows: the accumulators of the other row are not needed.
    if (configuration.ofm_ublock.height == 2 && op.ofm.height == 1 && op.kernel.height == 1)
      block.height = 1;
    const bool wide = op.accumulators == AccumulatorFormat::I40;
    const int64_t bits = wide ? 40 : op.accumulators == AccumulatorFormat::F16 ? 16 : 32;
    const Granules& granules = configuration.granules;
    needs.accumulators =
        doubled(int64_t{block.width} * block.height * round_up(block.depth, 8) * bits / 8,
                wide         ? granules.acc40
                : bits == 16 ? granules.acc16
                             : granules.acc32);
  }
  return needs;
}

uint64_t shram_used(const Operation& op, const Configuration& configuration) {
  const ShramNeeds needs = shram_needs(op, configuration);
  const int32_t top = op.kind == OperationKind::Elementwise
                          ? op.shram.ifm_ib_end
                          : std::max(op.shram.ifm_ib_end, op.shram.ab_start + needs.accumulators);
  return static_cast<uint64_t>(std::min<int64_t>(top, configuration.shram_kib)) * kShramBankBytes;
}

}  // namespace intarsia::simulators::ethos_u
