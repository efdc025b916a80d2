#include "intarsia/targets/ethos_u/checker_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "intarsia/targets/ethos_u/blocks.h"
#include "intarsia/targets/ethos_u/command_text.h"
#include "intarsia/targets/ethos_u/shram_needs.h"

namespace intarsia::simulators::ethos_u {
namespace {

std::string place_of_byte(uint32_t region, uint64_t offset) {
  return hex(offset) + " of region " + std::to_string(region);
}

// The parts of the IFM that decide the result.
std::vector<Box> used_boxes(const Operation& op, const FeatureMap& map) {
  if (op.kind == OperationKind::Elementwise) return {whole(map)};
  std::vector<Box> boxes;
  const Kernel& kernel = op.kernel;
  const auto rows = used_positions(op.ofm.height, kernel.stride_y, kernel.height, kernel.dilation_y,
                                   op.padding.top, op.upscaled_height, op.upscale, map.height,
                                   ShadowMemory::kMostElements);
  const auto columns = used_positions(op.ofm.width, kernel.stride_x, kernel.width,
                                      kernel.dilation_x, op.padding.left, op.upscaled_width,
                                      op.upscale, map.width, ShadowMemory::kMostElements);
  for (const Span& y : rows)
    for (const Span& x : columns) boxes.push_back({y.first, y.end, x.first, x.end, 0, map.depth});
  return boxes;
}

int64_t elements(const FeatureMap& map) {
  return int64_t{map.height} * map.width * map.depth;
}

bool in_region(const Memory& memory, uint32_t region, const ByteRange& range) {
  return range.end >= range.first &&
         memory.read(region, range.first, range.end - range.first) != nullptr;
}

void check_map_place(const char* what, const FeatureMap& map, bool is_output, const Memory& memory,
                     const Report& report) {
  for (const ByteRange& range : tile_ranges(map)) {
    if (!in_region(memory, map.region, range)) {
      report(FindingKind::OutsideRegion, std::string(what) + " uses bytes " + hex(range.first) +
                                             " to " + hex(range.end) + " of region " +
                                             std::to_string(map.region) + ", which has " +
                                             std::to_string(memory.regions[map.region].bytes));
      return;
    }
    if (is_output && memory.write(map.region, range.first, 1) == nullptr) {
      report(FindingKind::ReadOnlyWrite, std::string(what) + " lies in region " +
                                             std::to_string(map.region) +
                                             ", which only may be read");
      return;
    }
  }
}

}  // namespace

ByteRange table_range(const Operation& op, const Configuration& configuration) {
  const int32_t bytes = element_bytes(op.ofm.type);
  const int64_t size = bytes == 1   ? kLutTableBytes8
                       : bytes == 2 ? kLutTableBytes16
                                    : kLutTableBytes32;
  const auto first =
      static_cast<uint64_t>(configuration.lut_base() + kLutSlotBytes * op.activation.table);
  return {first, first + static_cast<uint64_t>(size)};
}

ShadowMemory::ShadowMemory(const Configuration& configuration)
    : configuration_(configuration), shram_(static_cast<size_t>(configuration.shram_bytes())) {}

void ShadowMemory::forget(uint32_t region, uint64_t bytes) {
  if (region >= kRegions || bytes > kMostBytes) return;
  written_[region] = std::vector<uint8_t>(static_cast<size_t>(bytes));
}

void ShadowMemory::set(uint32_t region, const ByteRange& range) {
  if (region >= kRegions || !written_[region]) return;
  std::vector<uint8_t>& shadow = *written_[region];
  const uint64_t end = std::min<uint64_t>(range.end, shadow.size());
  if (range.first < end)
    std::memset(shadow.data() + range.first, 1, static_cast<size_t>(end - range.first));
}

void ShadowMemory::set_written(uint32_t region, const std::vector<uint8_t>& written) {
  if (region >= kRegions || !written_[region]) return;
  std::vector<uint8_t>& shadow = *written_[region];
  for (size_t i = 0; i < std::min(shadow.size(), written.size()); ++i) shadow[i] |= written[i];
}

std::vector<uint8_t> ShadowMemory::written(uint32_t region) const {
  return region < kRegions ? written_[region].value_or(std::vector<uint8_t>())
                           : std::vector<uint8_t>();
}

std::optional<uint64_t> ShadowMemory::first_unwritten(uint32_t region,
                                                      const ByteRange& range) const {
  if (region >= kRegions || !written_[region]) return std::nullopt;
  const std::vector<uint8_t>& shadow = *written_[region];
  const uint64_t end = std::min<uint64_t>(range.end, shadow.size());
  if (range.first >= end) return std::nullopt;
  const uint8_t* first = shadow.data() + range.first;
  const void* hole = std::memchr(first, 0, static_cast<size_t>(end - range.first));
  if (hole == nullptr) return std::nullopt;
  return range.first + static_cast<uint64_t>(static_cast<const uint8_t*>(hole) - first);
}

void ShadowMemory::check_read(const char* what, uint32_t region, const ByteRange& range,
                              const Memory& memory, const Report& report) const {
  if (!in_region(memory, region, range)) {
    report(FindingKind::OutsideRegion, std::string(what) + " are bytes " + hex(range.first) +
                                           " to " + hex(range.end) + " of region " +
                                           std::to_string(region) + ", which has " +
                                           std::to_string(memory.regions[region].bytes));
    return;
  }
  if (const auto at = first_unwritten(region, range))
    report(FindingKind::UninitialisedRead, std::string(what) + " include byte " +
                                               place_of_byte(region, *at) + ", which nobody wrote");
}

void ShadowMemory::check_output(uint32_t region, const ByteRange& range,
                                const Report& report) const {
  if (const auto at = first_unwritten(region, range))
    report(FindingKind::UnwrittenOutput,
           "an output includes byte " + place_of_byte(region, *at) + ", which nobody wrote");
}

// A length is rounded up to what the engine moves at once, so that bytes behind the data come along;
// whoever then computes with them is told. A transfer of nothing but such bytes is a mistake itself.
void ShadowMemory::check_source(const ByteRange& range, uint32_t region, const Memory& memory,
                                const Report& report) const {
  if (!in_region(memory, region, range))
    return check_read("the source's bytes", region, range, memory, report);
  if (region >= kRegions || !written_[region] || range.first >= range.end) return;
  const std::vector<uint8_t>& shadow = *written_[region];
  if (range.end > shadow.size()) return;
  const uint8_t* first = shadow.data() + range.first;
  if (std::memchr(first, 1, static_cast<size_t>(range.end - range.first)) == nullptr)
    check_read("the source's bytes", region, range, memory, report);
}

void ShadowMemory::check_map_read(const char* what, const Operation& op, const FeatureMap& map,
                                  const Memory& memory, const Report& report) const {
  check_map_place(what, map, false, memory, report);
  if (!written_[map.region] || elements(map) > kMostElements) return;
  for (const Box& box : used_boxes(op, map)) {
    std::optional<uint64_t> hole;
    for_each_run(map, box,
                 [&](const ByteRange& run) { return !(hole = first_unwritten(map.region, run)); });
    if (!hole) continue;
    report(FindingKind::UninitialisedRead, std::string(what) + " includes byte " +
                                               place_of_byte(map.region, *hole) +
                                               ", which nobody wrote");
    return;
  }
}

void ShadowMemory::check_table(const Operation& op, const Report& report) const {
  if (op.activation.function != ActivationFunction::Table) return;
  const ByteRange range = table_range(op, configuration_);
  if (range.end > shram_.size()) return;  // execution refuses it
  const auto first = shram_.begin() + static_cast<ptrdiff_t>(range.first);
  const auto end = shram_.begin() + static_cast<ptrdiff_t>(range.end);
  if (std::find(first, end, 0) != end)
    report(FindingKind::LookUpTable,
           "table " + std::to_string(op.activation.table) + " at " + hex(range.first) +
               " of SHRAM was not loaded, or blocks of another operation overwrote it");
}

void ShadowMemory::check_inputs(const Operation& op, const Memory& memory, const Report& report) {
  check_map_read("the IFM", op, op.ifm, memory, report);
  if (op.has_ifm2) check_map_read("IFM2", op, op.ifm2, memory, report);
  check_map_place("the OFM", op.ofm, true, memory, report);
  if (op.has_weights())
    for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
      const Range &weights = op.weights[core], &scales = op.scales[core];
      check_read("the weights", op.weight_region, {weights.base, weights.base + weights.length},
                 memory, report);
      check_read("the scales", op.scale_region, {scales.base, scales.base + scales.length}, memory,
                 report);
    }
  check_table(op, report);
}

