#include "intarsia/targets/ethos_n/mce.h"

#include <algorithm>
#include <bit>
#include <string>

namespace intarsia::simulators::ethos_n {
namespace {

constexpr uint32_t kMaxSubFilters = 4;
// Elements of one stripe, in any of its tensors: far above what fits into SRAM.
constexpr uint64_t kMaxElements = uint64_t{1} << 25;

int64_t read(const FieldRow& row, uint32_t register_word) {
  return row.get(register_word);
}

struct SubFilter {
  int32_t width = 0, height = 0;
  int32_t left = 0, top = 0;
  int32_t ifm_width = 0, ifm_height = 0;  // from the centre slot's first element; beyond is padding
};

// One of the nine slots around a stripe.
struct Slot {
  bool has_data = false;
  uint64_t base = 0, row_stride = 0;
};

}  // namespace

struct Mce::Stripe {
  int64_t mode = 0, resampling = 0;
  bool signed_ifm = false, signed_ofm = false, relu = false;
  bool keep_accumulators = false, no_output = false;
  int32_t relu_min = 0, relu_max = 0, ifm_zero_point = 0;
  uint32_t ifms = 0, ofms = 0;  // ifms: of all sub-maps, with the gaps between them
  int32_t width = 0, height = 0;
  int32_t slot_width = 0, slot_height = 0;
  uint64_t group_stride = 0;
  std::array<std::array<Slot, 3>, 3> slots;  // [top, middle, bottom][left, centre, right]
  std::array<SubFilter, kMaxSubFilters> filters;
  uint32_t filter_count = 1;
  // A wide filter is walked in pieces of 3x3, 3x1 or 1x3.
  uint32_t pieces_y = 1, pieces_x = 1;
  std::array<uint64_t, 4> weight_bases = {};
  std::array<uint32_t, 32> mul_enable = {};

  bool is_vector() const { return mode == kFilterVectorProduct; }
  bool is_depthwise() const { return mode == kFilterDepthwise; }
};

// The input as the multipliers see it: the zero point subtracted, padding and what upsampling
// inserts 0.
struct Mce::Planes {
  int32_t width = 0, height = 0;
  std::vector<uint32_t> channels;  // of the feature map in SRAM
  std::vector<int16_t> values;     // [channel][row][column]

