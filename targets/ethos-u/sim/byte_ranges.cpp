#include "intarsia/targets/ethos_u/byte_ranges.h"

#include <algorithm>

namespace intarsia::simulators::ethos_u {
namespace {

bool any_overlap(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  for (const ByteRange& range : a)
    for (const ByteRange& other : b)
      if (range.overlaps(other)) return true;
  return false;
}

std::vector<ByteRange> sorted_runs(const FeatureMap& map, const Box& part) {
  std::vector<ByteRange> runs;
  for_each_run(map, part, [&](const ByteRange& run) {
    if (!runs.empty() && runs.back().end == run.first)
      runs.back().end = run.end;
    else
      runs.push_back(run);
    return true;
  });
  std::sort(runs.begin(), runs.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.first < b.first; });
  return runs;
}

}  // namespace

ByteRange range_around(const FeatureMap& map, uint64_t base, int32_t rows, int32_t columns) {
  int64_t low = 0, high = 0;
  const auto reach = [&](int64_t steps, int64_t stride) {
    (stride < 0 ? low : high) += steps * stride;
  };
  const int64_t bytes = element_bytes(map.type);
  reach(rows - 1, map.stride_y);
  if (!map.brick) {
    reach(columns - 1, map.stride_x);
    high += map.depth * bytes;
  } else {
    // The channels of the last brick need not reach as far as those of the ones before.
    const int64_t last = (map.depth - 1) / kBrickDepth, in_last = map.depth - last * kBrickDepth;
    const auto end_of_brick = [&](int64_t brick, int64_t channels) {
      return brick * map.stride_c + ((columns - 1) * kBrickDepth + channels) * bytes;
    };
    int64_t end = end_of_brick(last, in_last);
    if (last > 0)
      end = std::max({end, end_of_brick(0, kBrickDepth), end_of_brick(last - 1, kBrickDepth)});
    low += std::min<int64_t>(0, last * map.stride_c);
    high += end;
  }
  return {base + static_cast<uint64_t>(low), base + static_cast<uint64_t>(high)};
}

std::vector<ByteRange> tile_ranges(const FeatureMap& map) {
  std::vector<ByteRange> ranges;
  const auto add = [&](int32_t y0, int32_t y1, int32_t x0, int32_t x1) {
    if (y0 >= y1 || x0 >= x1) return;
    ranges.push_back(range_around(map, map.address(y0, x0, 0), y1 - y0, x1 - x0));
  };
  const int32_t seam = std::min(map.width, map.width0);
  add(0, std::min(map.height, map.height0), 0, seam);
  add(0, std::min(map.height, map.height1), seam, map.width);
  add(map.height0, map.height, 0, seam);
  add(map.height1, map.height, seam, map.width);
  return ranges;
}

bool same_layout(const FeatureMap& a, const FeatureMap& b) {
  return a.region == b.region && a.base == b.base && a.height0 == b.height0 &&
         a.height1 == b.height1 && a.width0 == b.width0 && a.brick == b.brick &&
         element_bytes(a.type) == element_bytes(b.type) && a.stride_y == b.stride_y &&
         (a.brick ? a.stride_c == b.stride_c : a.stride_x == b.stride_x);
}

bool parts_meet(const FeatureMap& a, const Box& part_a, const FeatureMap& b, const Box& part_b) {
  if (a.region != b.region || part_a.empty() || part_b.empty()) return false;
  if (!any_overlap(tile_ranges(a), tile_ranges(b))) return false;
  if (same_layout(a, b)) return part_a.meets(part_b);
  const std::vector<ByteRange> runs_a = sorted_runs(a, part_a), runs_b = sorted_runs(b, part_b);
  for (size_t i = 0, j = 0; i < runs_a.size() && j < runs_b.size();) {
    if (runs_a[i].overlaps(runs_b[j])) return true;
    if (runs_a[i].end < runs_b[j].end)
      ++i;
    else
      ++j;
  }
  return false;
}

bool part_meets(const FeatureMap& map, const Box& part, uint32_t region, const ByteRange& range) {
  if (map.region != region) return false;
  const std::vector<ByteRange> tiles = tile_ranges(map);
  if (!any_overlap(tiles, {range})) return false;
  return !for_each_run(map, part, [&](const ByteRange& run) { return !run.overlaps(range); });
}

std::vector<Span> used_positions(int32_t ofm, int32_t stride, int32_t taps, int32_t dilation,
                                 int32_t pad, int32_t upscaled, Upscale upscale, int32_t extent,
                                 int64_t most) {
  // A window without holes that moves by no more than its size sees everything between its ends.
  if (dilation == 1 && stride <= taps && upscale != Upscale::Zeros) return {{0, extent}};
  if (int64_t{ofm} * taps > most) return {{0, extent}};
  std::vector<uint8_t> used(static_cast<size_t>(extent));
  for (int32_t o = 0; o < ofm; ++o)
    for (int32_t k = 0; k < taps; ++k) {
      const int32_t at = o * stride + k * dilation - pad;
      if (at < 0 || at >= upscaled) continue;
      if (upscale == Upscale::Zeros && at % 2 != 0) continue;
      used[static_cast<size_t>(upscale == Upscale::None ? at : at / 2)] = 1;
    }
  std::vector<Span> spans;
  for (int32_t i = 0; i < extent; ++i) {
    if (used[static_cast<size_t>(i)] == 0) continue;
    if (!spans.empty() && spans.back().end == i)
      ++spans.back().end;
    else
      spans.push_back({i, i + 1});
  }
  return spans;
}

}  // namespace intarsia::simulators::ethos_u
