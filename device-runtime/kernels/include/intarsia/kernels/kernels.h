// Everything generated C may call.
#ifndef INTARSIA_KERNELS_KERNELS_H_
#define INTARSIA_KERNELS_KERNELS_H_

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/detect_boxes.h"
#include "intarsia/kernels/divide.h"
#include "intarsia/kernels/float_functions.h"
#include "intarsia/kernels/float_quantize.h"
#include "intarsia/kernels/move.h"
#include "intarsia/kernels/normalize.h"
#include "intarsia/kernels/quantize_row.h"
#include "intarsia/kernels/sigmoid.h"
#include "intarsia/kernels/signal.h"
#include "intarsia/kernels/softmax.h"
#include "intarsia/kernels/square_root.h"

#endif  // INTARSIA_KERNELS_KERNELS_H_
