// Differences of pairs, beside the products of dsp_dot.h: for kernels whose biases have no zero point of the input in them.
#ifndef INTARSIA_CORTEX_M_DSP_PAIRS_H_
#define INTARSIA_CORTEX_M_DSP_PAIRS_H_

#include <stdint.h>

#include "intarsia/targets/cortex_m/results.h"

// Both halfwords of a pair less those of another; none leaves its 16 bits.
INTARSIA_INLINE uint32_t intarsia_less_zeros(uint32_t pair, uint32_t zeros) {
#if INTARSIA_HAS_DSP
  uint32_t result;
  __asm__("ssub16 %0, %1, %2" : "=r"(result) : "r"(pair), "r"(zeros));
  return result;
#else
  return ((pair & 0xffff0000u) - (zeros & 0xffff0000u)) | ((pair - zeros) & 0xffffu);
#endif
}

#endif  // INTARSIA_CORTEX_M_DSP_PAIRS_H_
