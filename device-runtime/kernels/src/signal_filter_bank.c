#include "intarsia/kernels/signal.h"

void intarsia_signal_energy(const int16_t* input, uint32_t* output, int32_t begin, int32_t end,
                            int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t real = (int32_t)input[2 * i];
    const int32_t imaginary = (int32_t)input[2 * i + 1];
    const uint32_t energy = (uint32_t)(real * real) + (uint32_t)(imaginary * imaginary);
    output[i] = i >= begin && i < end ? energy : 0u;
  }
}

void intarsia_signal_filter_bank(const uint32_t* energy, const int16_t* weights,
                                 const int16_t* unweights, const int16_t* first_energies,
                                 const int16_t* first_weights, const int16_t* widths,
                                 int64_t* output, int32_t channels) {
  uint64_t carried = 0; /* from the band before */
  for (int32_t band = 0; band <= channels; ++band) {
    const uint32_t* from = &energy[first_energies[band]];
    const int32_t first = (int32_t)first_weights[band];
    uint64_t sum = carried;
    carried = 0;
    for (int32_t i = 0; i < (int32_t)widths[band]; ++i) {
      sum += (uint64_t)((int64_t)weights[first + i] * (int64_t)from[i]);
      carried += (uint64_t)((int64_t)unweights[first + i] * (int64_t)from[i]);
    }
    if (band > 0) output[band - 1] = (int64_t)sum;
  }
}
