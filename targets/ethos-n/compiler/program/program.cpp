#include "program/program.h"

#include <cmath>

#include "intarsia/npu/map_layout.h"

namespace intarsia::targets::ethos_n {

int64_t bytes_of(Layout layout, int64_t rows, int64_t columns, int64_t channels) {
  constexpr npu::MapLayout kLayouts[] = {npu::kLinearLayout, {8, 8, 16}};  // by Layout
  return kLayouts[static_cast<size_t>(layout)].stored_elements(rows, columns, channels);
}

// ETHOS-N78's encoder: the exponent leaves sixteen bits for the scale.
ChannelScale channel_scale(float input, float weight, float output) {
  const float product = input * weight;
  const auto multiplier = static_cast<double>(product / output);
  if (multiplier == 0) return {};
  int32_t shift = std::min(47, 15 - std::ilogb(multiplier));
  int64_t scale = std::llround(std::ldexp(multiplier, shift));
  if (scale == 65536) scale /= 2, --shift;
  return {static_cast<uint32_t>(scale), static_cast<uint32_t>(shift)};
}

int64_t interleaved_channels(const Variant& variant, int64_t channels) {
  const int64_t banks = variant.srams(), rest = channels % banks;
  return channels / banks * banks * 4 + (rest == 0 ? 0 : 3 * banks + rest);
}

}  // namespace intarsia::targets::ethos_n
