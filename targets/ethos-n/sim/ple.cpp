#include "intarsia/targets/ethos_n/ple.h"

#include <algorithm>
#include <string>

#include "intarsia/targets/ethos_n/ple_arithmetic.h"

namespace intarsia::simulators::ethos_n {
namespace {

// Kernels write whole patches; what lies outside of the tensor in them is zero here.
template <typename Value>
void store(Sram& sram, const PleStripe& stripe, Value value) {
  const SramTensor place =
      SramTensor::packed(sram, stripe.output_address, stripe.width, stripe.depth);
  for (uint32_t y = 0; y < (stripe.height + 3) / 4 * 4; ++y)
    for (uint32_t x = 0; x < (stripe.width + 3) / 4 * 4 && !sram.failure; ++x)
      for (uint32_t c = 0; c < stripe.depth; ++c)
        place.write(sram, y, x, c,
                    y < stripe.height && x < stripe.width ? value(y, x, c) : uint8_t{0});
}

uint8_t at_or_zero(const MceOutput& input, uint32_t y, uint32_t x, uint32_t c) {
  return y < input.height && x < input.width && c < input.channels ? input.at(y, x, c) : uint8_t{0};
}

// The largest of a window, what is outside of the input left out.
uint8_t largest(const MceOutput& input, uint32_t y0, uint32_t x0, uint32_t c, uint32_t side,
                bool is_signed) {
  int32_t best = is_signed ? -128 : 0;
  for (uint32_t y = y0; y < std::min(y0 + side, input.height); ++y)
    for (uint32_t x = x0; x < std::min(x0 + side, input.width); ++x)
      best = std::max(best, extend(input.at(y, x, c), is_signed));
  return static_cast<uint8_t>(best);
}

uint8_t mean(const MceOutput& input, uint32_t c, uint32_t side, bool is_signed) {
  const auto count = static_cast<int32_t>(side * side);
  int32_t sum = 0;
  for (uint32_t y = 0; y < side; ++y)
    for (uint32_t x = 0; x < side; ++x) sum += extend(at_or_zero(input, y, x, c), is_signed);
  const int64_t product = int64_t{wrap16(sum + count / 2)} * ((1 << 20) / count + 1);
  return static_cast<uint8_t>(product >> 20);
}

}  // namespace

PleStripe PleStripe::from(const std::array<uint32_t, 8>& scratch) {
  PleStripe s;
  s.flags = scratch[0];
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t first = scratch[1 + 2 * i], second = scratch[2 + 2 * i];
    s.inputs[i] = {uint64_t{first & 0xFFFF} * 16, static_cast<int16_t>(first >> 16),
                   second & 0xFFFF, second >> 16};
  }
  s.output_address = uint64_t{scratch[5] & 0xFFFF} * 16;
  s.output_zero_point = static_cast<int16_t>(scratch[5] >> 16);
  s.width = scratch[6] & 0xFFFF;
  s.height = scratch[6] >> 16;
  s.depth = scratch[7] & 0xFFFF;
  return s;
}

PleInputSize Ple::input_of(const Kernel& kernel, const PleStripe& s) const {
  const uint32_t banks = variant_.srams();
  switch (kernel.operation) {
    case Operation::DOWNSAMPLE_2X2:
    case Operation::MAXPOOL_2X2_2_2:
    case Operation::MAXPOOL_3X3_2_2_EVEN:
      return {2 * s.width, 2 * s.height, s.depth};
    case Operation::MAXPOOL_3X3_2_2_ODD:
      return {2 * s.width + ((s.flags & kFlagRight) != 0 ? 1 : 0),
              2 * s.height + ((s.flags & kFlagBottom) != 0 ? 1 : 0), s.depth};
    case Operation::INTERLEAVE_2X2_2_2:
      return {2 * s.width, 2 * s.height, s.depth % banks + s.depth / (banks * 4) * banks};
    case Operation::MEAN_XY_7X7:
      return {7, 7, s.depth};
    case Operation::MEAN_XY_8X8:
      return {8, 8, s.depth};
    case Operation::TRANSPOSE_XY:
      return {s.height, s.width, s.depth};
    default:
      return {s.width, s.height, s.depth};
  }
}

