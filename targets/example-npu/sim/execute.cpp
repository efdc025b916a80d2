#include "intarsia/targets/example_npu/execute.h"

#include "intarsia/targets/example_npu/arithmetic.h"

namespace intarsia::simulators::example_npu {
namespace {

class Machine {
 public:
  Machine(const Memory& memory, const Program& program) : memory_(memory), program_(program) {}

  Outcome run() {
    const uint32_t count = program_.bytes / kCommandBytes;
    if (program_.bytes % kCommandBytes != 0 || count < 2 || program_.commands % kLanes != 0)
      return {Fault::StreamFormat, 0, 0};
    Outcome outcome;
    for (uint32_t i = 0; i < count; ++i) {
      outcome.command = i;
      outcome.fault = step(i, count);
      if (outcome.fault != Fault::None) break;
    }
    outcome.cycles = cycles_;
    return outcome;
  }

 private:
  Fault step(uint32_t index, uint32_t count) {
    Words words;
    const uint8_t* bytes =
        memory_.read(program_.commands + uint64_t{index} * kCommandBytes, kCommandBytes);
    if (bytes == nullptr) return Fault::BusError;
    for (uint32_t word = 0; word < kCommandWords; ++word, bytes += 4)
      words[word] =
          bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;

    Opcode opcode{};
    if (!decode(words, opcode, now_)) return Fault::UnknownCommand;
    cycles_ += 8;
    const bool first = index == 0, last = index == count - 1;
    if ((opcode == Opcode::begin) != first || (opcode == Opcode::end) != last)
      return Fault::StreamFormat;
    switch (opcode) {
      case Opcode::begin:
        return begin(count);
      case Opcode::end:
        return Fault::None;
      case Opcode::add:
        return add();
      case Opcode::mul:
        return mul();
      case Opcode::max_pool:
        return max_pool();
    }
    return Fault::UnknownCommand;
  }

  Fault begin(uint32_t count) {
    if (now_.begin_stream_version != kStreamVersion || now_.begin_lanes != kLanes ||
        now_.begin_command_count != count || now_.begin_region_count > kRegions)
      return Fault::StreamFormat;
    region_bytes_ = {now_.begin_region0_bytes, now_.begin_region1_bytes, now_.begin_region2_bytes,
                     now_.begin_region3_bytes, now_.begin_region4_bytes, now_.begin_region5_bytes,
                     now_.begin_region6_bytes, now_.begin_region7_bytes};
    region_count_ = now_.begin_region_count;
    return Fault::None;
  }

  // The bytes of an operand, or the fault that reaching for them is.
  template <typename Byte>
  Fault operand(int64_t region, int64_t offset, int64_t bytes, Byte*& place) const {
    if (region >= region_count_) return Fault::OutOfRegion;
    const auto index = static_cast<size_t>(region);
    if (offset % kLanes != 0 || program_.bases[index] % kLanes != 0) return Fault::Misaligned;
    if (bytes > region_bytes_[index] || offset > region_bytes_[index] - bytes)
      return Fault::OutOfRegion;
    const uint64_t address = program_.bases[index] + static_cast<uint64_t>(offset);
    if constexpr (std::is_const_v<Byte>)
      place = reinterpret_cast<Byte*>(memory_.read(address, static_cast<uint64_t>(bytes)));
    else
      place = reinterpret_cast<Byte*>(memory_.write(address, static_cast<uint64_t>(bytes)));
    return place == nullptr ? Fault::BusError : Fault::None;
  }

  Fault add() {
    const Operands& c = now_;
    const int64_t bytes = c.add_vectors * kLanes;
    if (bytes == 0 || c.add_low > c.add_high) return Fault::BadOperand;
    const int8_t *a = nullptr, *b = nullptr;
    int8_t* out = nullptr;
    if (Fault f = operand(c.add_region_a, c.add_offset_a, bytes, a); f != Fault::None) return f;
    if (Fault f = operand(c.add_region_b, c.add_offset_b, bytes, b); f != Fault::None) return f;
    if (Fault f = operand(c.add_region_out, c.add_offset_out, bytes, out); f != Fault::None)
      return f;
    const auto scaled = [](int64_t x, int64_t multiplier, int64_t shift) {
      return shift_right(
          scale_by_fraction(static_cast<int32_t>(x), static_cast<int32_t>(multiplier)), shift);
    };
    for (int64_t i = 0; i < bytes; ++i) {
      const int32_t x =
          scaled((a[i] - c.add_zero_a) << kAddLeftShift, c.add_multiplier_a, c.add_shift_a);
      const int32_t y =
          scaled((b[i] - c.add_zero_b) << kAddLeftShift, c.add_multiplier_b, c.add_shift_b);
      const int32_t sum = scaled(wrapping_sum(x, y), c.add_multiplier_out, c.add_shift_out);
      out[i] = clamp(sum + c.add_zero_out, c.add_low, c.add_high);
    }
    cycles_ += static_cast<uint32_t>(2 * c.add_vectors);
    return Fault::None;
  }

