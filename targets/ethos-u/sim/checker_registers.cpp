#include "intarsia/targets/ethos_u/checker_registers.h"

#include "intarsia/targets/ethos_u/command_text.h"
#include "intarsia/targets/ethos_u/shram_needs.h"

namespace intarsia::simulators::ethos_u {
namespace {

void check_block(const Operation& op, const Configuration& configuration, const Report& report) {
  struct Side {
    const char* name;
    int32_t size, step;
    int64_t most;
  };
  const Block& ublock = configuration.ofm_ublock;
  const Side sides[] = {{"OFM_BLK_WIDTH", op.ofm_block.width, ublock.width, kOfmBlockMaxWidth},
                        {"OFM_BLK_HEIGHT", op.ofm_block.height, ublock.height, kOfmBlockMaxHeight},
                        {"OFM_BLK_DEPTH", op.ofm_block.depth, ublock.depth, kOfmBlockMaxDepth}};
  for (const Side& side : sides) {
    if (side.size % side.step != 0)
      report(FindingKind::BlockConfiguration,
             std::string(side.name) + " is " + std::to_string(side.size) +
                 ", no multiple of the micro-block's " + std::to_string(side.step));
    if (side.size > side.most)
      report(FindingKind::BlockConfiguration, std::string(side.name) + " is " +
                                                  std::to_string(side.size) + ", more than " +
                                                  std::to_string(side.most));
  }
}

void check_shram(const Operation& op, const Configuration& configuration, const Report& report) {
  const ShramNeeds needs = shram_needs(op, configuration);
  const ShramLayout& layout = op.shram;
  const auto complain = [&](const std::string& what) { report(FindingKind::ShramLayout, what); };
  const auto first = static_cast<int32_t>(kShramOutputBanks);
  const std::string block = std::to_string(op.ofm_block.width) + "x" +
                            std::to_string(op.ofm_block.height) + "x" +
                            std::to_string(op.ofm_block.depth);
  if (op.kind == OperationKind::Elementwise) {
    if (op.has_ifm2) {
      if (layout.ifm2_ib_start < first + needs.ifm)
        complain("IFM2_IB_START " + std::to_string(layout.ifm2_ib_start) + " leaves " +
                 std::to_string(layout.ifm2_ib_start - first) +
                 " banks for the IFM, whose blocks need " + std::to_string(needs.ifm));
      if (layout.ifm_ib_end < layout.ifm2_ib_start + needs.ifm2)
        complain("IFM_IB_END " + std::to_string(layout.ifm_ib_end) + " leaves " +
                 std::to_string(layout.ifm_ib_end - layout.ifm2_ib_start) +
                 " banks for IFM2, whose blocks need " + std::to_string(needs.ifm2));
    } else if (layout.ifm_ib_end < first + needs.ifm) {
      complain("IFM_IB_END " + std::to_string(layout.ifm_ib_end) + " leaves " +
               std::to_string(layout.ifm_ib_end - first) +
               " banks for the IFM, whose blocks need " + std::to_string(needs.ifm));
    }
    if (layout.ifm_ib_end > needs.end)
      complain("IFM_IB_END " + std::to_string(layout.ifm_ib_end) + " reaches into the banks from " +
               std::to_string(needs.end) + " on, which blocks may not use");
    return;
  }
  if (layout.ifm_ib_end < first + needs.ifm)
    complain("IFM_IB_END " + std::to_string(layout.ifm_ib_end) + " leaves " +
             std::to_string(layout.ifm_ib_end - first) +
             " banks for the IFM, of which OFM blocks of " + block + " need " +
             std::to_string(needs.ifm));
  if (layout.ab_start < layout.ifm_ib_end)
    complain("AB_START " + std::to_string(layout.ab_start) +
             " lies inside the input buffer, which ends at IFM_IB_END " +
             std::to_string(layout.ifm_ib_end));
  if (layout.ab_start + needs.accumulators > needs.end)
    complain("accumulators from AB_START " + std::to_string(layout.ab_start) + " on need " +
             std::to_string(needs.accumulators) + " banks for OFM blocks of " + block +
             " and may use them up to " + std::to_string(needs.end));
}

void check_map(const char* name, const FeatureMap& map, const Report& report) {
  const auto complain = [&](const std::string& what) {
    report(FindingKind::Alignment, std::string(name) + what);
  };
  const auto bytes = static_cast<uint64_t>(element_bytes(map.type));
  const uint64_t unit = map.brick ? kBrickDepth : bytes;
  const bool has_right = map.width > map.width0;
  const bool uses[4] = {true, has_right, map.height > map.height0,
                        has_right && map.height > map.height1};
  for (size_t tile = 0; tile < 4; ++tile)
    if (uses[tile] && map.base[tile] % unit != 0)
      complain("_BASE" + std::to_string(static_cast<int64_t>(tile)) + " " + hex(map.base[tile]) +
               " is no multiple of " + std::to_string(unit));
  if (map.stride_y % static_cast<int64_t>(unit) != 0)
    complain("_STRIDE_Y " + std::to_string(map.stride_y) + " is no multiple of " +
             std::to_string(unit));
  if (map.brick && map.stride_c % static_cast<int64_t>(unit) != 0)
    complain("_STRIDE_C " + std::to_string(map.stride_c) + " is no multiple of " +
             std::to_string(unit));
  if (!map.brick && map.stride_x % static_cast<int64_t>(unit) != 0)
    complain("_STRIDE_X " + std::to_string(map.stride_x) + " is no multiple of " +
             std::to_string(unit));
}

void check_stream(const char* name, const Range& range, const Report& report) {
  const auto unit = static_cast<uint64_t>(kStreamAlignment);
  if (range.base % unit != 0)
    report(FindingKind::Alignment, std::string(name) + "_BASE " + hex(range.base) +
                                       " is no multiple of " + std::to_string(unit));
  if (range.length % unit != 0)
    report(FindingKind::Alignment, std::string(name) + "_LENGTH " + std::to_string(range.length) +
                                       " is no multiple of " + std::to_string(unit));
}

// A record for every channel of the core, padded to the alignment and no further.
void check_scales(const Operation& op, int32_t core, const Report& report) {
  const auto length = static_cast<int64_t>(op.scales[static_cast<size_t>(core)].length);
  const int64_t channels = (op.ofm.depth + op.cores - 1 - core) / op.cores;
  const int64_t needed = channels * kScaleBytes;
  if (length < needed)
    report(FindingKind::WeightStream, "scales of " + std::to_string(length) +
                                          " bytes are too few for " + std::to_string(channels) +
                                          " channels of core " + std::to_string(core));
  else if (length >= needed + kStreamAlignment)
    report(FindingKind::WeightStream, "scales of " + std::to_string(length) +
                                          " bytes are too many for " + std::to_string(channels) +
                                          " channels of core " + std::to_string(core));
}

void check_values(const Operation& op, const Configuration& configuration, const Report& report) {
  const auto complain = [&](const std::string& what) { report(FindingKind::Registers, what); };
  if (op.activation.minimum > op.activation.maximum)
    complain("ACTIVATION_MIN " + std::to_string(op.activation.minimum) +
             " is more than ACTIVATION_MAX " + std::to_string(op.activation.maximum));
  if (op.kind == OperationKind::Elementwise) return;
  if (op.padding.top >= op.kernel.extent_y() || op.padding.left >= op.kernel.extent_x())
    complain("padding of " + std::to_string(op.padding.top) + " rows and " +
             std::to_string(op.padding.left) + " columns leaves windows of " +
             std::to_string(op.kernel.extent_y()) + "x" + std::to_string(op.kernel.extent_x()) +
             " with nothing else");
  if (op.kind == OperationKind::Pool && op.pooling == PoolingMode::ReduceSum && op.ifm.brick &&
      (op.ifm.type == ElementType::S32 || configuration.cores > 1))
    complain("REDUCE_SUM of this IFM needs NHWC");
  if (op.has_weights() && element_bytes(op.ifm.type) == 1 &&
      op.accumulators == AccumulatorFormat::I40)
    complain("accumulators of 40 bits belong to IFMs of 16");
}

}  // namespace

void check_registers(const Operation& op, const Configuration& configuration,
                     const Report& report) {
  check_block(op, configuration, report);
  check_shram(op, configuration, report);
  check_map("IFM", op.ifm, report);
  if (op.has_ifm2) check_map("IFM2", op.ifm2, report);
  check_map("OFM", op.ofm, report);
  if (op.has_weights())
    for (int32_t core = 0; core < op.cores; ++core) {
      const auto i = static_cast<size_t>(core);
      check_stream(core == 0 ? "WEIGHT" : "WEIGHT1", op.weights[i], report);
      check_stream(core == 0 ? "SCALE" : "SCALE1", op.scales[i], report);
      check_scales(op, core, report);
    }
  check_values(op, configuration, report);
}

void check_registers(const DmaTransfer& dma, const Configuration& configuration,
                     const Report& report) {
  const auto unit = static_cast<uint64_t>(kStreamAlignment);
  // An Ethos-U65 moves bytes; only SHRAM wants them aligned.
  const bool always = configuration.product == Product::U55;
  const auto check = [&](const char* name, uint64_t value) {
    if (value % unit != 0)
      report(FindingKind::Alignment,
             std::string(name) + " " + hex(value) + " is no multiple of " + std::to_string(unit));
  };
  if (always || dma.source_internal) check("DMA0_SRC", dma.source);
  if (always || dma.target_internal) {
    check("DMA0_DST", dma.target);
    check("DMA0_LEN", dma.length);
  }
  if (dma.length == 0) report(FindingKind::Registers, "the transfer has no bytes");
}

}  // namespace intarsia::simulators::ethos_u
