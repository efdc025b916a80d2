#include "intarsia/targets/ethos_u85/checker.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "intarsia/targets/ethos_u85/block_hazards.h"
#include "intarsia/targets/ethos_u85/output_stage.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

// OP_DMA_WAIT counts up to 3, OP_KERNEL_WAIT up to 1: one more may be under way.
constexpr size_t kMostTransfers = 4, kMostOperations = 2;
// Maps and regions that are larger are not looked through.
constexpr int64_t kMostElements = int64_t{1} << 24;
constexpr int64_t kMostParts = int64_t{1} << 18;
constexpr uint64_t kMostBytes = uint64_t{1} << 28;
constexpr uint64_t kUnit = 16;  // of weights and scales

bool is_huge(const FeatureMap& map) {
  return int64_t{map.height} * map.width > kMostElements / map.depth;
}

std::string in_hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string place_text(uint32_t region, const ByteRange& range) {
  return "bytes " + in_hex(range.first) + " to " + in_hex(range.end) + " of " +
         (region == kTableMemory ? "the memory of tables" : "region " + std::to_string(region));
}

// The parts of an input that decide the result.
std::vector<ethos_u::Box> read_parts(const Operation& op, const FeatureMap& map) {
  const bool has_windows =
      op.kind != OperationKind::Elementwise && op.kind != OperationKind::Resize;
  if (!has_windows) return {ethos_u::whole(map)};
  const Kernel& kernel = op.kernel;
  const auto none = ethos_u::Upscale::None;
  const auto rows =
      ethos_u::used_positions(op.ofm_height, kernel.stride_y, kernel.height, kernel.dilation_y,
                              op.padding.top, map.height, none, map.height, kMostElements);
  const auto columns =
      ethos_u::used_positions(op.ofm_width, kernel.stride_x, kernel.width, kernel.dilation_x,
                              op.padding.left, map.width, none, map.width, kMostElements);
  if (static_cast<int64_t>(rows.size() * columns.size()) > kMostParts) return {ethos_u::whole(map)};
  std::vector<ethos_u::Box> boxes;
  for (const ethos_u::Span& y : rows)
    for (const ethos_u::Span& x : columns)
      boxes.push_back({y.first, y.end, x.first, x.end, 0, map.depth});
  return boxes;
}

Access range_access(std::string what, uint32_t region, uint64_t base, uint64_t length) {
  Access access;
  access.what = std::move(what);
  access.region = region;
  access.range = {base, base + length};
  return access;
}

Access map_access(std::string what, const FeatureMap& map, std::vector<ethos_u::Box> parts) {
  Access access;
  access.what = std::move(what);
  access.region = map.region;
  access.map = map;
  access.parts = std::move(parts);
  return access;
}

}  // namespace

bool Access::meets(const Access& transferred) const {
  if (region != transferred.region) return false;
  if (!map) return range.overlaps(transferred.range);
  if (is_huge(*map)) return false;
  for (const ethos_u::Box& part : parts)
    if (ethos_u::part_meets(*map, part, transferred.region, transferred.range)) return true;
  return false;
}

Accesses accesses_of(const Operation& op) {
  Accesses accesses;
  accesses.offset = op.offset;
  auto& reads = accesses.reads;
  if (op.ifm.in_memory())
    reads.push_back(map_access("the IFM", op.ifm.map, read_parts(op, op.ifm.map)));
  if (op.has_ifm2 && op.ifm2.in_memory())
    reads.push_back(map_access("IFM2", op.ifm2.map, {ethos_u::whole(op.ifm2.map)}));
  if (op.has_weights())
    for (const Range& range : op.weights)
      if (range.length > 0)
        reads.push_back(range_access("the weights", op.weight_region, range.base, range.length));
  if (op.has_scales() && op.scales.length > 0)
    reads.push_back(range_access("the scales", op.scale_region, op.scales.base, op.scales.length));
  if (const Range table = OutputStage::table_of(op); table.length > 0)
    reads.push_back(range_access("the table", kTableMemory, table.base, table.length));
  if (op.ofm.in_memory())
    accesses.writes.push_back(map_access("the OFM", op.ofm.map, {ethos_u::whole(op.ofm.map)}));
  return accesses;
}