  const int16_t* row(size_t channel, int32_t y) const {
    return values.data() + (channel * static_cast<size_t>(height) + static_cast<size_t>(y)) *
                               static_cast<size_t>(width);
  }
};

std::optional<Fault> Mce::take_macs(uint64_t count) {
  if (count > macs_left_)
    return bad_operand("the stream multiplies more than the limit of this run allows");
  macs_left_ -= count;
  return std::nullopt;
}

std::optional<Fault> Mce::read_registers(const AgentRecord& agent, const CommandRecord& program,
                                         Stripe& s) const {
  const uint32_t control = program[word::Program_CE_CONTROL];
  if (read(field::CE_CONTROL_winograd, control) != 0)
    return bad_operand(
        "this model has no Winograd convolution, whose rounding Arm never published");
  if (read(field::CE_CONTROL_bypass, control) != 0 ||
      read(field::CE_CONTROL_wide_mul, control) != 0)
    return bad_operand(
        "CE_CONTROL asks for a bypass or wide multiplication, which nothing documents");
  s.resampling = read(field::CE_CONTROL_resampling, control);
  if (s.resampling == kResampleBilinear)
    return bad_operand(
        "this model has no bilinear resampling, whose arithmetic Arm never published");
  s.signed_ifm = read(field::CE_CONTROL_signed_ifm, control) != 0;
  s.signed_ofm = read(field::CE_CONTROL_ofm_type, control) != 0;
  s.relu = read(field::CE_CONTROL_relu, control) != 0;
  s.keep_accumulators = read(field::CE_CONTROL_keep_accumulators, control) != 0;
  s.no_output = read(field::CE_CONTROL_no_output, control) != 0;
  s.filter_count = static_cast<uint32_t>(read(field::CE_CONTROL_sub_filters, control));
  if (s.filter_count > kMaxSubFilters) return bad_operand("there are more than four sub-filters");

  const uint32_t activation = agent.get(agent_field::MCE_SCHEDULER_ACTIVATION_CONFIG);
  s.relu_min = static_cast<int32_t>(read(field::ACTIVATION_CONFIG_relu_min, activation));
  s.relu_max = static_cast<int32_t>(read(field::ACTIVATION_CONFIG_relu_max, activation));
  const auto zero = static_cast<uint8_t>(agent.get(agent_field::MCE_SCHEDULER_IFM_ZERO_POINT));
  s.ifm_zero_point = s.signed_ifm ? static_cast<int8_t>(zero) : zero;
  const uint32_t filter = agent.get(agent_field::MCE_SCHEDULER_FILTER);
  s.mode = read(field::FILTER_mode, filter);
  if (s.mode != kFilterDepthwise && s.mode != kFilterNxM && s.mode != kFilterVectorProduct)
    return bad_operand("FILTER has the unknown mode " + std::to_string(s.mode));

  s.ifms = static_cast<uint32_t>(read(field::IFM_CONFIG1_ifms, program[word::Program_IFM_CONFIG1]));
  s.ofms = static_cast<uint32_t>(read(field::OFM_CONFIG_ofms, program[word::Program_OFM_CONFIG]));
  const uint32_t size = program[word::Program_OFM_STRIPE_SIZE];
  s.width = static_cast<int32_t>(read(field::OFM_STRIPE_SIZE_width, size));
  s.height = static_cast<int32_t>(read(field::OFM_STRIPE_SIZE_height, size));
  // All batches but one of a vector product are unused; its result is one element of the block.
  if (s.is_vector()) s.width = s.height = 1;
  if (s.ifms == 0 || s.ofms == 0 || s.width == 0 || s.height == 0)
    return bad_operand("a stripe without channels, rows or columns");
  const uint64_t area = static_cast<uint64_t>(s.width) * static_cast<uint64_t>(s.height);
  if (area * s.ofms > kMaxElements || (area + 64) * s.ifms > kMaxElements)
    return bad_operand("the stripe is larger than SRAM could ever be");

  // Slots.
  const uint32_t slot_size = agent.get(agent_field::MCE_SCHEDULER_IFM_DEFAULT_SLOT_SIZE);
  s.slot_width = static_cast<int32_t>(read(field::IFM_DEFAULT_SLOT_SIZE_width, slot_size));
  s.slot_height = static_cast<int32_t>(read(field::IFM_DEFAULT_SLOT_SIZE_height, slot_size));
  if (s.slot_width == 0 || s.slot_height == 0)
    return bad_operand("IFM slots have no rows or columns");
  s.group_stride = static_cast<uint64_t>(
      read(field::IFM_CONFIG1_group_stride, program[word::Program_IFM_CONFIG1]));
  const auto base =
      static_cast<uint64_t>(read(field::IFM_SLOT_BASE_ADDRESS_address,
                                 agent.get(agent_field::MCE_SCHEDULER_IFM_SLOT_BASE_ADDRESS)));
  const auto stride = static_cast<uint64_t>(
      read(field::IFM_SLOT_STRIDE_slot, agent.get(agent_field::MCE_SCHEDULER_IFM_SLOT_STRIDE)));
  const uint32_t rows = program[word::Program_IFM_ROW_STRIDE];
  const auto slot_of = [&](uint32_t register_word, const FieldRow& number, const FieldRow& residual,
                           bool has_data) {
    const bool is_residual = read(residual, register_word) != 0;
    return Slot{
        has_data, base + static_cast<uint64_t>(read(number, register_word)) * stride,
        static_cast<uint64_t>(read(
            is_residual ? field::IFM_ROW_STRIDE_residual : field::IFM_ROW_STRIDE_normal, rows))};
  };
  const uint32_t data = program[word::Program_IFM_SLOT_PAD_CONFIG];
  const bool row_has_data[3] = {read(field::IFM_SLOT_PAD_CONFIG_top, data) != 0, true,
                                read(field::IFM_SLOT_PAD_CONFIG_bottom, data) != 0};
  const bool left = read(field::IFM_SLOT_PAD_CONFIG_left, data) != 0;
  const bool right = read(field::IFM_SLOT_PAD_CONFIG_right, data) != 0;
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t word = program[word::Program_IFM_TOP_SLOTS + i];
    s.slots[i] = {
        slot_of(word, field::IFM_SLOTS_left, field::IFM_SLOTS_left_residual,
                row_has_data[i] && left),
        slot_of(word, field::IFM_SLOTS_centre, field::IFM_SLOTS_centre_residual, row_has_data[i]),
        slot_of(word, field::IFM_SLOTS_right, field::IFM_SLOTS_right_residual,
                row_has_data[i] && right)};
  }