  Fault mul() {
    const Operands& c = now_;
    const int64_t bytes = c.mul_vectors * kLanes;
    if (bytes == 0 || c.mul_low > c.mul_high) return Fault::BadOperand;
    const int8_t *a = nullptr, *b = nullptr;
    int8_t* out = nullptr;
    if (Fault f = operand(c.mul_region_a, c.mul_offset_a, bytes, a); f != Fault::None) return f;
    if (Fault f = operand(c.mul_region_b, c.mul_offset_b, bytes, b); f != Fault::None) return f;
    if (Fault f = operand(c.mul_region_out, c.mul_offset_out, bytes, out); f != Fault::None)
      return f;
    for (int64_t i = 0; i < bytes; ++i) {
      const auto product = static_cast<int32_t>((a[i] - c.mul_zero_a) * (b[i] - c.mul_zero_b));
      const int32_t fraction = scale_by_fraction(shift_left(product, c.mul_left_shift),
                                                 static_cast<int32_t>(c.mul_multiplier));
      out[i] = clamp(shift_right(fraction, c.mul_shift) + c.mul_zero_out, c.mul_low, c.mul_high);
    }
    cycles_ += static_cast<uint32_t>(2 * c.mul_vectors);
    return Fault::None;
  }

  Fault max_pool() {
    const Operands& c = now_;
    const bool sizes = c.max_pool_in_height > 0 && c.max_pool_in_width > 0 &&
                       c.max_pool_out_height > 0 && c.max_pool_out_width > 0 &&
                       c.max_pool_channel_vectors > 0 && c.max_pool_filter_height > 0 &&
                       c.max_pool_filter_width > 0 && c.max_pool_stride_height > 0 &&
                       c.max_pool_stride_width > 0;
    // A window that begins in the padding must end in the image, and the last one must begin there.
    const auto windows_meet = [](int64_t in, int64_t out, int64_t stride, int64_t filter,
                                 int64_t pad) {
      return pad < filter && (out - 1) * stride - pad < in;
    };
    if (!sizes || c.max_pool_low > c.max_pool_high ||
        !windows_meet(c.max_pool_in_height, c.max_pool_out_height, c.max_pool_stride_height,
                      c.max_pool_filter_height, c.max_pool_pad_top) ||
        !windows_meet(c.max_pool_in_width, c.max_pool_out_width, c.max_pool_stride_width,
                      c.max_pool_filter_width, c.max_pool_pad_left))
      return Fault::BadOperand;
    const int64_t channels = c.max_pool_channel_vectors * kLanes;
    const int8_t* in = nullptr;
    int8_t* out = nullptr;
    if (Fault f = operand(c.max_pool_region_in, c.max_pool_offset_in,
                          c.max_pool_in_height * c.max_pool_in_width * channels, in);
        f != Fault::None)
      return f;
    if (Fault f = operand(c.max_pool_region_out, c.max_pool_offset_out,
                          c.max_pool_out_height * c.max_pool_out_width * channels, out);
        f != Fault::None)
      return f;
    for (int64_t y = 0; y < c.max_pool_out_height; ++y)
      for (int64_t x = 0; x < c.max_pool_out_width; ++x, out += channels)
        for (int64_t channel = 0; channel < channels; ++channel)
          out[channel] =
              clamp(window_maximum(in + channel, y, x, channels), c.max_pool_low, c.max_pool_high);
    cycles_ += static_cast<uint32_t>(c.max_pool_out_height * c.max_pool_out_width *
                                     c.max_pool_channel_vectors * c.max_pool_filter_height *
                                     c.max_pool_filter_width);
    return Fault::None;
  }

  int64_t window_maximum(const int8_t* channel, int64_t out_y, int64_t out_x,
                         int64_t channels) const {
    const Operands& c = now_;
    const int64_t top = out_y * c.max_pool_stride_height - c.max_pool_pad_top;
    const int64_t left = out_x * c.max_pool_stride_width - c.max_pool_pad_left;
    int64_t most = -128;
    for (int64_t y = std::max<int64_t>(top, 0);
         y < std::min(top + c.max_pool_filter_height, c.max_pool_in_height); ++y)
      for (int64_t x = std::max<int64_t>(left, 0);
           x < std::min(left + c.max_pool_filter_width, c.max_pool_in_width); ++x)
        most = std::max<int64_t>(most, channel[(y * c.max_pool_in_width + x) * channels]);
    return most;
  }

  const Memory& memory_;
  const Program& program_;
  Operands now_;
  std::array<int64_t, kRegions> region_bytes_ = {};
  int64_t region_count_ = 0;
  uint32_t cycles_ = 0;
};

}  // namespace

Outcome execute(const Memory& memory, const Program& program) {
  return Machine(memory, program).run();
}

}  // namespace intarsia::simulators::example_npu