Accesses accesses_of(const DmaTransfer& dma, const Memory& memory) {
  Accesses accesses;
  accesses.offset = dma.offset;
  const bool indexed = dma.source_indexed || dma.target_indexed;
  if (indexed)
    accesses.reads.push_back(
        range_access("the indices", dma.index_region, dma.indices, uint64_t{4} * dma.size0));
  const uint32_t source = dma.source_internal ? kTableMemory : dma.source_region,
                 target = dma.target_internal ? kTableMemory : dma.target_region;
  for (uint32_t n1 = 0; n1 < dma.size1; ++n1)
    for (uint32_t n0 = 0; n0 < dma.size0; ++n0) {
      int64_t from = n0, to = n0;
      if (indexed) {
        const uint8_t* bytes = memory.read(dma.index_region, dma.indices + uint64_t{4} * n0, 4);
        if (bytes == nullptr) return accesses;  // a fault, which the run reports
        int32_t index;
        std::memcpy(&index, bytes, 4);
        (dma.source_indexed ? from : to) = index;
      }
      const auto base = [&](uint64_t first, int64_t n, int64_t stride0, int64_t stride1) {
        return first + static_cast<uint64_t>(n * stride0 + n1 * stride1);
      };
      accesses.reads.push_back(
          range_access("the source", source,
                       base(dma.source, from, dma.source_stride0, dma.source_stride1), dma.length));
      accesses.reads.back().is_copied = true;
      accesses.writes.push_back(
          range_access("the target", target,
                       base(dma.target, to, dma.target_stride0, dma.target_stride1), dma.length));
    }
  return accesses;
}

Checker::Checker(std::span<const uint8_t> stream, const Configuration* configuration)
    : stream_(stream), configuration_(configuration) {
  forget(kTableMemory, kTableMemoryBytes);
}

void Checker::report(FindingKind kind, std::string what) {
  findings_.add({kind, offset_, command_, "", std::move(what)});
}

void Checker::forget(uint32_t region, uint64_t bytes) {
  if (region < written_.size() && bytes <= kMostBytes)
    written_[region] = std::vector<uint8_t>(static_cast<size_t>(bytes));
}

void Checker::set(uint32_t region, uint64_t offset, uint64_t bytes) {
  if (region >= written_.size() || !written_[region]) return;
  std::vector<uint8_t>& shadow = *written_[region];
  const uint64_t end = std::min<uint64_t>(offset + bytes, shadow.size());
  if (offset < end) std::memset(shadow.data() + offset, 1, static_cast<size_t>(end - offset));
}

void Checker::set_written(uint32_t region, const std::vector<uint8_t>& written) {
  if (region >= written_.size() || !written_[region]) return;
  std::vector<uint8_t>& shadow = *written_[region];
  for (size_t i = 0; i < std::min(shadow.size(), written.size()); ++i) shadow[i] |= written[i];
}

const std::vector<uint8_t>* Checker::shadow_of(uint32_t region, const ByteRange& range) const {
  if (region >= written_.size() || !written_[region]) return nullptr;
  const std::vector<uint8_t>& shadow = *written_[region];
  // What lies outside is the run's business.
  return range.end > shadow.size() || range.first >= range.end ? nullptr : &shadow;
}

bool Checker::is_written(uint32_t region, const ByteRange& range) const {
  const std::vector<uint8_t>* shadow = shadow_of(region, range);
  return shadow == nullptr || std::memchr(shadow->data() + range.first, 0,
                                          static_cast<size_t>(range.end - range.first)) == nullptr;
}

