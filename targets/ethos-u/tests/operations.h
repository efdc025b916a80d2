// Single operations on random feature maps, and what plain code says they make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/execute.h"
#include "intarsia/targets/ethos_u/weight_stream.h"

namespace intarsia::test::ethos_u {

namespace sim = simulators::ethos_u;

// A feature map as numbers, [y][x][c].
struct Numbers {
  int32_t height = 0, width = 0, depth = 0;
  std::vector<int64_t> values;

  int64_t& at(int32_t y, int32_t x, int32_t c) {
    return values[static_cast<size_t>((y * width + x) * depth + c)];
  }
  int64_t at(int32_t y, int32_t x, int32_t c) const {
    return values[static_cast<size_t>((y * width + x) * depth + c)];
  }
};

inline Numbers numbers(int32_t height, int32_t width, int32_t depth) {
  return {height, width, depth, std::vector<int64_t>(static_cast<size_t>(height * width * depth))};
}

// A device with one region of memory.
class Bench {
 public:
  explicit Bench(const char* tag = "ethos-u55-128", uint32_t seed = 1)
      : configuration(*sim::find_configuration(std::string_view(tag))),
        memory(configuration),
        random(seed),
        bytes_(1 << 20) {
    memory.regions[0] = {bytes_.data(), bytes_.size()};
  }

  int32_t in(int32_t least, int32_t most) {
    return std::uniform_int_distribution<int32_t>(least, most)(random);
  }

  // A map of its own memory, in one piece.
  sim::FeatureMap place(int32_t height, int32_t width, int32_t depth, sim::ElementType type,
                        bool brick, int32_t zero_point) {
    const int64_t element = sim::element_bytes(type);
    sim::FeatureMap map;
    map.height = map.height0 = map.height1 = height;
    map.width = map.width0 = width;
    map.depth = depth;
    map.type = type;
    map.brick = brick;
    map.zero_point = zero_point;
    const int64_t w = width, d = depth;
    if (brick) {
      map.stride_c = 16 * w * element;
      map.stride_y = map.stride_c * ((d + 15) / 16);
    } else {
      map.stride_x = d * element;
      map.stride_y = map.stride_x * w;
    }
    map.base.fill(take(static_cast<uint64_t>(height * map.stride_y)));
    return map;
  }

  uint64_t take(uint64_t size) {
    const uint64_t at = next_;
    next_ += (size + 15) / 16 * 16;
    EXPECT_LE(next_, bytes_.size());
    return at;
  }

  void put(const sim::FeatureMap& map, const Numbers& values) {
    for (int32_t y = 0; y < map.height; ++y)
      for (int32_t x = 0; x < map.width; ++x)
        for (int32_t c = 0; c < map.depth; ++c) {
          const int64_t value = values.at(y, x, c);
          std::memcpy(&bytes_[map.address(y, x, c)], &value,
                      static_cast<size_t>(sim::element_bytes(map.type)));
        }
  }
  Numbers get(const sim::FeatureMap& map) const {
    Numbers values = numbers(map.height, map.width, map.depth);
    for (int32_t y = 0; y < map.height; ++y)
      for (int32_t x = 0; x < map.width; ++x)
        for (int32_t c = 0; c < map.depth; ++c) {
          const uint8_t* from = &bytes_[map.address(y, x, c)];
          int64_t value = 0;
          for (int32_t i = 0; i < sim::element_bytes(map.type); ++i)
            value |= int64_t{from[i]} << (8 * i);
          if (value > sim::highest(map.type))
            value -= int64_t{1} << (8 * sim::element_bytes(map.type));
          values.at(y, x, c) = value;
        }
    return values;
  }
  // Random numbers of the map's type, put into it.
  Numbers fill(const sim::FeatureMap& map) {
    Numbers values = numbers(map.height, map.width, map.depth);
    std::uniform_int_distribution<int64_t> any(sim::lowest(map.type), sim::highest(map.type));
    for (int64_t& value : values.values) value = any(random);
    put(map, values);
    return values;
  }

  void clamp_to_type(sim::Operation& op) {
    op.activation.minimum =
        static_cast<int32_t>(std::max<int64_t>(sim::lowest(op.ofm.type), -32768));
    op.activation.maximum =
        static_cast<int32_t>(std::min<int64_t>(sim::highest(op.ofm.type), 65535));
    op.ofm_block = {16, 16, 16};
  }

  std::string run(const sim::Operation& op) {
    const auto fault = sim::execute(op, configuration, memory, uint64_t{1} << 32);
    return fault ? fault->what : "";
  }

  const sim::Configuration& configuration;
  sim::Memory memory;
  std::mt19937 random;
  uint8_t* bytes() { return bytes_.data(); }

 private:
  std::vector<uint8_t> bytes_;
  uint64_t next_ = 0;
};

// value * multiplier / 2^shift as the architecture words it, in exact arithmetic.
int64_t plain_scale(int64_t value, const sim::Scale& scale, sim::Rounding rounding);

// Output stage without a table: zero point and clamp, or 32 bits as they are.
int64_t plain_output(const sim::Operation& op, int64_t scaled);

}  // namespace intarsia::test::ethos_u
