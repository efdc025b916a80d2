// Whether the core has vectors of four floats (Helium), and a number's bits. Included behind optimise.h.
#ifndef INTARSIA_CORTEX_M_FLOAT_VECTORS_H_
#define INTARSIA_CORTEX_M_FLOAT_VECTORS_H_

#include "intarsia/kernels/float_bits.h"
#include "intarsia/targets/cortex_m/assembly.h"

#if INTARSIA_HAS_MVE && (__ARM_FEATURE_MVE & 2)
#define INTARSIA_FLOAT_VECTORS 1
#include <arm_mve.h>
#else
#define INTARSIA_FLOAT_VECTORS 0
#endif

#endif  // INTARSIA_CORTEX_M_FLOAT_VECTORS_H_