void Checker::check_reads(const Accesses& accesses) {
  for (const Access& access : accesses.reads) {
    const auto check = [&](const ByteRange& range) {
      if (is_written(access.region, range)) return true;
      // Transfers are of whole units, of which a tensor may fill a part.
      const std::vector<uint8_t>* shadow = shadow_of(access.region, range);
      if (access.is_copied && std::memchr(shadow->data() + range.first, 1,
                                          static_cast<size_t>(range.end - range.first)) != nullptr)
        return true;
      report(
          access.region == kTableMemory ? FindingKind::LookUpTable : FindingKind::UninitialisedRead,
          access.what + " takes " + place_text(access.region, range) +
              ", of which nothing wrote all");
      return false;
    };
    if (!access.map) {
      check(access.range);
      continue;
    }
    const FeatureMap& map = *access.map;
    if (is_huge(map)) continue;
    for (const ethos_u::Box& part : access.parts)
      if (!ethos_u::for_each_run(map, part, check)) break;
  }
}

void Checker::check_conflict(const Accesses& op, const Accesses& dma, bool is_transfer) {
  const auto complain = [&](const Access& part, const char* side) {
    report(is_transfer ? FindingKind::MissingKernelWait : FindingKind::MissingDmaWait,
           part.what + " of OP at " + in_hex(op.offset) + " and the " + side +
               " of OP_DMA_START at " + in_hex(dma.offset) + " share bytes; " +
               (is_transfer ? "the operation may still be under way without an OP_KERNEL_WAIT"
                            : "the transfer may still be under way without an OP_DMA_WAIT"));
  };
  for (const Access& target : dma.writes) {
    for (const Access& part : op.reads)
      if (part.meets(target)) return complain(part, "target");
    for (const Access& part : op.writes)
      if (part.meets(target)) return complain(part, "target");
  }
  for (const Access& source : dma.reads)
    for (const Access& part : op.writes)
      if (part.meets(source)) return complain(part, "source");
}

void Checker::note_writes(const Accesses& accesses) {
  for (const Access& access : accesses.writes) {
    if (!access.map) {
      set(access.region, access.range.first, access.range.end - access.range.first);
      continue;
    }
    for (const ethos_u::Box& part : access.parts)
      ethos_u::for_each_run(*access.map, part, [&](const ByteRange& range) {
        set(access.region, range.first, range.end - range.first);
        return true;
      });
  }
}

void Checker::note_copies(const Accesses& accesses) {
  auto target = accesses.writes.begin();
  for (const Access& source : accesses.reads) {
    if (!source.is_copied) continue;
    const Access& to = *target++;
    const std::vector<uint8_t>* from = shadow_of(source.region, source.range);
    if (from == nullptr) {
      set(to.region, to.range.first, to.range.end - to.range.first);
    } else if (shadow_of(to.region, to.range) != nullptr) {
      std::memmove(written_[to.region]->data() + to.range.first, from->data() + source.range.first,
                   static_cast<size_t>(source.range.end - source.range.first));
    }
  }
}

// Weights and scales are whole units, and there is a record of each channel that a micro-block makes.
void Checker::check_records(const Operation& op) {
  const auto check_unit = [&](const char* what, const Range& range) {
    if (range.base % kUnit != 0 || range.length % kUnit != 0)
      report(FindingKind::Alignment, std::string(what) + " begin at byte " + in_hex(range.base) +
                                         " and have " + std::to_string(range.length) +
                                         " bytes: both are multiples of 16");
  };
  if (op.has_weights())
    for (const Range& range : op.weights) check_unit("weights", range);
  if (!op.has_scales() || op.keeps_accumulators) return;
  check_unit("scales", op.scales);
  const auto up = [](uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; };
  const uint64_t together = std::max<uint64_t>(16, static_cast<uint64_t>(op.micro_block.depth));
  const uint64_t records =
      up(up(static_cast<uint64_t>(op.ofm_depth), together) * kScaleRecordBytes, kUnit);
  if (op.scales.length != records)
    report(FindingKind::WeightStream,
           "the scales have " + std::to_string(op.scales.length) + " bytes, " +
               std::to_string(op.ofm_depth) + " channels of micro-blocks of " +
               std::to_string(op.micro_block.depth) + " take " + std::to_string(records));
}

