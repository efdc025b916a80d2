// Included before functions whose assembly takes r7 (assembly.h), by sources that leave the level of optimisation to
// the command line.
#ifndef INTARSIA_CORTEX_M_NO_FRAME_POINTER_H_
#define INTARSIA_CORTEX_M_NO_FRAME_POINTER_H_

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("omit-frame-pointer")
#endif

#endif  // INTARSIA_CORTEX_M_NO_FRAME_POINTER_H_
