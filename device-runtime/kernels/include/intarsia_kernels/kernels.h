// Everything generated C may call.
#ifndef INTARSIA_KERNELS_KERNELS_H_
#define INTARSIA_KERNELS_KERNELS_H_

#include "intarsia_kernels/arithmetic.h"
#include "intarsia_kernels/fixed_point.h"
#include "intarsia_kernels/float_functions.h"
#include "intarsia_kernels/float_quantize.h"
#include "intarsia_kernels/move.h"
#include "intarsia_kernels/normalize.h"
#include "intarsia_kernels/requantize.h"
#include "intarsia_kernels/sigmoid.h"
#include "intarsia_kernels/softmax.h"

#endif  // INTARSIA_KERNELS_KERNELS_H_
