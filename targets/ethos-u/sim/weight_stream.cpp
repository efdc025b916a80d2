#include "intarsia/targets/ethos_u/weight_stream.h"

#include <algorithm>
#include <array>
#include <bit>

namespace intarsia::simulators::ethos_u {
namespace {

// Values of the slice header that are no divisor.
constexpr uint32_t kNoZeroRuns = 6, kEndOfStream = 7, kUncompressed = 7;

// Bits, least significant first. Beyond the end there are ones, as the padding is, and exhausted().
class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint32_t get(uint32_t count) {  // at most 32
    while (held_ < count) {
      const uint64_t byte = at_ < bytes_.size() ? bytes_[at_] : 0xFF;
      ++at_;
      bits_ |= byte << held_;
      held_ += 8;
    }
    const auto value = static_cast<uint32_t>(bits_ & ((uint64_t{1} << count) - 1));
    bits_ >>= count;
    held_ -= count;
    return value;
  }
  void align_to_byte() { get(held_ % 8); }
  uint64_t position() const { return 8 * at_ - held_; }
  bool exhausted() const { return position() > 8 * bytes_.size(); }
  bool at_end() const { return position() >= 8 * bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  uint64_t bits_ = 0;
  uint32_t held_ = 0;
};

class Decoder {
 public:
  Decoder(std::span<const uint8_t> stream, size_t count, std::vector<int16_t>& weights)
      : bits_(stream), count_(count), weights_(weights) {}

  std::optional<std::string> run() {
    weights_.clear();
    weights_.reserve(count_);
    if (auto failure = read_all()) return failure;
    if (weights_.size() < count_)
      return "the weight stream holds " + std::to_string(weights_.size()) +
             " weights, the operation needs " + std::to_string(count_);
    return std::nullopt;
  }

  // To the end of the stream, whatever it holds.
  std::optional<std::string> read_all() {
    bool first = true;
    for (;;) {
      const uint32_t zero_divisor = bits_.get(3);
      if (zero_divisor == kEndOfStream) {
        bits_.align_to_byte();
        if (bits_.at_end()) break;
        first = true;
        continue;
      }
      if (auto failure = slice(zero_divisor, first)) return failure;
      first = false;
      if (bits_.exhausted()) return "the weight stream ends inside of a slice";
    }
    return std::nullopt;
  }

  const WeightHeaders& headers() const { return headers_; }

 private:
  struct Palette {
    uint32_t size = 0, bits = 2, direct_offset = 0;
    std::array<uint16_t, 32> values = {};
  };

  std::optional<std::string> slice(uint32_t zero_divisor, bool first) {
    if (zero_divisor > 3 && zero_divisor != kNoZeroRuns)
      return "a slice of the weight stream has zero-run divisor " + std::to_string(zero_divisor);
    const bool zero_runs = zero_divisor != kNoZeroRuns;
    const uint32_t length = bits_.get(15) + 1;
    const uint32_t divisor = bits_.get(3);
    if (divisor == 6) return "a slice of the weight stream has weight divisor 6";
    const bool truncated = bits_.get(1) != 0;
    const bool new_palette = bits_.get(1) != 0;
    if (first && !new_palette) return "the first slice of the weight stream has no palette";
    ++headers_.slices;
    if (new_palette)
      read_palette();
    else if (zero_runs != last_zero_runs_)
      return "a slice of the weight stream changes zero runs without a new palette";
    last_zero_runs_ = zero_runs;

    const bool raw = divisor == kUncompressed;
    const uint32_t remainder_bits = !raw                ? divisor
                                    : palette_.size > 0 ? std::bit_width(palette_.size - 1)
                                                        : palette_.bits;
    symbols_.assign(length, 0);
    runs_.assign(zero_runs ? length + (new_palette ? 1 : 0) : 0, 0);
    read_chunks(zero_divisor, raw, remainder_bits, truncated);
    return append(new_palette && zero_runs);
  }

  void read_palette() {
    palette_.direct_offset = bits_.get(5);
    palette_.size = bits_.get(5);
    if (palette_.size > 0) ++palette_.size;
    palette_.bits = bits_.get(3) + 2;
    ++headers_.palettes;
    headers_.entries += palette_.size;
    for (uint32_t i = 0; i < palette_.size; ++i)
      palette_.values[i] = static_cast<uint16_t>(bits_.get(palette_.bits));
  }

  // Quotients of one chunk, whose remainders follow in the next one.
  struct Chunk {
    bool enabled = false;
    uint32_t count = 0;
    std::array<uint32_t, 12> quotients;
  };

