// Moving rows within a buffer.
#ifndef INTARSIA_KERNELS_MOVE_H_
#define INTARSIA_KERNELS_MOVE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Copies `bytes` bytes from `from` to `to`, which lies before it; they may overlap. Both are addresses of
// words and `bytes` is a multiple of four, at least 4. Smaller and quicker than a C library's memmove made
// for size, which goes byte by byte.
void intarsia_move_back(void* to, const void* from, int32_t bytes);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_MOVE_H_
