#include "intarsia/targets/ethos_u85/weights.h"

#include <algorithm>
#include <string>

#include "intarsia/targets/ethos_u/weight_stream.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

Fault weight_fault(Cause cause, std::string what) {
  return {cause, 0, "", std::move(what)};
}

std::string decoder_text(size_t decoder) {
  return "decoder " + std::to_string(decoder) + ": ";
}

// The bytes of a stream, or null and a fault.
const uint8_t* stream_bytes(const Memory& memory, uint32_t region, const Range& range,
                            const std::string& what, std::optional<Fault>& failure) {
  const uint8_t* bytes = memory.read(region, range.base, range.length);
  if (bytes == nullptr)
    failure = weight_fault(Cause::Bus, what + " at bytes " + std::to_string(range.base) + " to " +
                                           std::to_string(range.base + range.length) +
                                           " lie outside of region " + std::to_string(region));
  return bytes;
}

int64_t count_of(const Traversal& t, int32_t stream) {
  int64_t count = 0;
  traverse(t, stream, [&](const WeightPlace&) { ++count; });
  return count;
}

// Puts weights where they belong; `next` walks along them.
class Placement {
 public:
  Placement(const Traversal& t, std::vector<int16_t>& weights) : t_(t), weights_(weights) {
    weights_.assign(static_cast<size_t>(t.ofm_depth) * static_cast<size_t>(t.kernel_height) *
                        static_cast<size_t>(t.kernel_width) * static_cast<size_t>(t.ifm_depth),
                    0);
  }
  // False when a weight pads and is not zero.
  bool put(const WeightPlace& place, int16_t weight) {
    if (place.ofm == kWeightPadding) return weight == 0;
    const auto u = [](int32_t value) { return static_cast<size_t>(value); };
    weights_[((u(place.ofm) * u(t_.kernel_height) + u(place.y)) * u(t_.kernel_width) + u(place.x)) *
                 u(t_.ifm_depth) +
             u(place.ifm)] = weight;
    return true;
  }

 private:
  const Traversal& t_;
  std::vector<int16_t>& weights_;
};

const char* const kNotZero = "a weight that only pads is not zero";

std::optional<Fault> load_golomb(const Operation& op, const Traversal& t, const Memory& memory,
                                 std::vector<int16_t>& weights) {
  Placement placement(t, weights);
  std::vector<int16_t> stream;
  for (int32_t s = 0; s < t.streams; ++s) {
    const auto decoder = static_cast<size_t>(s);
    const auto count = static_cast<size_t>(count_of(t, s));
    const Range& range = op.weights[decoder];
    std::optional<Fault> failure;
    const uint8_t* bytes =
        stream_bytes(memory, op.weight_region, range, decoder_text(decoder) + "weights", failure);
    if (bytes == nullptr) return failure;
    if (auto broken =
            ethos_u::decode_weights({bytes, static_cast<size_t>(range.length)}, count, stream))
      return weight_fault(Cause::WeightDecoder, decoder_text(decoder) + *broken);
    const int16_t* next = stream.data();
    bool padded = true;
    traverse(t, s, [&](const WeightPlace& place) { padded &= placement.put(place, *next++); });
    if (!padded) return weight_fault(Cause::WeightDecoder, decoder_text(decoder) + kNotZero);
  }
  return std::nullopt;
}