  void read_chunks(uint32_t zero_divisor, bool raw, uint32_t remainder_bits, bool truncated) {
    const bool zero_runs = !runs_.empty();
    const uint32_t zero_unary_bits = zero_divisor < 3 ? 12 : 8;
    // Positions up to which quotients, and whole values, have been read.
    uint64_t weights_begun = 0, runs_begun = 0;
    size_t weights_done = 0, runs_done = 0;
    uint32_t weight_carry = 0, run_carry = 0;
    Chunk weight, run;
    do {
      const Chunk last_weight = weight, last_run = run;
      const int64_t balance =
          zero_runs ? static_cast<int64_t>(weights_begun) - static_cast<int64_t>(runs_begun) : 0;
      weight.enabled = balance < 8 && weights_begun < symbols_.size();
      run.enabled = zero_runs && balance >= 0 && runs_begun < runs_.size();
      weight.count = run.count = 0;
      const uint32_t unary0 = weight.enabled && !raw ? bits_.get(12) : 0;
      if (run.enabled) {
        const uint32_t unary = bits_.get(zero_unary_bits);
        for (uint32_t i = 0; i < zero_unary_bits; ++i) {
          if ((unary >> i & 1) != 0) {
            ++run_carry;
          } else {
            run.quotients[run.count++] = run_carry;
            run_carry = 0;
          }
        }
        runs_begun += run.count;
      }
      if (weight.enabled) {
        uint32_t unary1 = bits_.get(static_cast<uint32_t>(std::popcount(unary0)));
        const uint32_t most = raw && remainder_bits > 5 ? 8 : 12;
        for (uint32_t i = 0; i < most; ++i) {
          uint32_t code = 0;
          if ((unary0 >> i & 1) != 0) {
            code = 1 + (unary1 & 1);
            unary1 >>= 1;
          }
          weight_carry += code;
          if (code < 2 || truncated) {
            weight.quotients[weight.count++] = weight_carry;
            weight_carry = 0;
          }
        }
        weights_begun += weight.count;
      }
      if (last_weight.enabled)
        for (uint32_t i = 0; i < last_weight.count && weights_done < symbols_.size(); ++i)
          symbols_[weights_done++] =
              (last_weight.quotients[i] << remainder_bits) + bits_.get(remainder_bits);
      if (last_run.enabled)
        for (uint32_t i = 0; i < last_run.count && runs_done < runs_.size(); ++i)
          runs_[runs_done++] = (last_run.quotients[i] << zero_divisor) + bits_.get(zero_divisor);
    } while ((weight.enabled || run.enabled) && !bits_.exhausted());
  }

  // The slice's weights with the zeros between them.
  std::optional<std::string> append(bool leading_run) {
    if (leading_run)
      if (auto failure = append_zeros(runs_[0])) return failure;
    for (size_t i = 0; i < symbols_.size(); ++i) {
      const uint32_t symbol = symbols_[i];
      const uint32_t folded = symbol < palette_.size
                                  ? palette_.values[symbol]
                                  : symbol - palette_.size + palette_.direct_offset;
      if (folded > 511) return "the weight stream holds a weight of more than nine bits";
      const auto magnitude = static_cast<int16_t>(folded >> 1);
      if (weights_.size() == count_) return too_many();
      weights_.push_back(static_cast<int16_t>((folded & 1) != 0 ? -magnitude : magnitude));
      if (!runs_.empty())
        if (auto failure = append_zeros(runs_[i + (leading_run ? 1 : 0)])) return failure;
    }
    return std::nullopt;
  }

  std::optional<std::string> append_zeros(uint32_t zeros) {
    if (zeros > count_ - weights_.size()) return too_many();
    weights_.insert(weights_.end(), zeros, 0);
    return std::nullopt;
  }

  std::string too_many() const {
    return "the weight stream holds more than the " + std::to_string(count_) +
           " weights of the operation";
  }

