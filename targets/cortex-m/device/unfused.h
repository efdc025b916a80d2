// For what follows: a product and a sum of floats that the source does not fuse are rounded one after the other, as the portable
// kernels do it. Compilers fuse them unless told. Included behind the headers whose functions may be fused.
#ifndef INTARSIA_CORTEX_M_UNFUSED_H_
#define INTARSIA_CORTEX_M_UNFUSED_H_

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#endif  // INTARSIA_CORTEX_M_UNFUSED_H_
