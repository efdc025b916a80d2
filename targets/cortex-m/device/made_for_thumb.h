// Every core has the instructions of Armv6-M; those with more have kernels of their own, which a model
// that is compiled for them gets.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_THUMB_H_
#define INTARSIA_CORTEX_M_MADE_FOR_THUMB_H_

#include "intarsia/targets/cortex_m/made_for.h"

#endif  // INTARSIA_CORTEX_M_MADE_FOR_THUMB_H_
