// Of a model whose kernels use Helium.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_MVE_H_
#define INTARSIA_CORTEX_M_MADE_FOR_MVE_H_

#include "intarsia/targets/cortex_m/made_for.h"

#if INTARSIA_CHECKS_FLAGS && !defined(__ARM_FEATURE_MVE)
#warning \
    "this model was compiled for a core with Helium (MVE); these flags have none: kernels fall back to portable C, many times slower. \
Compile with the -mcpu of that core, such as -mcpu=cortex-m55 -mfloat-abi=hard, or compile the model for this core; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_MVE_H_
