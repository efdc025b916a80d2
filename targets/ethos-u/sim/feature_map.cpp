#include "intarsia/targets/ethos_u/feature_map.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "intarsia/targets/ethos_u/byte_ranges.h"

namespace intarsia::simulators::ethos_u {
namespace {

// 64 M elements: the largest map that fits the memories of real systems is far smaller.
constexpr int64_t kMaxElements = int64_t{1} << 26;

uint64_t u64(int64_t value) {
  return static_cast<uint64_t>(value);
}

// Calls visit(memory of the run, index in the dense array, elements) for all runs of channels that
// are contiguous in both.
template <typename Byte, typename Visit>
void for_each_run(const FeatureMap& map, Byte* region, const Visit& visit) {
  const uint64_t bytes = u64(element_bytes(map.type));
  const auto depth = static_cast<size_t>(map.depth);
  for (const TilePart& part : tile_parts(map))
    for (int32_t row = 0; row < part.rows; ++row) {
      const uint64_t line = part.base + static_cast<uint64_t>(row * map.stride_y);
      const size_t dense = (static_cast<size_t>(part.y + row) * static_cast<size_t>(map.width) +
                            static_cast<size_t>(part.x)) *
                           depth;
      if (!map.brick) {
        if (map.stride_x == static_cast<int64_t>(depth * bytes)) {
          visit(region + line, dense, static_cast<size_t>(part.columns) * depth);
          continue;
        }
        for (int32_t x = 0; x < part.columns; ++x)
          visit(region + line + static_cast<uint64_t>(x * map.stride_x),
                dense + static_cast<size_t>(x) * depth, depth);
        continue;
      }
      for (size_t c = 0; c < depth; c += kBrickDepth) {
        const auto brick = static_cast<int64_t>(c / kBrickDepth);
        Byte* bricks = region + line + static_cast<uint64_t>(brick * map.stride_c);
        const size_t count = std::min<size_t>(kBrickDepth, depth - c);
        for (int32_t x = 0; x < part.columns; ++x)
          visit(bricks + u64(x) * kBrickDepth * bytes, dense + static_cast<size_t>(x) * depth + c,
                count);
      }
    }
}

template <typename Element, typename Dense>
void gather_as(const FeatureMap& map, const uint8_t* region, std::vector<Dense>& dense) {
  const int32_t zero = map.zero_point;
  for_each_run(map, region, [&](const uint8_t* from, size_t at, size_t count) {
    Dense* to = dense.data() + at;
    for (size_t i = 0; i < count; ++i) {
      Element element;
      std::memcpy(&element, from + i * sizeof(Element), sizeof(Element));
      to[i] = static_cast<Dense>(static_cast<int64_t>(element) - zero);
    }
  });
}

template <typename Element, typename Dense>
void scatter_as(const FeatureMap& map, const std::vector<Dense>& values, uint8_t* region) {
  for_each_run(map, region, [&](uint8_t* to, size_t at, size_t count) {
    const Dense* from = values.data() + at;
    for (size_t i = 0; i < count; ++i) {
      const auto element = static_cast<Element>(from[i]);
      std::memcpy(to + i * sizeof(Element), &element, sizeof(Element));
    }
  });
}

}  // namespace

std::vector<TilePart> tile_parts(const FeatureMap& map) {
  std::vector<TilePart> parts;
  const int32_t left = std::min(map.width, map.width0);
  for (int32_t side = 0; side < 2; ++side) {
    const int32_t columns = side == 0 ? left : map.width - left;
    if (columns <= 0) continue;
    const int32_t upper = std::min(map.height, side == 0 ? map.height0 : map.height1);
    for (int32_t half = 0; half < 2; ++half) {
      const int32_t rows = half == 0 ? upper : map.height - upper;
      if (rows <= 0) continue;
      TilePart part{.y = half == 0 ? 0 : upper,
                    .x = side == 0 ? 0 : left,
                    .rows = rows,
                    .columns = columns,
                    .base = map.base[static_cast<size_t>(2 * half + side)]};
      const ByteRange range = range_around(map, part.base, rows, columns);
      part.first = range.first;
      part.end = range.end;
      parts.push_back(part);
    }
  }
  return parts;
}

std::optional<Fault> check_map(const FeatureMap& map, const char* name, const Memory& memory,
                               bool for_writing) {
  const auto fault = [&](Cause cause, std::string what) {
    return Fault{cause, 0, "", std::string(name) + " " + std::move(what)};
  };
  const std::string extent = std::to_string(map.height) + "x" + std::to_string(map.width) + "x" +
                             std::to_string(map.depth);
  if (element_count(map) > kMaxElements)
    return fault(Cause::Operand, "of " + extent + " elements is larger than a simulation holds");
  for (const TilePart& part : tile_parts(map)) {
    const uint64_t bytes = part.end - part.first;
    const bool there = for_writing ? memory.write(map.region, part.first, bytes) != nullptr
                                   : memory.read(map.region, part.first, bytes) != nullptr;
    if (there) continue;
    const uint64_t size = map.region < kRegions ? memory.regions[map.region].bytes : 0;
    const bool read_only = memory.read(map.region, part.first, bytes) != nullptr;
    return fault(Cause::Bus,
                 "of " + extent + " elements covers bytes " + std::to_string(part.first) + " to " +
                     std::to_string(part.end) + " of region " + std::to_string(map.region) +
                     (read_only ? ", which is read-only" : ", which has " + std::to_string(size)));
  }
  return std::nullopt;
}

template <typename Dense>
std::vector<Dense> gather(const FeatureMap& map, const Memory& memory) {
  std::vector<Dense> dense(static_cast<size_t>(element_count(map)));
  const uint8_t* region = memory.regions[map.region].data;
  switch (map.type) {
    case ElementType::U8:
      gather_as<uint8_t>(map, region, dense);
      break;
    case ElementType::S8:
      gather_as<int8_t>(map, region, dense);
      break;
    case ElementType::U16:
      gather_as<uint16_t>(map, region, dense);
      break;
    case ElementType::S16:
      gather_as<int16_t>(map, region, dense);
      break;
    case ElementType::S32:
      gather_as<int32_t>(map, region, dense);
      break;
    case ElementType::S64:
      gather_as<int64_t>(map, region, dense);
      break;
  }
  return dense;
}

template std::vector<int16_t> gather(const FeatureMap& map, const Memory& memory);
template std::vector<int32_t> gather(const FeatureMap& map, const Memory& memory);
template std::vector<int64_t> gather(const FeatureMap& map, const Memory& memory);

template <typename Dense>
void scatter(const FeatureMap& map, const std::vector<Dense>& values, Memory& memory) {
  uint8_t* region = memory.regions[map.region].data;
  switch (element_bytes(map.type)) {
    case 1:
      scatter_as<uint8_t>(map, values, region);
      break;
    case 2:
      scatter_as<uint16_t>(map, values, region);
      break;
    case 4:
      scatter_as<uint32_t>(map, values, region);
      break;
    default:
      scatter_as<uint64_t>(map, values, region);
      break;
  }
}

template void scatter(const FeatureMap&, const std::vector<int32_t>&, Memory&);
template void scatter(const FeatureMap&, const std::vector<int64_t>&, Memory&);

}  // namespace intarsia::simulators::ethos_u
