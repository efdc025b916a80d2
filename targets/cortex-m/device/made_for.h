// Included by a model's source. Its kernels serve any flags and give the same results, many times slower where the
// instructions are missing that they were chosen for, which nothing else would say. Silent: -DINTARSIA_ANY_FLAGS.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_H_
#define INTARSIA_CORTEX_M_MADE_FOR_H_

// Flags for an M-profile core, about which something may be said: not those of a machine on which a model is tried out.
#if defined(__ARM_ARCH_PROFILE) && !defined(INTARSIA_ANY_FLAGS)
#if __ARM_ARCH_PROFILE == 'M'
#define INTARSIA_CHECKS_FLAGS 1
#endif
#endif
#ifndef INTARSIA_CHECKS_FLAGS
#define INTARSIA_CHECKS_FLAGS 0
#endif

#if INTARSIA_CHECKS_FLAGS && defined(__GNUC__) && !defined(__OPTIMIZE__)
#warning \
    "compiled without optimisation (-O0): kernels fall back to portable C, many times slower. \
Compile with -Os, -O2 or -O3; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_H_
