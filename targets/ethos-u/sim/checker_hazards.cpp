#include "intarsia/targets/ethos_u/checker_hazards.h"

#include <algorithm>

#include "intarsia/targets/ethos_u/blocks.h"
#include "intarsia/targets/ethos_u/checker_memory.h"
#include "intarsia/targets/ethos_u/command_text.h"
#include "intarsia/targets/ethos_u/shram_needs.h"

namespace intarsia::simulators::ethos_u {
namespace {

constexpr uint32_t kShram = static_cast<uint32_t>(kRegions);  // as if it were one more region

struct Side {  // of a transfer
  uint32_t region;
  ByteRange range;
};
Side source_of(const DmaTransfer& dma) {
  return {dma.source_internal ? kShram : dma.source_region, {dma.source, dma.source + dma.length}};
}
Side target_of(const DmaTransfer& dma) {
  return {dma.target_internal ? kShram : dma.target_region, {dma.target, dma.target + dma.length}};
}

bool uses_table(const Operation& op) {
  return op.activation.function == ActivationFunction::Table;
}

// What of the operation's reads the range meets; null: nothing.
const char* met_read(const Operation& op, const Configuration& configuration, const Side& side) {
  if (part_meets(op.ifm, whole(op.ifm), side.region, side.range)) return "the IFM";
  if (op.has_ifm2 && part_meets(op.ifm2, whole(op.ifm2), side.region, side.range)) return "IFM2";
  if (op.has_weights())
    for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
      const Range &weights = op.weights[core], &scales = op.scales[core];
      if (op.weight_region == side.region &&
          side.range.overlaps({weights.base, weights.base + weights.length}))
        return "the weights";
      if (op.scale_region == side.region &&
          side.range.overlaps({scales.base, scales.base + scales.length}))
        return "the scales";
    }
  if (side.region == kShram && uses_table(op) &&
      side.range.overlaps(table_range(op, configuration)))
    return "the look-up table";
  return nullptr;
}

const char* met_write(const Operation& op, const Configuration& configuration, const Side& side) {
  if (part_meets(op.ofm, whole(op.ofm), side.region, side.range)) return "the OFM";
  if (side.region == kShram && side.range.overlaps({0, shram_used(op, configuration)}))
    return "the SHRAM buffers";
  return nullptr;
}

}  // namespace

bool Hazards::conflict(const Operation& op, const DmaTransfer& dma, std::string& what) const {
  const auto complain = [&](const char* part, const char* side) {
    what = std::string(part) + " of OP at " + hex(op.offset) + " and the " + side +
           " of OP_DMA_START at " + hex(dma.offset) + " share bytes";
    return true;
  };
  const Side source = source_of(dma), target = target_of(dma);
  if (const char* part = met_read(op, configuration_, target)) return complain(part, "target");
  if (const char* part = met_write(op, configuration_, target)) return complain(part, "target");
  if (const char* part = met_write(op, configuration_, source)) return complain(part, "source");
  return false;
}

void Hazards::start(const Operation& op, const Report& report) {
  std::string what;
  for (const DmaTransfer& dma : transfers_)
    if (conflict(op, dma, what))
      report(FindingKind::MissingDmaWait,
             what + "; the transfer may still be under way without an OP_DMA_WAIT");
  if (!operations_.empty()) check_block_dependency(operations_.back(), op, report);
  operations_.push_back(op);
  if (operations_.size() > configuration_.row().outstanding_kernels) operations_.pop_front();
}

void Hazards::start(const DmaTransfer& dma, const Report& report) {
  std::string what;
  for (const Operation& op : operations_)
    if (conflict(op, dma, what))
      report(FindingKind::MissingKernelWait,
             what + "; the operation may still be under way without an OP_KERNEL_WAIT");
  transfers_.push_back(dma);
  if (transfers_.size() > configuration_.row().outstanding_dma) transfers_.pop_front();
}

void Hazards::wait(const Wait& wait) {
  const auto left = static_cast<size_t>(std::max(0, wait.outstanding));
  if (wait.kind == WaitKind::Kernel)
    while (operations_.size() > left) operations_.pop_front();
  else
    while (transfers_.size() > left) transfers_.pop_front();
}

int32_t largest_blockdep(const Operation& before, const Operation& op, int32_t most) {
  const Blocks written(before), read(op);
  for (int32_t allowed = 0; allowed < most; ++allowed)
    // With allowed + 1 incomplete, job `job` could meet the block that is `behind` from the last.
    for (int32_t job = 0; job <= allowed && job < read.job_count(); ++job) {
      const int32_t behind = allowed - job;
      if (behind >= written.count()) continue;
      const Box box = written.ofm(written.count() - 1 - behind);
      if (parts_meet(op.ifm, read.ifm(job), before.ofm, box)) return allowed;
      if (op.has_ifm2 && parts_meet(op.ifm2, read.ifm2(job), before.ofm, box)) return allowed;
    }
  return most;
}

void Hazards::check_block_dependency(const Operation& before, const Operation& op,
                                     const Report& report) const {
  if (op.blockdep == 0) return;
  // Without banks that are kept free the next operation's buffers may take the table's place.
  if (uses_table(before) && !uses_table(op) &&
      table_range(before, configuration_).overlaps({0, shram_used(op, configuration_)})) {
    report(FindingKind::BlockDependency,
           "BLOCKDEP is " + std::to_string(op.blockdep) +
               "; buffers of this operation overwrite the table that OP at " + hex(before.offset) +
               " may still need: it must be 0");
    return;
  }
  const int32_t largest = largest_blockdep(before, op, op.blockdep);
  if (largest < op.blockdep)
    report(FindingKind::BlockDependency,
           "BLOCKDEP is " + std::to_string(op.blockdep) + " and input of the first " +
               std::to_string(op.blockdep) + " blocks comes from the last blocks of OP at " +
               hex(before.offset) + ": it may be " + std::to_string(largest) + " at most");
}

}  // namespace intarsia::simulators::ethos_u
