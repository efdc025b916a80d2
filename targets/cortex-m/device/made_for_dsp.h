// Of a model whose kernels use the DSP extension.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_DSP_H_
#define INTARSIA_CORTEX_M_MADE_FOR_DSP_H_

#include "intarsia/targets/cortex_m/made_for.h"

#if INTARSIA_CHECKS_FLAGS && !defined(__ARM_FEATURE_DSP)
#warning \
    "this model was compiled for a core with the DSP extension; these flags have none: kernels fall back to portable C, many times slower. \
Compile with the -mcpu of that core, such as -mcpu=cortex-m4, or compile the model for this core; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_DSP_H_
