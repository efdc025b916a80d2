// Which bytes of a region a part of a feature map occupies.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

struct ByteRange {  // end is behind the last byte
  uint64_t first = 0, end = 0;
  bool overlaps(const ByteRange& other) const { return first < other.end && other.first < end; }
};

// Part of a feature map; ends are exclusive.
struct Box {
  int32_t y0 = 0, y1 = 0, x0 = 0, x1 = 0, c0 = 0, c1 = 0;
  bool empty() const { return y0 >= y1 || x0 >= x1 || c0 >= c1; }
  bool meets(const Box& other) const {
    return y0 < other.y1 && other.y0 < y1 && x0 < other.x1 && other.x0 < x1 && c0 < other.c1 &&
           other.c0 < c1;
  }
};
inline Box whole(const FeatureMap& map) {
  return {0, map.height, 0, map.width, 0, map.depth};
}

// Calls visit(ByteRange) for every contiguous run of bytes of `box`; stops when it returns false.
// The box lies inside the map. Returns false when it was stopped.
template <typename Visit>
bool for_each_run(const FeatureMap& map, const Box& box, Visit visit) {
  if (box.empty()) return true;
  const auto bytes = static_cast<uint64_t>(element_bytes(map.type));
  const auto run = [&](int32_t y, int32_t x, int32_t c, uint64_t length) {
    const uint64_t first = map.address(y, x, c);
    return visit(ByteRange{first, first + length});
  };
  // Columns left and right of the seam between tiles.
  const int32_t seam = std::max(box.x0, std::min(box.x1, map.width0));
  const int32_t columns[2][2] = {{box.x0, seam}, {seam, box.x1}};
  for (int32_t y = box.y0; y < box.y1; ++y)
    for (const auto& [x0, x1] : columns) {
      if (x0 >= x1) continue;
      const auto width = static_cast<uint64_t>(x1 - x0);
      if (!map.brick) {
        const auto depth = static_cast<uint64_t>(box.c1 - box.c0) * bytes;
        if (map.stride_x == static_cast<int64_t>(depth) || width == 1) {
          if (!run(y, x0, box.c0, width * depth)) return false;
        } else {
          for (int32_t x = x0; x < x1; ++x)
            if (!run(y, x, box.c0, depth)) return false;
        }
        continue;
      }
      for (int32_t c = box.c0; c < box.c1;) {
        const int32_t next = std::min<int32_t>(box.c1, (c / kBrickDepth + 1) * kBrickDepth);
        const auto depth = static_cast<uint64_t>(next - c) * bytes;
        if (next - c == kBrickDepth || width == 1) {
          if (!run(y, x0, c, width * depth)) return false;
        } else {
          for (int32_t x = x0; x < x1; ++x)
            if (!run(y, x, c, depth)) return false;
        }
        c = next;
      }
    }
  return true;
}

// The smallest range around that many rows and columns of a map from `base` on, whatever the signs of its strides.
ByteRange range_around(const FeatureMap& map, uint64_t base, int32_t rows, int32_t columns);
// The smallest range around each tile that the map uses; tiles that it does not use are left out.
std::vector<ByteRange> tile_ranges(const FeatureMap& map);

// Whether two maps are the same elements at the same places.
bool same_layout(const FeatureMap& a, const FeatureMap& b);

// Whether the parts share a byte. Regions are compared too.
bool parts_meet(const FeatureMap& a, const Box& part_a, const FeatureMap& b, const Box& part_b);
bool part_meets(const FeatureMap& map, const Box& part, uint32_t region, const ByteRange& range);

// Positions of one axis that windows look at, as ranges; all of them where that is more than `most` to look through.
struct Span {
  int32_t first, end;
};
std::vector<Span> used_positions(int32_t ofm, int32_t stride, int32_t taps, int32_t dilation,
                                 int32_t pad, int32_t upscaled, Upscale upscale, int32_t extent,
                                 int64_t most);

}  // namespace intarsia::simulators::ethos_u
