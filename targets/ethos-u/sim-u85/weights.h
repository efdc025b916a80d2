// The weights and scales of the Ethos-U85: the order in which it consumes weights, and the forms in which they come.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u85/operation.h"

namespace intarsia::simulators::ethos_u85 {

using ethos_u::Memory;

// What decides the order of weights.
struct Traversal {
  int32_t ofm_depth = 0, ifm_depth = 0;  // ifm_depth is 1 for depthwise
  int32_t kernel_height = 1, kernel_width = 1;
  int32_t stride_y = 1, stride_x = 1;  // 1 in depth-first order
  int32_t sub_kernel_height = 8, sub_kernel_width = 8;
  int32_t ofm_block_depth = 16, micro_depth = 8;
  int32_t ifm_block_depth = 64, ifm_step_block = 64, ifm_step = 8;
  int32_t element_group = 1;     // kernel elements are filled up to a multiple
  int32_t padding_elements = 0;  // behind every group
  bool depthwise = false;
  int32_t streams = 1;  // of which each has every so manieth group of four channels

  // Weights of one kernel element of one micro-block, of all streams.
  int64_t element_weights() const { return int64_t{ifm_step_block} * micro_depth; }
};

Traversal traversal_of(const Operation& operation, const Configuration& configuration);

struct WeightPlace {
  int32_t ofm = 0, y = 0, x = 0, ifm = 0;
};
constexpr int32_t kWeightPadding = -1;  // as WeightPlace::ofm

// Calls visit(WeightPlace) for every weight of a stream, in its order.
template <typename Visit>
void traverse(const Traversal& traversal, int32_t stream, const Visit& visit);

// The weights of an operation as [ofm][y][x][ifm], or [ofm][y][x] for depthwise ones.
std::optional<Fault> load_weights(const Operation& operation, const Configuration& configuration,
                                  const Memory& memory, std::vector<int16_t>& weights);

// A stream for the fast decoder of exactly `count` weights; fails with one sentence.
std::optional<std::string> decode_fast_weights(std::span<const uint8_t> stream, size_t count,
                                               std::vector<int16_t>& weights);

struct ChannelScale {
  int64_t bias = 0;
  Scale scale;
};

// Bias and scale of every OFM channel.
std::optional<Fault> load_scales(const Operation& operation, const Memory& memory,
                                 std::vector<ChannelScale>& scales);

// ---- Implementation ----

template <typename Visit>
void traverse(const Traversal& t, int32_t stream, const Visit& visit) {
  const auto smaller = [](int32_t a, int32_t b) { return a < b ? a : b; };

  // One kernel element of one micro-block; `y` is negative where it pads.
  const auto element = [&](int32_t ofm, int32_t y, int32_t x, int32_t ifm) {
    for (int32_t step = 0; step < t.ifm_step_block; step += t.ifm_step)
      for (int32_t group = 4 * stream; group < t.micro_depth; group += 4 * t.streams)
        for (int32_t z = ofm + group; z < ofm + group + 4; ++z)
          for (int32_t c = ifm + step; c < ifm + step + t.ifm_step; ++c)
            visit(y >= 0 && z < t.ofm_depth && c < t.ifm_depth
                      ? WeightPlace{z, y, x, c}
                      : WeightPlace{kWeightPadding, 0, 0, 0});
  };

  const int32_t ifm_blocks = t.depthwise ? 1 : (t.ifm_depth - 1) / t.ifm_block_depth + 1;
  for (int32_t ofm_block = 0; ofm_block < t.ofm_depth; ofm_block += t.ofm_block_depth) {
    const int32_t ofm_end = smaller(ofm_block + t.ofm_block_depth, t.ofm_depth);
    // Every other OFM block takes the IFM blocks backwards.
    const bool backwards = ofm_block / t.ofm_block_depth % 2 != 0;
    for (int32_t i = 0; i < ifm_blocks; ++i) {
      const int32_t ifm_block = (backwards ? ifm_blocks - 1 - i : i) * t.ifm_block_depth;
      const int32_t ifm_end =
          t.depthwise ? ifm_block + 1 : smaller(ifm_block + t.ifm_block_depth, t.ifm_depth);
      for (int32_t left = 0; left < t.kernel_width; left += t.sub_kernel_width)
        for (int32_t top = 0; top < t.kernel_height; top += t.sub_kernel_height) {
          const int32_t width = smaller(t.sub_kernel_width, t.kernel_width - left),
                        height = smaller(t.sub_kernel_height, t.kernel_height - top);
          for (int32_t ifm = ifm_block; ifm < ifm_end; ifm += t.ifm_step_block)
            for (int32_t ofm = ofm_block; ofm < ofm_end; ofm += t.micro_depth) {
              int32_t in_group = 0;
              const auto next = [&](int32_t y, int32_t x) {
                element(ofm, y, x, ifm);
                if (++in_group < t.element_group) return;
                for (int32_t pad = 0; pad < t.padding_elements; ++pad) element(ofm, -1, 0, ifm);
                in_group = 0;
              };
              for (int32_t phase_y = 0; phase_y < t.stride_y; ++phase_y)
                for (int32_t phase_x = 0; phase_x < t.stride_x; ++phase_x) {
                  const int32_t columns = (width - phase_x + t.stride_x - 1) / t.stride_x;
                  for (int32_t y = phase_y, row = 0; y < height; y += t.stride_y, ++row)
                    for (int32_t column = 0; column < columns; ++column) {
                      const int32_t x = row % 2 == 0 ? column : columns - 1 - column;
                      next(top + y, left + phase_x + x * t.stride_x);
                    }
                }
              while (in_group != 0) next(-1, 0);
            }
        }
    }
  }
}

}  // namespace intarsia::simulators::ethos_u85
