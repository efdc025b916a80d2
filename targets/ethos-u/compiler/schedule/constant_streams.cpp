#include "schedule/constant_streams.h"

#include <algorithm>
#include <memory>
#include <span>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "weights/weight_encoder.h"
#include "weights/weight_order.h"

namespace intarsia::targets::ethos_u {
namespace {

// Bias in 40 bits, multiplier in 32, shift in 6; little-endian.
void append_scale(const ChannelScale& scale, std::vector<uint8_t>& bytes) {
  INTARSIA_CHECK(scale.bias >= -(int64_t{1} << 39) && scale.bias < int64_t{1} << 39 &&
                     scale.shift >= 0 && scale.shift < 64,
                 "scales fit their record");
  const auto bias = static_cast<uint64_t>(scale.bias);
  for (int byte = 0; byte < 5; ++byte) bytes.push_back(static_cast<uint8_t>(bias >> (8 * byte)));
  for (int byte = 0; byte < 4; ++byte)
    bytes.push_back(static_cast<uint8_t>(scale.multiplier >> (8 * byte)));
  bytes.push_back(static_cast<uint8_t>(scale.shift));
}

void pad(std::vector<uint8_t>& bytes) {
  const auto unit = static_cast<size_t>(kStreamAlignment);
  bytes.resize(round_up(bytes.size(), unit));
}

double header_cycles(const WeightHeaders& headers) {
  const isa::ethos_u::AssumedTiming& assumed = isa::ethos_u::kAssumed;
  return static_cast<double>(headers.slices) * assumed.slice_header +
         static_cast<double>(headers.palettes) * assumed.palette_header +
         static_cast<double>(headers.entries) * assumed.palette_entry;
}

constexpr int64_t kLargestPalette = 32;

HeaderWorth worth_of_headers(std::span<const int16_t> weights, EncodedStreams& encoded) {
  const isa::ethos_u::AssumedTiming& assumed = isa::ethos_u::kAssumed;
  const double bits_of_weight = 8 * static_cast<double>(encoded.estimated_bytes(weights)) /
                                static_cast<double>(weights.size());
  const auto bits_of = [&](double cycles) {
    return static_cast<int32_t>(cycles * isa::ethos_u::kPublished.decoded_weights * bits_of_weight);
  };
  return {bits_of(assumed.slice_header), bits_of(assumed.palette_header),
          bits_of(assumed.palette_entry)};
}

}  // namespace

double least_header_cycles() {
  return header_cycles({1, 1, kLargestPalette});
}

bool decoder_sets_pace(const Hardware& hardware, const BlockConfig& block) {
  const isa::ethos_u::PublishedTiming& published = isa::ethos_u::kPublished;
  const Extent& ublock = hardware.ofm_ublock;
  const int32_t plane =
      ceil_div(block.ofm.height, ublock.height) * ceil_div(block.ofm.width, ublock.width);
  return plane * published.step <=
         published.step_weights * ublock.depth / published.decoded_weights;
}

ConstantStream make_constant_stream(EncodedStreams& encoded, const Hardware& hardware,
                                    const Operation& operation, DataType ifm_type,
                                    const BlockConfig& block, int32_t first, int32_t end,
                                    bool decoding_counts) {
  const Kernel& kernel = operation.kernel;
  const bool depthwise = operation.kind == OperationKind::Depthwise;
  const WeightTensor tensor = {operation.weights, operation.ofm.extent.depth, kernel.height,
                               kernel.width, depthwise ? 1 : operation.ifm.extent.depth};
  ConstantStream result;
  for (int32_t core = 0; core < hardware.cores; ++core) {
    const ChannelRange channels = {first + core, end, hardware.cores};
    const auto scales_at = static_cast<int64_t>(result.bytes.size());
    for (int32_t c = channels.first; c < channels.end; c += channels.step)
      append_scale(operation.scales.at(static_cast<size_t>(c)), result.bytes);
    pad(result.bytes);
    const auto weights_at = static_cast<int64_t>(result.bytes.size());
    if (channels.count() > 0) {
      WeightTraversal traversal;
      traversal.ofm_block_depth = (block.ofm.depth + hardware.cores - 1 - core) / hardware.cores;
      traversal.ofm_ublock_depth = hardware.ofm_ublock.depth;
      traversal.ifm_ublock_depth = hardware.ifm_ublock.depth;
      traversal.dilation_y = kernel.dilation_y;
      traversal.dilation_x = kernel.dilation_x;
      traversal.depthwise = depthwise;
      traversal.part_kernel = block.part_kernel;
      traversal.ifm_16bit = element_bytes(ifm_type) == 2;
      const std::vector<int16_t> ordered = order_weights(tensor, channels, traversal);
      const std::shared_ptr<const EncodedStreams::Stream> stream =
          encoded.of(ordered, decoding_counts ? worth_of_headers(ordered, encoded) : HeaderWorth{});
      result.header_cycles = std::max(result.header_cycles, header_cycles(stream->headers));
      result.bytes.insert(result.bytes.end(), stream->bytes.begin(), stream->bytes.end());
    }
    result.scales.push_back({-1, scales_at, weights_at - scales_at});
    result.weights.push_back(
        {-1, weights_at, static_cast<int64_t>(result.bytes.size()) - weights_at});
  }
  return result;
}

ConstantParts in_parts(const ConstantStream& stream) {
  const auto part_of = [&](const std::vector<Span>& spans, std::vector<uint8_t>& bytes) {
    std::vector<Span> parts;
    for (const Span& span : spans) {
      parts.push_back({-1, std::ssize(bytes), span.bytes});
      const auto from = stream.bytes.begin() + static_cast<ptrdiff_t>(span.offset);
      bytes.insert(bytes.end(), from, from + static_cast<ptrdiff_t>(span.bytes));
    }
    return parts;
  };
  ConstantParts parts;
  parts.weights = part_of(stream.weights, parts.weight_bytes);
  parts.scales = part_of(stream.scales, parts.scale_bytes);
  return parts;
}

}  // namespace intarsia::targets::ethos_u