// One stream, in which those of the decoders take turns.
std::optional<Fault> load_fast(const Operation& op, const Traversal& t, const Memory& memory,
                               std::vector<int16_t>& weights) {
  Placement placement(t, weights);
  const auto one = static_cast<size_t>(count_of(t, 0));
  const size_t streams = static_cast<size_t>(t.streams), count = one * streams;
  std::optional<Fault> failure;
  const Range& range = op.weights[0];
  const uint8_t* bytes = stream_bytes(memory, op.weight_region, range, "weights", failure);
  if (bytes == nullptr) return failure;
  std::vector<int16_t> stream;
  if (auto broken = decode_fast_weights({bytes, static_cast<size_t>(range.length)}, count, stream))
    return weight_fault(Cause::WeightDecoder, *broken);
  const size_t turn =
      static_cast<size_t>(t.element_weights() * (t.element_group + t.padding_elements)) / streams;
  bool padded = true;
  for (int32_t s = 0; s < t.streams; ++s) {
    size_t i = 0;
    traverse(t, s, [&](const WeightPlace& place) {
      const size_t at = (i / turn * streams + static_cast<size_t>(s)) * turn + i % turn;
      padded &= placement.put(place, stream[at]);
      ++i;
    });
  }
  if (!padded) return weight_fault(Cause::WeightDecoder, kNotZero);
  return std::nullopt;
}

// Of four weights that follow each other along the depth at most two are not zero.
std::optional<Fault> check_sparsity(const Traversal& t, const std::vector<int16_t>& weights) {
  const auto depth = static_cast<size_t>(t.ifm_depth);
  for (size_t at = 0; at < weights.size(); at += depth)
    for (size_t c = 0; c < depth; c += 4) {
      int32_t used = 0;
      for (size_t i = c; i < std::min(c + 4, depth); ++i) {
        used += weights[at + i] != 0 ? 1 : 0;
        if (weights[at + i] < -127 || weights[at + i] > 127)
          return weight_fault(
              Cause::WeightDecoder,
              "a sparse weight of " + std::to_string(weights[at + i]) + " is beyond 127");
      }
      if (used > 2)
        return weight_fault(Cause::WeightDecoder,
                            "of four sparse weights that follow each other along the depth " +
                                std::to_string(used) + " are not zero");
    }
  return std::nullopt;
}

