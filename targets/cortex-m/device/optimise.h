// Included by the kernels' sources before their functions: loops that take most of the time are
// compiled for speed whatever the rest of the program asks for. Function by function it would be an attribute
// of the same kind on everything that is inlined; INTARSIA_USERS_LEVEL leaves the level to the command line.
#ifndef INTARSIA_CORTEX_M_OPTIMISE_H_
#define INTARSIA_CORTEX_M_OPTIMISE_H_

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#ifdef INTARSIA_USERS_LEVEL
#pragma GCC optimize("omit-frame-pointer")
#else
#pragma GCC optimize("O2", "omit-frame-pointer")
#endif
#endif

#endif  // INTARSIA_CORTEX_M_OPTIMISE_H_