  // Filters.
  const uint32_t wide = agent.get(agent_field::MCE_SCHEDULER_WIDE_KERNEL_CONTROL);
  if (read(field::WIDE_KERNEL_CONTROL_enable, wide) != 0) {
    const auto width = static_cast<uint32_t>(read(field::WIDE_KERNEL_CONTROL_width, wide));
    const auto height = static_cast<uint32_t>(read(field::WIDE_KERNEL_CONTROL_height, wide));
    if (s.filter_count != 1 || s.is_vector() || width == 0 || height == 0 ||
        (width != 1 && width % 3 != 0) || (height != 1 && height % 3 != 0))
      return bad_operand("a wide filter has sides of 1 or multiples of 3, and one sub-filter");
    // Weights of a convolution come piece by piece; those of a depthwise one, which is given no
    // order of pieces, row by row of the whole filter.
    const bool in_pieces = !s.is_depthwise();
    if (in_pieces) {
      s.pieces_x = width == 1 ? 1 : width / 3;
      s.pieces_y = height == 1 ? 1 : height / 3;
    }
    const uint32_t offset = program[word::Program_WIDE_KERNEL_OFFSET];
    s.filters[0] = {
        static_cast<int32_t>(in_pieces ? std::min(width, 3u) : width),
        static_cast<int32_t>(in_pieces ? std::min(height, 3u) : height),
        static_cast<int32_t>(read(field::WIDE_KERNEL_OFFSET_left, offset)),
        static_cast<int32_t>(read(field::WIDE_KERNEL_OFFSET_top, offset)),
        s.width + static_cast<int32_t>(read(field::WIDE_KERNEL_OFFSET_width_delta, offset)),
        s.height + static_cast<int32_t>(read(field::WIDE_KERNEL_OFFSET_height_delta, offset))};
  } else {
    constexpr FieldRow kWidths[] = {field::FILTER_width0, field::FILTER_width1,
                                    field::FILTER_width2, field::FILTER_width3};
    constexpr FieldRow kHeights[] = {field::FILTER_height0, field::FILTER_height1,
                                     field::FILTER_height2, field::FILTER_height3};
    for (uint32_t i = 0; i < s.filter_count; ++i) {
      const uint32_t pad = program[word::Program_IFM_PAD + 4 * i];  // equal for all IGs
      s.filters[i] = {static_cast<int32_t>(read(kWidths[i], filter)),
                      static_cast<int32_t>(read(kHeights[i], filter)),
                      static_cast<int32_t>(read(field::IFM_PAD_left, pad)),
                      static_cast<int32_t>(read(field::IFM_PAD_top, pad)),
                      s.width + static_cast<int32_t>(read(field::IFM_PAD_width_delta, pad)),
                      s.height + static_cast<int32_t>(read(field::IFM_PAD_height_delta, pad))};
    }
  }
  for (uint32_t i = 0; i < 4; ++i)
    s.weight_bases[i] = static_cast<uint64_t>(
        read(field::WEIGHT_BASE_ADDR_address, program[word::Program_WEIGHT_BASE_ADDR + i]));
  for (uint32_t i = 0; i < 32; ++i) s.mul_enable[i] = program[word::Program_MUL_ENABLE + i];
  return std::nullopt;
}

