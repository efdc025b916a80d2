#include "weights/weight_order.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int32_t kSubKernel = 8;  // a kernel is processed in parts of 8x8 input elements

class Orderer {
 public:
  Orderer(const WeightTensor& tensor, const ChannelRange& channels,
          const WeightTraversal& traversal)
      : tensor_(tensor), channels_(channels), traversal_(traversal), depth_(channels.count()) {}

  std::vector<int16_t> run() {
    const int32_t ifm_block = traversal_.part_kernel || traversal_.ifm_16bit ? 16 : 32;
    const int32_t ifm_end = traversal_.depthwise ? 1 : tensor_.ifm_depth;
    const int32_t part_height = kSubKernel / traversal_.dilation_y;
    const int32_t part_width = kSubKernel / traversal_.dilation_x;
    reserve(ifm_block);
    for (int32_t ofm = 0; ofm < depth_; ofm += traversal_.ofm_block_depth)
      for (int32_t ifm = 0; ifm < ifm_end; ifm += ifm_block)
        for (int32_t y = 0; y < tensor_.kernel_height; y += part_height)
          for (int32_t x = 0; x < tensor_.kernel_width; x += part_width)
            sub_kernel({ofm, std::min(ofm + traversal_.ofm_block_depth, depth_)},
                       {ifm, ifm_block_end(ifm, ifm_block)},
                       {y, std::min(y + part_height, tensor_.kernel_height)},
                       {x, std::min(x + part_width, tensor_.kernel_width)});
    return std::move(result_);
  }

 private:
  struct Range {
    int32_t from, to;
  };

  // What whole blocks take, about: a vector that grows is written again and again.
  void reserve(int32_t ifm_block) {
    const int64_t deep = traversal_.depthwise ? 1 : round_up(tensor_.ifm_depth, ifm_block);
    const int64_t wide = round_up(depth_, traversal_.ofm_ublock_depth);
    const int64_t elements = round_up(tensor_.kernel_height * tensor_.kernel_width, 4);
    result_.reserve(static_cast<size_t>(deep * wide * elements));
  }

  // Depth-first reads whole blocks whatever the depth; part-kernel stops with the last channel.
  int32_t ifm_block_end(int32_t from, int32_t block) const {
    if (traversal_.depthwise) return from + traversal_.ifm_ublock_depth;
    return traversal_.part_kernel ? std::min(from + block, tensor_.ifm_depth) : from + block;
  }

  void sub_kernel(Range ofm, Range ifm, Range y, Range x) {
    const int32_t width = x.to - x.from;
    int32_t elements = (y.to - y.from) * width;
    // The dot product takes four kernel elements at once (two of 16 bit).
    if (traversal_.depthwise || (traversal_.part_kernel && !traversal_.ifm_16bit))
      elements = round_up(elements, 4);
    else if (traversal_.part_kernel)
      elements = round_up(elements, 2);

    const int32_t ifm_outer_end = traversal_.part_kernel ? ifm.to : ifm.from + 1;
    for (int32_t outer = ifm.from; outer < ifm_outer_end; outer += traversal_.ifm_ublock_depth)
      for (int32_t block = ofm.from; block < ofm.to; block += traversal_.ofm_ublock_depth)
        for (int32_t element = 0; element < elements; ++element) {
          const int32_t ky = y.from + element / width, kx = x.from + element % width;
          const int32_t inner_end = traversal_.part_kernel ? outer + 1 : ifm.to;
          for (int32_t inner = outer; inner < inner_end; inner += traversal_.ifm_ublock_depth)
            micro_block(block, inner, ky < y.to ? ky : -1, kx);
        }
  }

  void micro_block(int32_t ofm, int32_t ifm, int32_t ky, int32_t kx) {
    const int32_t ifm_count = traversal_.depthwise ? 1 : traversal_.ifm_ublock_depth;
    const size_t at = result_.size();
    result_.resize(at + static_cast<size_t>(traversal_.ofm_ublock_depth * ifm_count));  // zeros
    const int32_t inside = std::min(ifm_count, tensor_.ifm_depth - ifm);
    if (ky < 0 || inside <= 0) return;
    const int64_t element = (int64_t{ky} * tensor_.kernel_width + kx) * tensor_.ifm_depth + ifm;
    const int64_t kernel =
        int64_t{tensor_.kernel_height} * tensor_.kernel_width * tensor_.ifm_depth;
    const int32_t end = std::min(ofm + traversal_.ofm_ublock_depth, depth_);
    int16_t* to = result_.data() + at;
    for (int32_t o = ofm; o < end; ++o, to += ifm_count) {
      const int64_t from = (channels_.first + o * channels_.step) * kernel + element;
      const int16_t* values = tensor_.values.data() + from;
      for (int32_t i = 0; i < inside; ++i) to[i] = values[i];
    }
  }

  const WeightTensor& tensor_;
  const ChannelRange& channels_;
  const WeightTraversal& traversal_;
  int32_t depth_;
  std::vector<int16_t> result_;
};

}  // namespace

std::vector<int16_t> order_weights(const WeightTensor& tensor, const ChannelRange& channels,
                                   const WeightTraversal& traversal) {
  return Orderer(tensor, channels, traversal).run();
}

}  // namespace intarsia::targets::ethos_u
