#include "intarsia/targets/ethos_u/output_stage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace intarsia::simulators::ethos_u {
namespace {

// Index and step of the 16-bit tables: 512 entries, each for 128 values.
constexpr int32_t kStepBits = 7;

// 65536 * sigmoid(i / 24). The curve is concave, so that the chords between true points lie below it;
// the points of TFLite's table are raised by half of what the chord misses in its middle. The last
// one is all ones.
std::array<int32_t, 256> make_sigmoid_points() {
  const auto curve = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
  std::array<int32_t, 256> points;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto x = static_cast<double>(i);
    const double missed = curve(x + 0.5) - (curve(x) + curve(x + 1)) / 2;
    points[i] = static_cast<int32_t>(std::lround(curve(x) + missed / 2));
  }
  points.back() = 65535;
  return points;
}

int32_t sigmoid_point(size_t i) {
  static const std::array<int32_t, 256> points = make_sigmoid_points();
  return points[i];
}

// 2^16 * sigmoid, with `step_bits` more bits, at a magnitude whose points are 2^step_bits apart.
// Beyond the last point it is `most`.
int32_t interpolate(uint32_t magnitude, uint32_t step_bits, int32_t most) {
  const uint32_t i = magnitude >> step_bits;
  if (i >= 255) return most;
  const auto rest = static_cast<int32_t>(magnitude & ((1u << step_bits) - 1));
  const int32_t here = sigmoid_point(i), next = sigmoid_point(i + 1);
  return (here << step_bits) + rest * (next - here);
}

size_t table_bytes(ElementType type) {
  switch (element_bytes(type)) {
    case 1:
      return kLutTableBytes8;
    case 2:
      return kLutTableBytes16;
    default:
      return kLutTableBytes32;
  }
}

}  // namespace

int32_t sigmoid_unit(int32_t x) {
  const int32_t at = interpolate(static_cast<uint32_t>(std::abs(x)), 9, 0x7FFF << 10);
  const int32_t half = 1 << 9;
  return x >= 0 ? (at + half) >> 10 : ((1 << 25) - at + half - 1) >> 10;
}

int32_t tanh_unit(int32_t x) {
  // tanh(x) = 2 sigmoid(2x) - 1: the points are half as far apart.
  const int32_t at = interpolate(static_cast<uint32_t>(std::abs(x)), 8, 0xFFFF << 8);
  const int32_t half = 1 << 7;
  return x >= 0 ? (at - (1 << 23) + half) >> 8 : (-at + (1 << 23) + half - 1) >> 8;
}

std::optional<Fault> OutputStage::check(const Operation& op) {
  const auto fault = [](const char* what) { return Fault{Cause::Operand, 0, "", what}; };
  const Activation& activation = op.activation;
  if (activation.function == ActivationFunction::Tanh ||
      activation.function == ActivationFunction::Sigmoid)
    if (op.ofm.type != ElementType::S16)
      return fault("the units for tanh and sigmoid are known for OFMs of S16 alone");
  if (activation.function != ActivationFunction::Table) return std::nullopt;
  if (static_cast<size_t>(activation.table * kLutSlotBytes) + table_bytes(op.ofm.type) > kLutBytes)
    return fault("the table lies beyond the end of SHRAM");
  if (op.ofm.type == ElementType::S32 && activation.forced_range != ElementType::S8 &&
      activation.forced_range != ElementType::U8)
    return fault("a table for an OFM of S32 needs a clip range of 8 bits");
  return std::nullopt;
}

OutputStage::OutputStage(const Operation& op, const Configuration& configuration,
                         const Memory& memory)
    : plain32_(op.ofm.type == ElementType::S32 &&
               op.activation.function == ActivationFunction::Clamp),
      function_(op.activation.function),
      ofm_type_(op.ofm.type),
      zero_point_(op.ofm.zero_point) {
  const ElementType range = op.activation.forced_range.value_or(op.ofm.type);
  low_ = std::max<int64_t>(op.activation.minimum, lowest(range));
  high_ = std::min<int64_t>(op.activation.maximum, highest(range));
  table_lowest_ = lowest(range);
  table_ = memory.shram().data() + configuration.lut_base() + op.activation.table * kLutSlotBytes;
}

int32_t OutputStage::activated(int64_t scaled) const {
  if (function_ == ActivationFunction::Table) return looked_up(clamped(scaled + zero_point_));
  // The units saturate long before sixteen bits and a half are full.
  const auto x = static_cast<int32_t>(std::clamp<int64_t>(scaled, -(1 << 20), 1 << 20));
  const int32_t result = function_ == ActivationFunction::Tanh ? tanh_unit(x) : sigmoid_unit(x);
  return static_cast<int32_t>(clamped(int64_t{result} + zero_point_));
}

int32_t OutputStage::looked_up(int64_t index_value) const {
  const auto index = static_cast<size_t>(std::max<int64_t>(index_value - table_lowest_, 0));
  if (ofm_type_ == ElementType::U8) return table_[std::min<size_t>(index, 255)];
  if (ofm_type_ == ElementType::S8)
    return static_cast<int8_t>(table_[std::min<size_t>(index, 255)]);
  if (ofm_type_ == ElementType::S32) {
    int32_t entry;
    std::memcpy(&entry, table_ + 4 * std::min<size_t>(index, 255), 4);
    return entry;
  }
  int16_t base, slope;
  const uint8_t* entry = table_ + 4 * std::min<size_t>(index >> kStepBits, 511);
  std::memcpy(&base, entry, 2);
  std::memcpy(&slope, entry + 2, 2);
  const auto rest = static_cast<int32_t>(index & ((1u << kStepBits) - 1));
  const int32_t value = base + ((slope * rest + (1 << (kStepBits - 1))) >> kStepBits);
  return static_cast<int32_t>(std::clamp<int64_t>(value, lowest(ofm_type_), highest(ofm_type_)));
}

}  // namespace intarsia::simulators::ethos_u