void ShadowMemory::check_inputs(const DmaTransfer& dma, const Memory& memory,
                                const Report& report) {
  const ByteRange source{dma.source, dma.source + dma.length};
  if (!dma.source_internal) check_source(source, dma.source_region, memory, report);
  const ByteRange target{dma.target, dma.target + dma.length};
  if (dma.target_internal) {
    if (target.end > shram_.size())
      report(FindingKind::OutsideRegion, "the transfer ends at " + hex(target.end) +
                                             " of SHRAM, which has " +
                                             std::to_string(shram_.size()) + " bytes");
    return;
  }
  if (!in_region(memory, dma.target_region, target))
    report(FindingKind::OutsideRegion, "the target's bytes are " + hex(target.first) + " to " +
                                           hex(target.end) + " of region " +
                                           std::to_string(dma.target_region) + ", which has " +
                                           std::to_string(memory.regions[dma.target_region].bytes));
  else if (dma.length > 0 && memory.write(dma.target_region, target.first, 1) == nullptr)
    report(FindingKind::ReadOnlyWrite, "the target lies in region " +
                                           std::to_string(dma.target_region) +
                                           ", which only may be read");
  // Onto itself it writes every byte as it is, in whatever order its bursts come.
  if (!dma.source_internal && dma.source_region == dma.target_region && source.overlaps(target) &&
      dma.source != dma.target)
    report(FindingKind::OutputOverInput, "source and target of the transfer overlap");
}

