#include "fixed_fft.h"

#include "fixed_tables.h"

/* cos and sin of 2 pi k / FIXED_CIRCLE in Q30, 0 <= k < FIXED_CIRCLE / 2. */
static int32_t cosine(int32_t k) {
  return fixed_sine_q30[k + FIXED_CIRCLE / 4];
}
static int32_t sine(int32_t k) {
  return fixed_sine_q30[k];
}

__attribute__((always_inline)) static inline int32_t high(int64_t product, int shift) {
  return (int32_t)((product + ((int64_t)1 << (shift - 1))) >> shift);
}

static void swap_complex(int32_t* a, int32_t* b) {
  for (int i = 0; i < 2; ++i) {
    const int32_t kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

static void reverse_bits(int32_t* z, int32_t points) {
  int32_t mirrored = 0;
  for (int32_t i = 1; i < points; ++i) {
    int32_t bit = points >> 1;
    for (; (mirrored & bit) != 0; bit >>= 1) mirrored ^= bit;
    mirrored |= bit;
    if (i < mirrored) swap_complex(z + 2 * i, z + 2 * mirrored);
  }
}

/* Radix 2, decimation in time. `direction` -1 is the transform, where each stage halves (`halve` 1); +1 the inverse.
 * Inlined, because shifts of 64 bits by a known number take two instructions and others eight. */
__attribute__((always_inline)) static inline void complex_fft(int32_t* z, int32_t points,
                                                              int direction, int halve) {
  reverse_bits(z, points);
  for (int32_t span = 1; span < points; span *= 2) {
    for (int32_t j = 0; j < span; ++j) {
      const int32_t c = cosine(j * (FIXED_CIRCLE / 2 / span));
      const int32_t s = direction * sine(j * (FIXED_CIRCLE / 2 / span));
      for (int32_t i = j; i < points; i += 2 * span) {
        int32_t* a = z + 2 * i;
        int32_t* b = a + 2 * span;
        const int32_t turned_re = high((int64_t)b[0] * c - (int64_t)b[1] * s, 30 + halve);
        const int32_t turned_im = high((int64_t)b[0] * s + (int64_t)b[1] * c, 30 + halve);
        const int32_t re = a[0] >> halve;
        const int32_t im = a[1] >> halve;
        a[0] = re + turned_re;
        a[1] = im + turned_im;
        b[0] = re - turned_re;
        b[1] = im - turned_im;
      }
    }
  }
}

void fixed_rfft(int32_t* x, int log2_n) {
  const int32_t half = (int32_t)1 << (log2_n - 1);
  const int32_t step = FIXED_CIRCLE >> log2_n;
  complex_fft(x, half, -1, 1);
  const int32_t dc = x[0] >> 1;
  const int32_t alternating = x[1] >> 1;
  x[0] = dc + alternating;
  x[1] = dc - alternating;
  /* Bins k and half - k from the complex spectrum Z: even = Z[k] + conj Z[half-k], odd = -i (Z[k] - conj Z[half-k]),
   * and bin k is even + w^k odd, all divided by 4: the 2 of the definition, and the 2 from half to N. */
  for (int32_t k = 1; 2 * k <= half; ++k) {
    int32_t* a = x + 2 * k;
    int32_t* b = x + 2 * (half - k);
    const int32_t even_re = (a[0] >> 1) + (b[0] >> 1);
    const int32_t even_im = (a[1] >> 1) - (b[1] >> 1);
    const int32_t odd_re = (a[1] >> 1) + (b[1] >> 1);
    const int32_t odd_im = (b[0] >> 1) - (a[0] >> 1);
    const int32_t c = cosine(k * step);
    const int32_t s = sine(k * step);
    const int32_t turned_re = high((int64_t)odd_re * c + (int64_t)odd_im * s, 31);
    const int32_t turned_im = high((int64_t)odd_im * c - (int64_t)odd_re * s, 31);
    a[0] = (even_re >> 1) + turned_re;
    a[1] = (even_im >> 1) + turned_im;
    if (a == b) continue;
    b[0] = (even_re >> 1) - turned_re;
    b[1] = turned_im - (even_im >> 1);
  }
}

void fixed_irfft(int32_t* x, int log2_n) {
  const int32_t half = (int32_t)1 << (log2_n - 1);
  const int32_t step = FIXED_CIRCLE >> log2_n;
  const int32_t dc = x[0];
  const int32_t alternating = x[1];
  x[0] = dc + alternating;
  x[1] = dc - alternating;
  for (int32_t k = 1; 2 * k <= half; ++k) {
    int32_t* a = x + 2 * k;
    int32_t* b = x + 2 * (half - k);
    const int32_t even_re = a[0] + b[0];
    const int32_t even_im = a[1] - b[1];
    const int32_t turned_re = a[0] - b[0];
    const int32_t turned_im = a[1] + b[1];
    const int32_t c = cosine(k * step);
    const int32_t s = sine(k * step);
    const int32_t odd_re = high((int64_t)turned_re * c - (int64_t)turned_im * s, 30);
    const int32_t odd_im = high((int64_t)turned_im * c + (int64_t)turned_re * s, 30);
    a[0] = even_re - odd_im;
    a[1] = even_im + odd_re;
    if (a == b) continue;
    b[0] = even_re + odd_im;
    b[1] = odd_re - even_im;
  }
  complex_fft(x, half, 1, 0);
}