  BitReader bits_;
  size_t count_;
  std::vector<int16_t>& weights_;
  Palette palette_;
  WeightHeaders headers_;
  bool last_zero_runs_ = false;
  std::vector<uint32_t> symbols_, runs_;  // of one slice
};

Fault fault(Cause cause, int32_t core, const std::string& what) {
  return {cause, 0, "", "core " + std::to_string(core) + ": " + what};
}

int32_t channels_of(const Operation& op, int32_t core) {
  return (op.ofm.depth + op.cores - 1 - core) / op.cores;
}

// The bytes of a stream, or null and a fault.
const uint8_t* bytes_of(const Memory& memory, uint32_t region, const Range& range, const char* what,
                        int32_t core, std::optional<Fault>& failure) {
  const uint8_t* bytes = memory.read(region, range.base, range.length);
  if (bytes == nullptr)
    failure = fault(Cause::Bus, core,
                    std::string(what) + " at bytes " + std::to_string(range.base) + " to " +
                        std::to_string(range.base + range.length) + " lie outside of region " +
                        std::to_string(region));
  return bytes;
}

}  // namespace

std::optional<std::string> decode_weights(std::span<const uint8_t> stream, size_t count,
                                          std::vector<int16_t>& weights) {
  return Decoder(stream, count, weights).run();
}

std::optional<WeightHeaders> weight_headers(std::span<const uint8_t> stream, size_t most) {
  std::vector<int16_t> weights;
  Decoder decoder(stream, most, weights);
  return decoder.read_all() ? std::nullopt : std::optional(decoder.headers());
}

Traversal traversal_of(const Operation& op, const Configuration& configuration, int32_t core) {
  Traversal t;
  t.depthwise = op.kind == OperationKind::Depthwise;
  t.ofm_depth = channels_of(op, core);
  t.ifm_depth = t.depthwise ? 1 : op.ifm.depth;
  t.kernel_height = op.kernel.height;
  t.kernel_width = op.kernel.width;
  t.ofm_block_depth = (op.ofm_block.depth + op.cores - 1 - core) / op.cores;
  t.ofm_ublock_depth = configuration.ofm_ublock.depth;
  t.ifm_ublock_depth = configuration.ifm_ublock.depth;
  t.sub_kernel_height = op.kernel.decomposition / op.kernel.dilation_y;
  t.sub_kernel_width = op.kernel.decomposition / op.kernel.dilation_x;
  t.part_kernel_first = op.kernel.part_kernel_first && !t.depthwise;
  t.wide_ifm = element_bytes(op.ifm.type) == 2;
  return t;
}

int64_t traversal_length(const Traversal& traversal) {
  int64_t length = 0;
  const auto count = [&](auto...) { ++length; };
  traverse(traversal, count, count);
  return length;
}

std::optional<Fault> load_weights(const Operation& op, const Configuration& configuration,
                                  const Memory& memory, std::vector<int16_t>& weights) {
  const bool depthwise = op.kind == OperationKind::Depthwise;
  const auto ifm_depth = static_cast<size_t>(depthwise ? 1 : op.ifm.depth);
  const auto width = static_cast<size_t>(op.kernel.width);
  const auto height = static_cast<size_t>(op.kernel.height);
  weights.assign(static_cast<size_t>(op.ofm.depth) * height * width * ifm_depth, 0);
  std::vector<int16_t> stream;
  for (int32_t core = 0; core < op.cores; ++core) {
    const Traversal traversal = traversal_of(op, configuration, core);
    if (traversal.ofm_depth <= 0) continue;
    if (traversal.ofm_block_depth < 1)
      return fault(Cause::Operand, core, "an OFM block of depth 1 leaves this core none");
    const Range& range = op.weights[static_cast<size_t>(core)];
    std::optional<Fault> failure;
    const uint8_t* bytes = bytes_of(memory, op.weight_region, range, "weights", core, failure);
    if (bytes == nullptr) return failure;
    const auto count = static_cast<size_t>(traversal_length(traversal));
    if (auto broken = decode_weights({bytes, static_cast<size_t>(range.length)}, count, stream))
      return fault(Cause::WeightDecoder, core, *broken);
    const int16_t* next = stream.data();
    traverse(
        traversal,
        [&](int32_t ofm, int32_t y, int32_t x, int32_t ifm) {
          const auto channel = static_cast<size_t>(ofm * op.cores + core);
          weights[((channel * height + static_cast<size_t>(y)) * width + static_cast<size_t>(x)) *
                      ifm_depth +
                  static_cast<size_t>(ifm)] = *next++;
        },
        [&] { ++next; });
  }
  return std::nullopt;
}

std::optional<Fault> load_scales(const Operation& op, const Memory& memory,
                                 std::vector<ChannelScale>& scales) {
  scales.assign(static_cast<size_t>(op.ofm.depth), {});
  for (int32_t core = 0; core < op.cores; ++core) {
    const int32_t channels = channels_of(op, core);
    if (channels <= 0) continue;
    const Range& range = op.scales[static_cast<size_t>(core)];
    if (range.length < static_cast<uint64_t>(channels) * kScaleBytes)
      return fault(Cause::Operand, core,
                   "SCALE_LENGTH " + std::to_string(range.length) + " holds fewer than the " +
                       std::to_string(channels) + " channels");
    std::optional<Fault> failure;
    const uint8_t* bytes = bytes_of(memory, op.scale_region, range, "scales", core, failure);
    if (bytes == nullptr) return failure;
    for (int32_t i = 0; i < channels; ++i, bytes += kScaleBytes) {
      uint64_t bias = 0, multiplier = 0;
      for (int byte = 4; byte >= 0; --byte) bias = bias << 8 | bytes[byte];
      for (int byte = 8; byte >= 5; --byte) multiplier = multiplier << 8 | bytes[byte];
      scales[static_cast<size_t>(i * op.cores + core)] = {
          static_cast<int64_t>(bias << 24) >> 24,
          {static_cast<uint32_t>(multiplier), bytes[9] & 63}};
    }
  }
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u
