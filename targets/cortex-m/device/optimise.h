// Included by the kernels' sources before their functions: loops that take most of the time are
// compiled for speed whatever the rest of the program asks for.
#ifndef INTARSIA_CORTEX_M_OPTIMISE_H_
#define INTARSIA_CORTEX_M_OPTIMISE_H_

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O2")
#endif

#endif  // INTARSIA_CORTEX_M_OPTIMISE_H_