void ShadowMemory::apply_outputs(const Operation& op) {
  // Blocks pass through SHRAM; where no banks are kept free the tables go with them.
  const auto used = static_cast<size_t>(shram_used(op, configuration_));
  std::fill_n(shram_.begin(), std::min(used, shram_.size()), uint8_t{0});
  if (op.ofm.region >= kRegions || !written_[op.ofm.region] || elements(op.ofm) > kMostElements)
    return;
  for_each_run(op.ofm, whole(op.ofm), [&](const ByteRange& run) {
    set(op.ofm.region, run);
    return true;
  });
}

void ShadowMemory::apply_outputs(const DmaTransfer& dma) {
  std::vector<uint8_t>* to = dma.target_internal ? &shram_
                             : dma.target_region < kRegions && written_[dma.target_region]
                                 ? &*written_[dma.target_region]
                                 : nullptr;
  if (to == nullptr || dma.target >= to->size()) return;
  const std::vector<uint8_t>* from = dma.source_internal ? &shram_
                                     : dma.source_region < kRegions && written_[dma.source_region]
                                         ? &*written_[dma.source_region]
                                         : nullptr;
  // What nobody wrote stays so at the other end.
  const uint64_t length = std::min<uint64_t>(dma.length, to->size() - dma.target);
  uint8_t* target = to->data() + dma.target;
  if (from == nullptr || dma.source > from->size() || length > from->size() - dma.source)
    std::memset(target, 1, static_cast<size_t>(length));
  else
    std::memmove(target, from->data() + dma.source, static_cast<size_t>(length));
}