// OFM o comes from CE o % CEs and there from OG o / CEs, over as many OGs as have a multiplier at
// work: all of them, and as many as there are IGs in a depthwise convolution. OGs beyond the number
// of banks share one, each with a base address of its own.
std::optional<Fault> Mce::read_weights(const Stripe& s) {
  const uint32_t parallel = s.is_depthwise() ? variant_.srams() : variant_.all_ogs();
  ofms_.assign(s.ofms, {});
  for (uint32_t generator = 0; generator < std::min(parallel, s.ofms); ++generator) {
    const uint32_t ce = generator % variant_.ces, og = generator / variant_.ces;
    const std::string where = "OG " + std::to_string(og) + " of CE " + std::to_string(ce);
    if (s.mul_enable[ce * 4 + og] == 0)
      return bad_operand(where + " has OFMs to make and no multiplier enabled");
    WeightReader reader(variant_, sram_, ce + variant_.ces * (og % variant_.emcs),
                        s.weight_bases[og]);
    for (uint32_t ofm = generator; ofm < s.ofms; ofm += parallel)
      if (const auto failure = reader.next(decoders_[generator], ofms_[ofm])) {
        sram_.failure.reset();
        return Fault{Cause::Weights, "",
                     "the weights of OFM " + std::to_string(ofm) + ", " + where + ": " + *failure};
      }
  }
  return std::nullopt;
}

void Mce::gather(const Stripe& s, uint32_t filter_number, uint32_t piece_y, uint32_t piece_x,
                 Planes& planes) {
  const SubFilter& filter = s.filters[filter_number];
  planes.width = s.width + filter.width - 1;
  planes.height = s.height + filter.height - 1;
  const auto pixels = static_cast<size_t>(planes.width) * static_cast<size_t>(planes.height);
  planes.values.assign(planes.channels.size() * pixels, 0);
  const bool doubled = s.resampling != kResampleNone;
  for (int32_t row = 0; row < planes.height; ++row)
    for (int32_t column = 0; column < planes.width; ++column) {
      // In the feature map as the filter sees it, upsampled or not.
      const int32_t y = row - filter.top + 3 * static_cast<int32_t>(piece_y);
      const int32_t x = column - filter.left + 3 * static_cast<int32_t>(piece_x);
      if (y >= filter.ifm_height || x >= filter.ifm_width) continue;
      if (s.resampling == kResampleTranspose && (y % 2 != 0 || x % 2 != 0)) continue;
      const int32_t in_y = doubled ? y >> 1 : y, in_x = doubled ? x >> 1 : x;
      const uint32_t slot_row = in_y < 0 ? 0 : in_y < s.slot_height ? 1 : 2;
      const uint32_t slot_column = in_x < 0 ? 0 : in_x < s.slot_width ? 1 : 2;
      const Slot& slot = s.slots[slot_row][slot_column];
      if (!slot.has_data) continue;
      const int32_t slot_y = in_y + (1 - static_cast<int32_t>(slot_row)) * s.slot_height;
      const int32_t slot_x = in_x + (1 - static_cast<int32_t>(slot_column)) * s.slot_width;
      if (slot_y < 0 || slot_y >= s.slot_height || slot_x < 0 || slot_x >= s.slot_width) continue;
      const SramTensor place{slot.base, slot.row_stride, s.group_stride};
      const uint64_t address =
          place.address(static_cast<uint64_t>(slot_y), static_cast<uint64_t>(slot_x));
      size_t at = static_cast<size_t>(row) * static_cast<size_t>(planes.width) +
                  static_cast<size_t>(column);
      for (const uint32_t channel : planes.channels) {
        const uint8_t byte = sram_.read(channel % sram_.banks(),
                                        address + channel / sram_.banks() * uint64_t{kGroupBytes});
        const int32_t value = s.signed_ifm ? static_cast<int8_t>(byte) : byte;
        planes.values[at] = static_cast<int16_t>(value - s.ifm_zero_point);
        at += pixels;
      }
    }
}