void Checker::check_blocks(const Operation& op) {
  if (!goes_on(op)) {
    chain_ = {};
    before_chain_ = std::exchange(last_, std::nullopt);
    if (const std::optional<std::string> wrong = wrong_block(op, configuration_))
      report(FindingKind::BlockConfiguration, *wrong);
  } else if (chain_.empty()) {
    return;  // it goes on with what no operation left, which is a fault
  }
  chain_.push_back(op);
  Operation& in_chain = chain_.back();
  const Operation& first = chain_.front();
  in_chain.block_height = first.block_height;
  in_chain.block_width = first.block_width;
  in_chain.block_depth = first.block_depth;
  if (before_chain_ && first.blockdep > 0) {
    const int32_t largest = largest_blockdep(*before_chain_, in_chain, first.blockdep);
    if (largest < first.blockdep)
      report(FindingKind::BlockDependency,
             "BLOCKDEP is " + std::to_string(first.blockdep) +
                 " and the first blocks' input comes from the last blocks of OP at " +
                 in_hex(before_chain_->offset) + ": it may be " + std::to_string(largest) +
                 " at most");
  }
  // What another shape's blocks are that goes through a chain is not known.
  const bool same = op.ofm_height == first.ofm_height && op.ofm_width == first.ofm_width &&
                    op.ofm_depth == first.ofm_depth;
  last_ = same ? std::optional(in_chain) : std::nullopt;
  if (same && overwrites_input(chain_))
    report(FindingKind::OutputOverInput, "a block of the OFM overwrites what a later block reads");
}

void Checker::before(const Operation& op, const Memory&) {
  const char* const names[] = {"OP_CONV", "OP_DEPTHWISE", "OP_POOL", "OP_ELEMENTWISE", "OP_RESIZE"};
  begin(op.offset, names[static_cast<size_t>(op.kind)]);
  now_ = accesses_of(op);
  check_records(op);
  check_blocks(op);
  check_reads(now_);
  for (const Accesses& transfer : transfers_) check_conflict(now_, transfer, false);
}

void Checker::after(const Operation&, const Memory&) {
  note_writes(now_);
  operations_.push_back(std::move(now_));
  if (operations_.size() > kMostOperations) operations_.pop_front();
}

void Checker::before(const DmaTransfer& dma, const Memory& memory) {
  begin(dma.offset, "OP_DMA_START");
  now_ = accesses_of(dma, memory);
  check_reads(now_);
  for (const Accesses& operation : operations_) check_conflict(operation, now_, true);
}

void Checker::after(const DmaTransfer&, const Memory&) {
  note_copies(now_);
  transfers_.push_back(std::move(now_));
  if (transfers_.size() > kMostTransfers) transfers_.pop_front();
}

void Checker::wait(const Wait& wait) {
  auto& under_way = wait.kind == WaitKind::Kernel ? operations_ : transfers_;
  while (under_way.size() > static_cast<size_t>(wait.outstanding)) under_way.pop_front();
  if (operations_.empty()) last_ = std::nullopt;
}

void Checker::stop(const DecodedCommand& command) {
  begin(command.offset, "OP_STOP");
  const uint64_t end = uint64_t{command.offset} + 4 * command.words;
  if (end < stream_.size())
    report(FindingKind::StreamEnd,
           std::to_string(stream_.size() - end) + " bytes of the stream lie behind OP_STOP");
  for (const auto& [region, range] : outputs_)
    if (!is_written(region, range))
      report(FindingKind::UnwrittenOutput,
             place_text(region, range) + " are an output, of which nothing wrote all");
}

}  // namespace intarsia::simulators::ethos_u85