std::optional<Fault> Ple::run_fused(const Kernel& kernel, const PleStripe& s,
                                    const MceOutput& input) {
  const bool is_signed = kernel.type == KernelType::Signed;
  const uint32_t banks = variant_.srams();
  switch (kernel.operation) {
    case Operation::PASSTHROUGH:
      store(sram_, s,
            [&](uint32_t y, uint32_t x, uint32_t c) { return at_or_zero(input, y, x, c); });
      return std::nullopt;
    case Operation::DOWNSAMPLE_2X2:
      store(sram_, s,
            [&](uint32_t y, uint32_t x, uint32_t c) { return at_or_zero(input, 2 * y, 2 * x, c); });
      return std::nullopt;
    case Operation::TRANSPOSE_XY:
      store(sram_, s,
            [&](uint32_t y, uint32_t x, uint32_t c) { return at_or_zero(input, x, y, c); });
      return std::nullopt;
    case Operation::INTERLEAVE_2X2_2_2:
      store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
        const uint32_t map = c / banks % 4;
        return at_or_zero(input, 2 * y + map / 2, 2 * x + map % 2,
                          c % banks + c / (banks * 4) * banks);
      });
      return std::nullopt;
    case Operation::MAXPOOL_2X2_2_2:
      if (input.channels < s.depth)
        return bad_operand("the MCE sends fewer channels than are pooled");
      store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
        return largest(input, 2 * y, 2 * x, c, 2, is_signed);
      });
      return std::nullopt;
    case Operation::MAXPOOL_3X3_2_2_EVEN:
    case Operation::MAXPOOL_3X3_2_2_ODD:
      if (input.channels < s.depth)
        return bad_operand("the MCE sends fewer channels than are pooled");
      max_pool_3x3(s, is_signed, input);
      return std::nullopt;
    case Operation::MEAN_XY_7X7:
    case Operation::MEAN_XY_8X8: {
      const uint32_t side = kernel.operation == Operation::MEAN_XY_7X7 ? 7 : 8;
      store(sram_, s,
            [&](uint32_t, uint32_t, uint32_t c) { return mean(input, c, side, is_signed); });
      return std::nullopt;
    }
    case Operation::LEAKY_RELU:
      store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
        const int32_t value = extend(at_or_zero(input, y, x, c), is_signed);
        const auto branch = [&](const PleStripe::Input& by) {
          return rescale(value, s.inputs[0].zero_point, by.multiplier, by.shift);
        };
        const int32_t best = std::max(branch(s.inputs[0]), branch(s.inputs[1]));
        return saturate8(wrap16(best + s.output_zero_point), is_signed);
      });
      return std::nullopt;
    case Operation::SIGMOID:
      store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
        const PleStripe::Input& by = s.inputs[0];
        return sigmoid(extend(at_or_zero(input, y, x, c), is_signed), by.zero_point, by.multiplier,
                       by.shift, is_signed);
      });
      return std::nullopt;
    case Operation::ADDITION:
    case Operation::ADDITION_RESCALE:
    case Operation::AVGPOOL_3X3_1_1_UDMA:
    case Operation::MAXPOOL1D:
    case Operation::MULTIPLICATION:
      break;
  }
  return bad_operand("the kernel " + std::string(kernel.text) + " takes nothing from the MCE");
}

