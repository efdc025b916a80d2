// Models that a release of Arm's compiler gets wrong.
#pragma once

#include <string_view>

namespace intarsia::test::ethos_u {

// Faults of releases of Arm's compiler, which give other numbers than TFLite on the device too. With what the
// next release writes in their place, the same simulator is exact.
struct VelaFault {
  std::string_view model, what;
};
inline constexpr VelaFault kVelaFaults[] = {
    {"int16xint8xint32_1",
     "rounds once (NATURAL) where 32-bit biases ask for TFLite's two roundings"},
    {"int16xint8xint32_2", "likewise"},
    {"int16xint8xint32_5", "likewise"},
    {"reverse_transpose_conv_1",
     "pads an even kernel at the bottom and right, not at the top and left"},
    {"lstm_2_s16", "scales the cell by 17490 / 2^10 before tanh, not by its power of two, 24"},
    {"lstm_stateful_batch_major_multibatch_s16", "likewise"},
};

inline const VelaFault* vela_fault(std::string_view model) {
  for (const VelaFault& fault : kVelaFaults)
    if (fault.model == model) return &fault;
  return nullptr;
}

}  // namespace intarsia::test::ethos_u