// Stride 2 comes as four sub-maps, one to a sub-filter: channel c of sub-map m is channel
// c % I + I * (m + maps * (c / I)) in SRAM, I being the number of IGs, which is that of the banks.
// Weights follow the same slices of I channels; all but the last sub-filter have weights for the
// gaps too.
std::optional<Fault> Mce::convolve(const Stripe& s) {
  const uint32_t slice = variant_.all_igs(), maps = s.filter_count;
  const uint32_t channels = maps == 1 ? s.ifms : s.ifms / (slice * maps) * slice + s.ifms % slice;
  if (s.is_depthwise() && s.ofms > (channels + slice - 1) / slice * slice)
    return bad_operand("a depthwise convolution makes more OFMs than it has IFMs");
  const uint32_t slices = s.is_depthwise() ? 1 : (channels + slice - 1) / slice;
  const size_t pixels = static_cast<size_t>(s.width) * static_cast<size_t>(s.height);
  std::vector<size_t> next(s.ofms, 0);  // weight of every OFM
  Planes planes;
  for (uint32_t piece = 0; piece < s.pieces_y * s.pieces_x; ++piece)
    for (uint32_t part = 0; part < slices; ++part)
      for (uint32_t map = 0; map < maps; ++map) {
        const SubFilter& filter = s.filters[map];
        const uint32_t real = std::min(slice, channels - part * slice);
        const uint32_t stored = s.is_depthwise() ? 1 : map == maps - 1 ? real : slice;
        const auto taps = static_cast<uint32_t>(filter.width * filter.height);
        planes.channels.clear();
        if (s.is_depthwise()) {
          for (uint32_t ofm = 0; ofm < s.ofms; ++ofm) {
            const uint32_t generator = ofm % slice;
            const uint32_t enabled =
                s.mul_enable[generator % variant_.ces * 4 + generator / variant_.ces];
            const auto ig = static_cast<uint32_t>(std::countr_zero(enabled));
            if (std::popcount(enabled) != 1 || ig >= slice)
              return bad_operand("a depthwise OG does not take exactly one IG");
            planes.channels.push_back(ig + slice * (map + maps * (ofm / slice)));
          }
        } else {
          for (uint32_t i = 0; i < real; ++i)
            planes.channels.push_back(i + slice * (map + maps * part));
        }
        const uint64_t seen =
            (static_cast<uint64_t>(s.width) + 8) * (static_cast<uint64_t>(s.height) + 8);
        if (seen * planes.channels.size() > 4 * kMaxElements)
          return bad_operand("the stripe is larger than SRAM could ever be");
        if (auto fault =
                take_macs(pixels * taps * (s.is_depthwise() ? 1 : planes.channels.size()) * s.ofms))
          return fault;
        gather(s, map, piece / s.pieces_x, piece % s.pieces_x, planes);
        if (sram_.failure) return std::nullopt;
        for (uint32_t ofm = 0; ofm < s.ofms; ++ofm) {
          const std::vector<int16_t>& weights = ofms_[ofm].weights;
          if (weights.size() - next[ofm] < size_t{taps} * stored)
            return Fault{Cause::Weights, "",
                         "OFM " + std::to_string(ofm) + " has only " +
                             std::to_string(weights.size()) + " weights"};
          uint32_t* accumulator = accumulators_.data() + ofm * pixels;
          for (uint32_t tap = 0; tap < taps; ++tap)
            for (uint32_t i = 0; i < stored; ++i) {
              const int32_t weight = weights[next[ofm]++];
              if (weight == 0 || i >= real) continue;
              const auto ky = static_cast<int32_t>(tap) / filter.width;
              const auto kx = static_cast<int32_t>(tap) % filter.width;
              const size_t plane = s.is_depthwise() ? ofm : i;
              for (int32_t y = 0; y < s.height; ++y) {
                const int16_t* in = planes.row(plane, y + ky) + kx;
                uint32_t* out = accumulator + static_cast<size_t>(y) * static_cast<size_t>(s.width);
                for (int32_t x = 0; x < s.width; ++x)
                  out[x] += static_cast<uint32_t>(weight * in[x]);
              }
            }
        }
      }
  for (uint32_t ofm = 0; ofm < s.ofms; ++ofm)
    if (next[ofm] != ofms_[ofm].weights.size())
      return Fault{Cause::Weights, "",
                   "OFM " + std::to_string(ofm) + " has " +
                       std::to_string(ofms_[ofm].weights.size()) + " weights, of which " +
                       std::to_string(next[ofm]) + " are used"};
  return std::nullopt;
}

