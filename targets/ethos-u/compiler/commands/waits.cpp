#include "commands/waits.h"

#include <algorithm>
#include <limits>

#include "hardware/ifm_block.h"
#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int32_t kMostBlockdep = 3;

enum Queue : int32_t { kTransfers, kOperations };

// Regions count from 0 on, SHRAM is a memory of its own.
std::vector<npu::MemoryAccess> accesses_of(const StreamOperation& operation) {
  std::vector<npu::MemoryAccess> accesses;
  for (const AddressRange& range : operation.reads)
    accesses.push_back({range.region, range.begin, range.end, false});
  for (const AddressRange& range : operation.writes)
    accesses.push_back({range.region, range.begin, range.end, true});
  return accesses;
}

// A box of a feature map; ends exclusive.
struct Box {
  int64_t y0, y1, x0, x1, c0, c1;
};

// Block `index` of the output, in the order of execution: depth first, then along the row.
std::optional<Box> block_of(const StreamOperation& operation, int64_t index) {
  const Extent& block = operation.ofm_block;
  const Extent& extent = operation.ofm.extent;
  const int64_t deep = ceil_div(extent.depth, block.depth);
  const int64_t across = ceil_div(extent.width, block.width);
  const int64_t down = ceil_div(extent.height, block.height);
  if (index < 0 || index >= deep * across * down) return std::nullopt;
  const int64_t c = index % deep * block.depth, x = index / deep % across * block.width;
  const int64_t y = index / (deep * across) * block.height;
  return Box{y, std::min<int64_t>(y + block.height, extent.height),
             x, std::min<int64_t>(x + block.width, extent.width),
             c, std::min<int64_t>(c + block.depth, extent.depth)};
}

int64_t block_count(const StreamOperation& operation) {
  return int64_t{ceil_div(operation.ofm.extent.depth, operation.ofm_block.depth)} *
         ceil_div(operation.ofm.extent.width, operation.ofm_block.width) *
         ceil_div(operation.ofm.extent.height, operation.ofm_block.height);
}

// What the output block reads of the input. An operation that sums over the depth reads it in several
// jobs; the job is counted, the whole depth of the job taken.
std::optional<Box> input_of_job(const StreamOperation& operation, const PlacedMap& map,
                                int64_t job) {
  int64_t jobs = 1, job_depth = map.extent.depth;
  if (operation.sums_depth) {
    // By parts of the kernel a job is shorter: what it reads here is too much at most.
    job_depth = summed_block_depth(map.extent.depth, 8 * map.element_bytes, false);
    jobs = ceil_div(map.extent.depth, job_depth);
  }
  const std::optional<Box> block = block_of(operation, job / jobs);
  if (!block) return std::nullopt;
  if (operation.elementwise) {
    Box box = *block;
    // What repeats has no second tile.
    if (map.extent.height == 1 && map.bases[2] == kNoTile) box.y0 = 0, box.y1 = 1;
    if (map.extent.width == 1 && map.bases[1] == kNoTile) box.x0 = 0, box.x1 = 1;
    if (map.extent.depth == 1) box.c0 = 0, box.c1 = 1;
    return box;
  }
  const auto input = [&](int64_t from, int64_t to, int64_t stride, int64_t pad, int64_t kernel) {
    const int64_t first = from * stride - pad, last = (to - 1) * stride - pad + kernel;
    return std::pair(std::max<int64_t>(0, first / operation.upscale),
                     std::max<int64_t>(1, ceil_div(last, operation.upscale)));
  };
  Box box = *block;
  std::tie(box.y0, box.y1) =
      input(block->y0, block->y1, operation.stride_y, operation.pad_top, operation.kernel_height);
  std::tie(box.x0, box.x1) =
      input(block->x0, block->x1, operation.stride_x, operation.pad_left, operation.kernel_width);
  if (operation.sums_depth) {
    box.c0 = job % jobs * job_depth;
    box.c1 = std::min<int64_t>(box.c0 + job_depth, map.extent.depth);
  }
  if (map.bases[1] == kNoTile) box.x1 = std::min<int64_t>(box.x1, map.tile_width);
  if (map.bases[2] == kNoTile) box.y1 = std::min<int64_t>(box.y1, map.tile_height);
  return box;
}

constexpr int64_t kMostPixels = 4096;  // of boxes that are compared byte by byte

struct Bytes {
  int64_t begin, end;
};

// The bytes of a box, sorted. Pixels that lie beside each other are one range.
std::vector<Bytes> bytes_of(const PlacedMap& map, const Box& box) {
  std::vector<Bytes> result;
  const int64_t most = map.bricks ? kBrickDepth : box.c1;
  for (int64_t y = box.y0; y < box.y1; ++y)
    for (int64_t c = box.c0; c < box.c1;) {
      const int64_t end = std::min(box.c1, map.bricks ? (c / most + 1) * most : most);
      for (int64_t x = box.x0; x < box.x1; ++x) {
        const AddressRange pixel = map.row(y, x, x, c, end - 1);
        if (!result.empty() && result.back().end == pixel.begin)
          result.back().end = pixel.end;
        else
          result.push_back({pixel.begin, pixel.end});
      }
      c = end;
    }
  std::sort(result.begin(), result.end(),
            [](const Bytes& a, const Bytes& b) { return a.begin < b.begin; });
  return result;
}

