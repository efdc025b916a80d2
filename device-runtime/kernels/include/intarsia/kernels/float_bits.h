// A number of single precision (IEEE 754) as its 32 bits, and back: by memcpy, which compilers make one move or none.
#ifndef INTARSIA_KERNELS_FLOAT_BITS_H_
#define INTARSIA_KERNELS_FLOAT_BITS_H_

#include <stdint.h>
#include <string.h>

// Not left to the compiler: GCC calls functions where those around them have other `#pragma GCC optimize` than they have.
#ifdef __GNUC__
#define INTARSIA_FLOAT_BITS_INLINE static inline __attribute__((always_inline))
#else
#define INTARSIA_FLOAT_BITS_INLINE static inline
#endif

INTARSIA_FLOAT_BITS_INLINE uint32_t intarsia_bits_of_f32(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

INTARSIA_FLOAT_BITS_INLINE float intarsia_f32_of_bits(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

#endif  // INTARSIA_KERNELS_FLOAT_BITS_H_
