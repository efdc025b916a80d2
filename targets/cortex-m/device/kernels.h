// Everything that emitted code for a Cortex-M may call beside the portable kernels.
#ifndef INTARSIA_CORTEX_M_KERNELS_H_
#define INTARSIA_CORTEX_M_KERNELS_H_

#include "cortex_m/add.h"
#include "cortex_m/dsp_conv.h"
#include "cortex_m/dsp_dense.h"
#include "cortex_m/dsp_depthwise.h"
#include "cortex_m/long_conv.h"
#include "cortex_m/lstm.h"
#include "cortex_m/mean.h"
#include "cortex_m/mul.h"
#include "cortex_m/mve_conv.h"
#include "cortex_m/mve_depthwise.h"
#include "cortex_m/pool.h"
#include "cortex_m/softmax.h"
#include "cortex_m/sum.h"
#include "cortex_m/svdf.h"
#include "cortex_m/thumb_conv.h"
#include "cortex_m/thumb_depthwise.h"
#include "cortex_m/wide.h"

#endif  // INTARSIA_CORTEX_M_KERNELS_H_