void check_overwriting(const Operation& op, const Report& report) {
  if (elements(op.ofm) > ShadowMemory::kMostElements ||
      elements(op.ifm) > ShadowMemory::kMostElements)
    return;
  // The cheap questions first: most maps are dense, and input and output lie apart.
  const int64_t bytes = element_bytes(op.ofm.type);
  const int64_t step_x = op.ofm.brick ? kBrickDepth * bytes : std::abs(op.ofm.stride_x);
  const int64_t step_y = std::abs(op.ofm.stride_y), step_c = std::abs(op.ofm.stride_c);
  const int64_t pixel =
      (op.ofm.brick ? std::min<int64_t>(kBrickDepth, op.ofm.depth) : op.ofm.depth) * bytes;
  const int64_t row = (op.ofm.width - 1) * step_x + pixel;
  const int64_t slice = (op.ofm.height - 1) * step_y + row;
  const bool has_bricks = op.ofm.brick && op.ofm.depth > kBrickDepth;
  const int64_t bricks = (op.ofm.depth - 1) / kBrickDepth;
  const bool one_tile = op.ofm.width <= op.ofm.width0 && op.ofm.height <= op.ofm.height0;
  const bool rows_apart = op.ofm.height == 1 || step_y >= row;
  const bool bricks_apart =
      !has_bricks || step_c >= slice ||
      (step_c >= row && (op.ofm.height == 1 || step_y >= bricks * step_c + row));
  const bool dense =
      one_tile && (op.ofm.width == 1 || step_x >= pixel) && rows_apart && bricks_apart;

  const auto may_meet = [&](const FeatureMap& map) {
    if (map.region != op.ofm.region) return false;
    for (const ByteRange& a : tile_ranges(map))
      for (const ByteRange& b : tile_ranges(op.ofm))
        if (a.overlaps(b)) return true;
    return false;
  };
  // In place, element on element: every block reads what it then writes.
  const auto in_place = [&](const FeatureMap& map) {
    return op.kind == OperationKind::Elementwise && same_layout(map, op.ofm) &&
           map.height == op.ofm.height && map.width == op.ofm.width && map.depth == op.ofm.depth;
  };
  const bool check_ifm = may_meet(op.ifm) && !in_place(op.ifm);
  const bool check_ifm2 = op.has_ifm2 && may_meet(op.ifm2) && !in_place(op.ifm2);
  if (dense && !check_ifm && !check_ifm2) return;

  uint64_t low = UINT64_MAX, high = 0;
  for (const ByteRange& range : tile_ranges(op.ofm)) {
    low = std::min(low, range.first);
    high = std::max(high, range.end);
  }
  if (high - low > ShadowMemory::kMostBytes) return;
  // For each byte of the OFM the block that writes it, counted from 1.
  std::vector<uint32_t> writer(static_cast<size_t>(high - low));
  const Blocks blocks(op);
  bool twice = false;
  for (int64_t block = 0; block < blocks.count(); ++block)
    for_each_run(op.ofm, blocks.ofm(block), [&](const ByteRange& run) {
      for (uint64_t at = run.first; at < run.end; ++at) {
        twice |= writer[static_cast<size_t>(at - low)] != 0;
        writer[static_cast<size_t>(at - low)] = static_cast<uint32_t>(block + 1);
      }
      return true;
    });
  if (twice)
    report(FindingKind::OutputOverOutput,
           "elements of the OFM share bytes: its strides are too small");

  const auto check = [&](const char* name, const FeatureMap& map, auto box_of) {
    for (int64_t job = 0; job < blocks.job_count(); ++job) {
      const auto block = static_cast<uint32_t>(job / blocks.jobs_per_block() + 1);
      uint64_t at = 0;
      uint32_t by = 0;
      for_each_run(map, box_of(job), [&](const ByteRange& run) {
        for (at = std::max(run.first, low); at < std::min(run.end, high); ++at) {
          by = writer[static_cast<size_t>(at - low)];
          if (by != 0 && by < block) return false;
          by = 0;
        }
        return true;
      });
      if (by == 0) continue;
      report(FindingKind::OutputOverInput, "block " + std::to_string(by - 1) + " writes byte " +
                                               place_of_byte(map.region, at) + ", which is " +
                                               name + " of block " + std::to_string(block - 1));
      return;
    }
  };
  if (check_ifm) check("the IFM", op.ifm, [&](int64_t job) { return blocks.ifm(job); });
  if (check_ifm2) check("IFM2", op.ifm2, [&](int64_t job) { return blocks.ifm2(job); });
}

}  // namespace intarsia::simulators::ethos_u