// Output row y is the largest of input rows 2y to 2y + 2. Both forms agree in this: they differ in
// whether a last row or column of windows is cut off by the edge.
void Ple::max_pool_3x3(const PleStripe& s, bool is_signed, const MceOutput& input) {
  if ((s.flags & kFlagTop) != 0) unfinished_.there = false;
  if (unfinished_.there && input.width == unfinished_.rows.width &&
      input.channels == unfinished_.rows.channels) {
    // The row that waited: two rows of the stripe before, the first of this one.
    const PleStripe& above = unfinished_.stripe;
    const SramTensor place =
        SramTensor::packed(sram_, above.output_address, above.width, above.depth);
    for (uint32_t c = 0; c < above.depth; ++c)
      for (uint32_t x = 0; x < above.width && !sram_.failure; ++x) {
        const int32_t upper =
            extend(largest(unfinished_.rows, 0, 2 * x, c, 3, is_signed), is_signed);
        int32_t lower = is_signed ? -128 : 0;
        for (uint32_t column = 2 * x; column < std::min(2 * x + 3, input.width); ++column)
          if (input.height != 0) lower = std::max(lower, extend(input.at(0, column, c), is_signed));
        place.write(sram_, above.height - 1, x, c, static_cast<uint8_t>(std::max(upper, lower)));
      }
  }
  unfinished_.there = false;
  store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
    return largest(input, 2 * y, 2 * x, c, 3, is_signed);
  });
  if ((s.flags & kFlagBottom) != 0 || s.height == 0 || input.height < 2) return;
  unfinished_.there = true;
  unfinished_.stripe = s;
  MceOutput& rows = unfinished_.rows;
  rows = {input.width, 2, input.channels, {}};
  for (uint32_t c = 0; c < input.channels; ++c)
    for (uint32_t y = input.height - 2; y < input.height; ++y)
      for (uint32_t x = 0; x < input.width; ++x) rows.values.push_back(input.at(y, x, c));
}

std::optional<Fault> Ple::run_standalone(const Kernel& kernel,
                                         const std::array<uint32_t, 8>& scratch) {
  const bool is_signed = kernel.type == KernelType::Signed;
  const PleStripe s = PleStripe::from(scratch);
  switch (kernel.operation) {
    case Operation::MULTIPLICATION:
      multiply(scratch, is_signed);
      return std::nullopt;
    case Operation::MAXPOOL1D:
      return max_pool_1d(kernel, scratch);
    case Operation::AVGPOOL_3X3_1_1_UDMA:
      return average_pool(s, is_signed);
    case Operation::ADDITION:
    case Operation::ADDITION_RESCALE: {
      const SramTensor first = SramTensor::packed(sram_, s.inputs[0].address, s.width, s.depth);
      const SramTensor second = SramTensor::packed(sram_, s.inputs[1].address, s.width, s.depth);
      store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
        const int32_t a = extend(first.read(sram_, y, x, c), is_signed);
        const int32_t b = extend(second.read(sram_, y, x, c), is_signed);
        const auto& [by_a, by_b] = s.inputs;
        const int32_t sum = kernel.operation == Operation::ADDITION
                                ? a - by_a.zero_point + b
                                : rescale(a, by_a.zero_point, by_a.multiplier, by_a.shift) +
                                      s.output_zero_point +
                                      rescale(b, by_b.zero_point, by_b.multiplier, by_b.shift);
        return saturate8(wrap16(sum), is_signed);
      });
      return std::nullopt;
    }
    default:
      return bad_operand("the kernel " + std::string(kernel.text) + " takes nothing from SRAM");
  }
}