bool bytes_touch(const PlacedMap& read, const Box& in, const PlacedMap& written, const Box& out) {
  const std::vector<Bytes> a = bytes_of(read, in), b = bytes_of(written, out);
  // Ranges of one box may overlap; the furthest end so far is what counts.
  size_t j = 0;
  int64_t reached = std::numeric_limits<int64_t>::min();
  for (const Bytes& range : a) {
    for (; j < b.size() && b[j].begin < range.end; ++j) reached = std::max(reached, b[j].end);
    if (reached > range.begin) return true;
  }
  return false;
}

int64_t pixels(const Box& box) {
  return (box.y1 - box.y0) * (box.x1 - box.x0);
}

bool boxes_touch(const PlacedMap& read, const Box& in, const PlacedMap& written, const Box& out) {
  if (read.same_place(written))
    return in.y0 < out.y1 && out.y0 < in.y1 && in.x0 < out.x1 && out.x0 < in.x1 && in.c0 < out.c1 &&
           out.c0 < in.c1;
  for (int64_t y = in.y0; y < in.y1; ++y) {
    const AddressRange from = read.row(y, in.x0, in.x1 - 1, in.c0, in.c1 - 1);
    for (int64_t row = out.y0; row < out.y1; ++row)
      if (from.overlaps(written.row(row, out.x0, out.x1 - 1, out.c0, out.c1 - 1)))
        return pixels(in) > kMostPixels || pixels(out) > kMostPixels ||
               bytes_touch(read, in, written, out);
  }
  return false;
}

int32_t dependency_on(const PlacedMap& map, const StreamOperation& before,
                      const StreamOperation& operation) {
  if (!map.range.overlaps(before.ofm.range)) return kMostBlockdep;
  int32_t result = kMostBlockdep;
  const int64_t blocks = block_count(before);
  for (int32_t job = 0; job < kMostBlockdep; ++job) {
    const std::optional<Box> in = input_of_job(operation, map, job);
    if (!in) break;
    int32_t free = 0;
    for (; free < kMostBlockdep; ++free) {
      const std::optional<Box> out = block_of(before, blocks - 1 - free);
      if (!out || boxes_touch(map, *in, before.ofm, *out)) break;
    }
    result = std::min(result, job + free);
  }
  return result;
}

}  // namespace

int32_t block_dependency(const Hardware& hardware, const StreamOperation& before,
                         const StreamOperation& operation) {
  // Accumulators would overwrite the table that the operation before still uses.
  if (before.uses_lut && !operation.uses_lut && hardware.reserved_banks() == 0) return 0;
  int32_t result = dependency_on(operation.ifm, before, operation);
  if (operation.ifm2) result = std::min(result, dependency_on(*operation.ifm2, before, operation));
  return result;
}

bool waits_for_last_block(const Hardware& hardware, const StreamOperation& before,
                          const StreamOperation& operation) {
  if (before.uses_lut && !operation.uses_lut && hardware.reserved_banks() == 0) return true;
  const auto waits = [&](const PlacedMap& map) {
    if (!map.range.overlaps(before.ofm.range)) return false;
    const std::optional<Box> in = input_of_job(operation, map, 0),
                             out = block_of(before, block_count(before) - 1);
    return in && (!out || boxes_touch(map, *in, before.ofm, *out));
  };
  return waits(operation.ifm) || (operation.ifm2 && waits(*operation.ifm2));
}

WaitTracker::WaitTracker(const Hardware& hardware)
    : hardware_(hardware), hazards_({hardware.outstanding_dma, hardware.outstanding_kernels}) {}

// Operations follow each other in order; BLOCKDEP says how close.
Waits WaitTracker::next(const StreamOperation& operation) {
  const Queue queue = operation.is_dma ? kTransfers : kOperations;
  const std::vector<npu::MemoryAccess> accesses = accesses_of(operation);
  const std::vector<int64_t> ended =
      hazards_.waits_before(0, accesses, operation.is_dma ? -1 : kOperations);
  const auto under_way = [&](Queue of) -> std::optional<int32_t> {
    if (ended[of] == 0) return std::nullopt;
    return static_cast<int32_t>(hazards_.issued(of) - ended[of]);
  };
  Waits waits;
  waits.dma = under_way(kTransfers);
  waits.kernel = under_way(kOperations);
  hazards_.issue(queue, accesses);
  if (operation.is_dma) return waits;
  if (last_) waits.blockdep = block_dependency(hardware_, *last_, operation);
  last_ = operation;
  return waits;
}

}  // namespace intarsia::targets::ethos_u