// The vector is every byte of the centre slot: byte k of bank b is element k * banks + b.
std::optional<Fault> Mce::multiply_vector(const Stripe& s) {
  const uint64_t elements = uint64_t{s.ifms} * kGroupBytes;
  if (auto fault = take_macs(elements * s.ofms)) return fault;
  std::vector<int32_t> vector(elements);
  for (uint64_t i = 0; i < elements; ++i) {
    const uint8_t byte = sram_.read(i % sram_.banks(), s.slots[1][1].base + i / sram_.banks());
    vector[i] = (s.signed_ifm ? static_cast<int8_t>(byte) : byte) - s.ifm_zero_point;
  }
  for (uint32_t ofm = 0; ofm < s.ofms; ++ofm) {
    const std::vector<int16_t>& weights = ofms_[ofm].weights;
    if (weights.size() != elements)
      return Fault{Cause::Weights, "",
                   "OFM " + std::to_string(ofm) + " has " + std::to_string(weights.size()) +
                       " weights for a vector of " + std::to_string(elements)};
    for (uint64_t i = 0; i < elements; ++i)
      accumulators_[ofm] += static_cast<uint32_t>(weights[i] * vector[i]);
  }
  return std::nullopt;
}

// The documented parts of it are bias, scale, shift and zero point of every OFM; that the shift
// rounds half up is this model's choice, within one of every other choice.
void Mce::requantise(const Stripe& s, MceOutput& output) const {
  const size_t pixels = static_cast<size_t>(s.width) * static_cast<size_t>(s.height);
  output.width = static_cast<uint32_t>(s.width);
  output.height = static_cast<uint32_t>(s.height);
  output.channels = s.ofms;
  output.values.resize(pixels * s.ofms);
  int64_t low = s.signed_ofm ? -128 : 0, high = s.signed_ofm ? 127 : 255;
  for (uint32_t ofm = 0; ofm < s.ofms; ++ofm) {
    const OfmWeights& of = ofms_[ofm];
    const auto zero_byte = static_cast<uint8_t>(of.zero_point);
    const int32_t zero_point = s.signed_ofm ? static_cast<int8_t>(zero_byte) : zero_byte;
    for (size_t i = 0; i < pixels; ++i) {
      const auto sum =
          static_cast<int32_t>(accumulators_[ofm * pixels + i] + static_cast<uint32_t>(of.bias));
      int64_t value = int64_t{sum} * of.scale;
      if (of.shift != 0) value = (value + (int64_t{1} << (of.shift - 1))) >> of.shift;
      value += zero_point;
      if (s.relu) value = std::min<int64_t>(std::max<int64_t>(value, s.relu_min), s.relu_max);
      output.values[ofm * pixels + i] = static_cast<uint8_t>(std::min(std::max(value, low), high));
    }
  }
}

std::optional<Fault> Mce::run(const AgentRecord& agent, const CommandRecord& program,
                              MceOutput& output) {
  Stripe stripe;
  if (auto fault = read_registers(agent, program, stripe)) return fault;
  if (auto fault = read_weights(stripe)) return fault;
  const size_t needed =
      static_cast<size_t>(stripe.width) * static_cast<size_t>(stripe.height) * stripe.ofms;
  if (!stripe.keep_accumulators)
    accumulators_.assign(needed, 0);
  else if (accumulators_.size() != needed)
    return bad_operand("a stripe adds to accumulators of another size");
  if (auto fault = stripe.is_vector() ? multiply_vector(stripe) : convolve(stripe)) return fault;
  if (!stripe.no_output) requantise(stripe, output);
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_n