// As the kernel does it: the product of 16 bits is taken for unsigned by the shift, and the result
// is cut to eight bits instead of saturated.
void Ple::multiply(const std::array<uint32_t, 8>& scratch, bool is_signed) {
  PleStripe s;
  s.width = scratch[0] & 0xFFFF;
  s.height = scratch[0] >> 16;
  s.depth = scratch[1] & 0xFFFF;
  s.output_zero_point = static_cast<int16_t>(scratch[2]);
  s.output_address = scratch[7];
  const int32_t multiplier =
      is_signed ? static_cast<int16_t>(scratch[3]) : static_cast<uint16_t>(scratch[3]);
  const uint32_t shift = scratch[3] >> 16 & 31;
  const int32_t zero_points[2] = {static_cast<int16_t>(scratch[4]),
                                  static_cast<int16_t>(scratch[4] >> 16)};
  const SramTensor first = SramTensor::packed(sram_, scratch[5], s.width, s.depth);
  const SramTensor second = SramTensor::packed(sram_, scratch[6], s.width, s.depth);
  store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
    const int32_t product = (extend(first.read(sram_, y, x, c), is_signed) - zero_points[0]) *
                            (extend(second.read(sram_, y, x, c), is_signed) - zero_points[1]);
    const int32_t low = is_signed ? wrap16(product) : static_cast<uint16_t>(product);
    const auto wide = static_cast<uint32_t>(int64_t{low} * multiplier);
    return static_cast<uint8_t>(std::min<uint32_t>(wide >> shift, 0xFFFF) +
                                static_cast<uint32_t>(s.output_zero_point));
  });
}

std::optional<Fault> Ple::max_pool_1d(const Kernel& kernel,
                                      const std::array<uint32_t, 8>& scratch) {
  const bool is_signed = kernel.type == KernelType::Signed;
  const bool along_x = kernel.direction == Direction::X;
  PleStripe s;
  if (scratch[0] > 0xFFFF || scratch[1] > 0xFFFF || scratch[2] > 0xFFFF || scratch[3] > 0xFFFF ||
      scratch[6] > 64 || scratch[7] > 64)
    return bad_operand("the size of a one-dimensional pooling does not fit into SRAM");
  s.width = scratch[0];
  s.height = scratch[1];
  s.depth = scratch[2];
  s.output_address = scratch[5];
  const auto length = static_cast<int64_t>(scratch[3]), before = static_cast<int64_t>(scratch[6]),
             size = static_cast<int64_t>(scratch[7]);
  const SramTensor input =
      SramTensor::packed(sram_, scratch[4], along_x ? scratch[3] : s.width, s.depth);
  // Outputs may lie where inputs lay; a kernel reads a group before it writes it.
  std::vector<uint8_t> results;
  if (uint64_t{s.width} * s.height * s.depth > sram_.bank_bytes() * sram_.banks())
    return bad_operand("the size of a one-dimensional pooling does not fit into SRAM");
  for (uint32_t y = 0; y < s.height; ++y)
    for (uint32_t x = 0; x < s.width; ++x)
      for (uint32_t c = 0; c < s.depth; ++c) {
        int32_t best = is_signed ? -128 : 0;
        const int64_t at = along_x ? x : y;
        for (int64_t i = std::max<int64_t>(0, at - before);
             i < std::min(length, at - before + size); ++i) {
          const auto place = static_cast<uint64_t>(i);
          best = std::max(
              best,
              extend(input.read(sram_, along_x ? y : place, along_x ? place : x, c), is_signed));
        }
        results.push_back(static_cast<uint8_t>(best));
      }
  store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
    return results[(size_t{y} * s.width + x) * s.depth + c];
  });
  return std::nullopt;
}

std::optional<Fault> Ple::average_pool(const PleStripe& s, bool is_signed) {
  if ((s.flags & 15) != (kFlagTop | kFlagBottom | kFlagLeft | kFlagRight))
    return bad_operand("an average pooling of 3x3 is one stripe in height and width");
  const SramTensor input = SramTensor::packed(sram_, s.inputs[0].address, s.width, s.depth);
  store(sram_, s, [&](uint32_t y, uint32_t x, uint32_t c) {
    int32_t sum = 0, count = 0;
    for (uint32_t row = y == 0 ? 0 : y - 1; row < std::min(y + 2, s.height); ++row)
      for (uint32_t column = x == 0 ? 0 : x - 1; column < std::min(x + 2, s.width);
           ++column, ++count)
        sum += extend(input.read(sram_, row, column, c), is_signed);
    return static_cast<uint8_t>((int64_t{sum + count / 2} * (65536 / count + 1)) >> 16);
  });
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_n