// Bits, least significant first.
class FastBits {
 public:
  explicit FastBits(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint32_t get(size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i, ++at_)
      value |= static_cast<uint32_t>(bytes_[at_ / 8] >> (at_ % 8) & 1) << i;
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace

Traversal traversal_of(const Operation& op, const Configuration& configuration) {
  Traversal t;
  t.depthwise = op.kind == OperationKind::Depthwise;
  t.ofm_depth = op.ofm_depth;
  t.ifm_depth = t.depthwise ? 1 : op.ifm.map.depth;
  t.kernel_height = op.kernel.height;
  t.kernel_width = op.kernel.width;
  t.sub_kernel_height = 8 / op.kernel.dilation_y;
  t.sub_kernel_width = 8 / op.kernel.dilation_x;
  t.ofm_block_depth = op.block_depth;
  t.micro_depth = op.micro_block.depth;
  t.streams = configuration.decoders;
  const bool wide = element_bytes(op.ifm.map.type) == 2;
  const bool depth_first = !t.depthwise && !op.kernel.part_kernel_first;
  if (!depth_first) {
    t.stride_y = op.kernel.stride_y;
    t.stride_x = op.kernel.stride_x;
  }
  if (t.depthwise) {
    t.ifm_block_depth = t.ifm_step_block = t.ifm_step = 1;
    t.element_group = 10;
    if (configuration.macs > 512)
      t.padding_elements = 6;
    else if (wide || configuration.macs > 256)
      t.padding_elements = 2;
    return t;
  }
  t.ifm_step = op.sparse_weights ? 16 : 8;
  if (depth_first) {
    t.ifm_block_depth = 64;
    if (configuration.macs <= 256 && t.micro_depth == 16 && !op.sparse_weights)
      t.ifm_block_depth = 32;
    if (op.sparse_weights && !wide) t.ifm_block_depth = 128;
    t.ifm_step_block = t.ifm_block_depth;
    return t;
  }
  t.element_group = wide || op.sparse_weights ? 10 : 5;
  t.ifm_block_depth = 16;
  t.ifm_step_block = wide && !op.sparse_weights ? 8 : 16;
  return t;
}

std::optional<std::string> decode_fast_weights(std::span<const uint8_t> stream, size_t count,
                                               std::vector<int16_t>& weights) {
  constexpr size_t kHeader = 32, kUnit = 32, kZeroBits = 102, kPalette = 16;
  if (stream.size() < kHeader) return "the weight stream is shorter than its header";
  FastBits header(stream.first(kHeader));
  const bool raw = header.get(1) != 0, small = header.get(1) != 0;
  for (size_t i = 0; i < kZeroBits; ++i)
    if (header.get(1) != 0) return "the header of the weight stream sets bits without a meaning";
  const auto zero = static_cast<int8_t>(header.get(8));
  int16_t palette[kPalette];
  for (int16_t& entry : palette) {
    const uint32_t folded = header.get(9);
    const auto magnitude = static_cast<int16_t>(folded >> 1);
    entry = static_cast<int16_t>((folded & 1) != 0 ? -magnitude : magnitude);
  }
  const size_t bits = raw ? 8 : small ? 2 : 4;
  const size_t used = (count * bits + 7) / 8;
  const size_t whole = kHeader + (used + kUnit - 1) / kUnit * kUnit;
  if (stream.size() != whole)
    return "the weight stream has " + std::to_string(stream.size()) + " bytes, the operation's " +
           std::to_string(count) + " weights take " + std::to_string(whole);
  FastBits data(stream.subspan(kHeader));
  weights.resize(count);
  for (int16_t& weight : weights) {
    const uint32_t symbol = data.get(bits);
    weight = raw ? static_cast<int16_t>(static_cast<int8_t>(symbol) - zero) : palette[symbol];
  }
  for (size_t i = count * bits; i < 8 * (whole - kHeader); ++i)
    if (data.get(1) != 0) return "the weight stream ends with bits that are not zero";
  return std::nullopt;
}

std::optional<Fault> load_weights(const Operation& op, const Configuration& configuration,
                                  const Memory& memory, std::vector<int16_t>& weights) {
  const Traversal t = traversal_of(op, configuration);
  if (auto fault =
          op.fast_weights ? load_fast(op, t, memory, weights) : load_golomb(op, t, memory, weights))
    return fault;
  return op.sparse_weights ? check_sparsity(t, weights) : std::nullopt;
}

std::optional<Fault> load_scales(const Operation& op, const Memory& memory,
                                 std::vector<ChannelScale>& scales) {
  scales.assign(static_cast<size_t>(op.ofm_depth), {});
  if (op.scales.length < scales.size() * kScaleRecordBytes)
    return weight_fault(Cause::Operand, "SCALE_LENGTH " + std::to_string(op.scales.length) +
                                            " holds fewer than the " +
                                            std::to_string(scales.size()) + " channels");
  std::optional<Fault> failure;
  const uint8_t* bytes = stream_bytes(memory, op.scale_region, op.scales, "scales", failure);
  if (bytes == nullptr) return failure;
  const int bias_bytes = op.wide_accumulators ? 6 : 4;
  for (size_t channel = 0; channel < scales.size(); ++channel, bytes += kScaleRecordBytes) {
    uint64_t bias = 0;
    uint32_t multiplier = 0;
    for (int i = bias_bytes - 1; i >= 0; --i) bias = bias << 8 | bytes[i];
    for (int i = 7; i >= bias_bytes; --i) multiplier = multiplier << 8 | bytes[i];
    const uint32_t most = op.wide_accumulators ? 0x7FFF : 0x7FFFFFFF;
    if (multiplier > most || bytes[8] > 63 || bytes[9] != 0)
      return weight_fault(Cause::Operand, "the scale of channel " + std::to_string(channel) +
                                              " sets bits without a meaning");
    const int unused = 64 - 8 * bias_bytes;
    scales[channel] = {static_cast<int64_t>(bias << unused) >> unused,
                       {multiplier, bytes[8], 0, op.ofm_scale.rounding}};
  }
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u85
