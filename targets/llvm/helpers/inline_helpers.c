/* The helpers that C has in its headers, as functions with names: code in LLVM's IR calls them, and the optimiser puts
 * them in place. */
#include <stdint.h>

#define static
#define inline
#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/float_quantize.h"
#include "intarsia/kernels/normalize.h"
#undef inline
#undef static
