// The compressed weights: the bit format, and the order in which the device consumes weights.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_u/memory.h"
#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {

// Decodes a stream that must hold exactly `count` weights; fails with one sentence.
std::optional<std::string> decode_weights(std::span<const uint8_t> stream, size_t count,
                                          std::vector<int16_t>& weights);

// What the decoder reads besides weights: headers of slices and palettes, and the entries of these.
struct WeightHeaders {
  int64_t slices = 0, palettes = 0, entries = 0;
};
// Of a stream of at most `most` weights; nothing where it is broken.
std::optional<WeightHeaders> weight_headers(std::span<const uint8_t> stream, size_t most);

// What decides the order of the weights of one core's stream.
struct Traversal {
  int32_t ofm_depth = 0, ifm_depth = 0;  // channels of this stream; ifm_depth is 1 for depthwise
  int32_t kernel_height = 1, kernel_width = 1;
  int32_t ofm_block_depth = 8;
  int32_t ofm_ublock_depth = 8, ifm_ublock_depth = 8;
  int32_t sub_kernel_height = 8, sub_kernel_width = 8;  // at most; dilation makes them smaller
  bool depthwise = false;
  bool part_kernel_first = false;
  bool wide_ifm = false;  // 16-bit IFM
};

Traversal traversal_of(const Operation& operation, const Configuration& configuration,
                       int32_t core);

// How many weights a stream holds, padding included.
int64_t traversal_length(const Traversal& traversal);

// Calls visit(ofm channel, y, x, ifm channel) for every position, and visit_padding() for every
// position that pads, in stream order.
template <typename Visit, typename VisitPadding>
void traverse(const Traversal& t, const Visit& visit, const VisitPadding& visit_padding);

// The weights of an operation as [ofm][y][x][ifm], or [ofm][y][x] for depthwise ones.
std::optional<Fault> load_weights(const Operation& operation, const Configuration& configuration,
                                  const Memory& memory, std::vector<int16_t>& weights);

struct ChannelScale {
  int64_t bias = 0;
  Scale scale;
};

// Bias and scale of every OFM channel.
std::optional<Fault> load_scales(const Operation& operation, const Memory& memory,
                                 std::vector<ChannelScale>& scales);

// ---- Implementation ----

template <typename Visit, typename VisitPadding>
void traverse(const Traversal& t, const Visit& visit, const VisitPadding& visit_padding) {
  const auto smaller = [](int32_t a, int32_t b) { return a < b ? a : b; };
  const auto round_up = [](int32_t a, int32_t b) { return (a + b - 1) / b * b; };
  const int32_t ifm_block_depth = t.part_kernel_first || t.wide_ifm ? 16 : 32;
  const int32_t ifm_blocks_end = t.depthwise ? 1 : t.ifm_depth;
  // Kernel elements are taken in groups where one IFM channel would leave multipliers idle.
  const int32_t element_group = t.depthwise ? 4 : !t.part_kernel_first ? 1 : t.wide_ifm ? 2 : 4;
  const int32_t ifm_in_ublock = t.depthwise ? 1 : t.ifm_ublock_depth;

  // One micro-block of weights for one kernel element.
  const auto ublock = [&](int32_t ofm, int32_t ofm_end, bool inside, int32_t y, int32_t x,
                          int32_t ifm) {
    for (int32_t ofm_z = ofm; ofm_z < ofm + t.ofm_ublock_depth; ++ofm_z)
      for (int32_t ifm_z = ifm; ifm_z < ifm + ifm_in_ublock; ++ifm_z)
        if (inside && ofm_z < ofm_end && ifm_z < t.ifm_depth)
          visit(ofm_z, y, x, ifm_z);
        else
          visit_padding();
  };

  for (int32_t ofm_block = 0; ofm_block < t.ofm_depth; ofm_block += t.ofm_block_depth) {
    const int32_t ofm_block_end = smaller(ofm_block + t.ofm_block_depth, t.ofm_depth);
    for (int32_t ifm_block = 0; ifm_block < ifm_blocks_end; ifm_block += ifm_block_depth) {
      // Depth first always walks a whole block, part kernel first only what there is of it.
      const int32_t ifm_block_end = t.depthwise ? ifm_block + ifm_in_ublock
                                    : t.part_kernel_first
                                        ? smaller(ifm_block + ifm_block_depth, t.ifm_depth)
                                        : ifm_block + ifm_block_depth;
      for (int32_t top = 0; top < t.kernel_height; top += t.sub_kernel_height) {
        const int32_t height = smaller(t.kernel_height - top, t.sub_kernel_height);
        for (int32_t left = 0; left < t.kernel_width; left += t.sub_kernel_width) {
          const int32_t width = smaller(t.kernel_width - left, t.sub_kernel_width);
          const int32_t elements = round_up(width * height, element_group);
          const auto at_element = [&](int32_t ofm, int32_t element, int32_t ifm) {
            // A micro-block may reach into the channels of the next OFM block.
            ublock(ofm, t.ofm_depth, element < width * height, top + element / width,
                   left + element % width, ifm);
          };
          if (t.part_kernel_first) {
            for (int32_t ifm = ifm_block; ifm < ifm_block_end; ifm += t.ifm_ublock_depth)
              for (int32_t ofm = ofm_block; ofm < ofm_block_end; ofm += t.ofm_ublock_depth)
                for (int32_t element = 0; element < elements; ++element)
                  at_element(ofm, element, ifm);
          } else {
            for (int32_t ofm = ofm_block; ofm < ofm_block_end; ofm += t.ofm_ublock_depth)
              for (int32_t element = 0; element < elements; ++element)
                for (int32_t ifm = ifm_block; ifm < ifm_block_end; ifm += ifm_in_ublock)
                  at_element(ofm, element, ifm);
          }
        }
      }
    }
  }
}

}  // namespace intarsia::simulators::ethos_u
