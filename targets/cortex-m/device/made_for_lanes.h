// Of a model whose kernels hold sixteen lanes in vectors.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_LANES_H_
#define INTARSIA_CORTEX_M_MADE_FOR_LANES_H_

#if !defined(INTARSIA_ANY_FLAGS) && defined(__GNUC__) && !defined(__OPTIMIZE__)
#warning \
    "compiled without optimisation (-O0): kernels are many times slower. \
Compile with -Os, -O2 or -O3; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_LANES_H_
