// Everything that emitted code for a Cortex-M may call beside the portable kernels.
#ifndef INTARSIA_CORTEX_M_KERNELS_H_
#define INTARSIA_CORTEX_M_KERNELS_H_

#include "intarsia/targets/cortex_m/add.h"
#include "intarsia/targets/cortex_m/clamp.h"
#include "intarsia/targets/cortex_m/copy_rows.h"
#include "intarsia/targets/cortex_m/dsp_kernels.h"
#include "intarsia/targets/cortex_m/float_curves.h"
#include "intarsia/targets/cortex_m/float_steps.h"
#include "intarsia/targets/cortex_m/lanes_conv.h"
#include "intarsia/targets/cortex_m/lanes_elements.h"
#include "intarsia/targets/cortex_m/long_conv.h"
#include "intarsia/targets/cortex_m/lstm.h"
#include "intarsia/targets/cortex_m/matmul.h"
#include "intarsia/targets/cortex_m/mean.h"
#include "intarsia/targets/cortex_m/mul.h"
#include "intarsia/targets/cortex_m/mve_conv.h"
#include "intarsia/targets/cortex_m/mve_deep_conv.h"
#include "intarsia/targets/cortex_m/mve_depthwise.h"
#include "intarsia/targets/cortex_m/pair_tables.h"
#include "intarsia/targets/cortex_m/pool_softmax.h"
#include "intarsia/targets/cortex_m/prelu.h"
#include "intarsia/targets/cortex_m/resize.h"
#include "intarsia/targets/cortex_m/rv32_conv.h"
#include "intarsia/targets/cortex_m/rv32_depthwise.h"
#include "intarsia/targets/cortex_m/staged_conv.h"
#include "intarsia/targets/cortex_m/sum.h"
#include "intarsia/targets/cortex_m/svdf.h"
#include "intarsia/targets/cortex_m/thumb_conv.h"
#include "intarsia/targets/cortex_m/thumb_depthwise.h"
#include "intarsia/targets/cortex_m/wide.h"

#endif  // INTARSIA_CORTEX_M_KERNELS_H_
