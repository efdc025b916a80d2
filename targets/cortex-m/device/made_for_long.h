// Of a model whose kernels use long multiplication.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_LONG_H_
#define INTARSIA_CORTEX_M_MADE_FOR_LONG_H_

#include "intarsia/targets/cortex_m/made_for.h"

#if INTARSIA_CHECKS_FLAGS && (__ARM_ARCH_ISA_THUMB < 2)
#warning \
    "this model was compiled for a core with long multiplication (Armv7-M); these flags have none: kernels fall back to portable C, many times slower. \
Compile with the -mcpu of that core, such as -mcpu=cortex-m3, or compile the model for this core; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_LONG_H_
