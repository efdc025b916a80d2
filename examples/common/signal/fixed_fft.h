/* The Fourier transform of real samples in 32-bit fixed point, of 2^4 to 2^9 points, in place.
 *
 * A real transform of N points is a complex one of N / 2 points and a step that takes even and odd samples apart
 * (Cooley and Tukey, Math. Comp. 19, 1965; Press et al., Numerical Recipes, section 12.3).
 *
 * The spectrum is packed into the N words of the samples: word 0 is bin 0 and word 1 is bin N / 2, which are real;
 * words 2 k and 2 k + 1 are the real and the imaginary part of bin k. */
#ifndef EXAMPLES_FIXED_FFT_H
#define EXAMPLES_FIXED_FFT_H

#include <stdint.h>

enum { FIXED_FFT_LEAST_LOG2 = 4, FIXED_FFT_MOST_LOG2 = 9 };

/* `x`: 2^log2_n samples of at most 2^30. Becomes their spectrum divided by N = 2^log2_n. Every stage halves, so nothing
 * overflows whatever the samples are. */
void fixed_rfft(int32_t* x, int log2_n);

/* The inverse of fixed_rfft. It does not scale, so that the spectrum needs room: samples of at most 2^26 before
 * fixed_rfft, and then gains of at most 1 on bins, overflow nowhere. (By Cauchy-Schwarz and Parseval no sum of bins is
 * more than sqrt(N) times the root mean square of the samples: 2^4.5 * 2^26.) */
void fixed_irfft(int32_t* x, int log2_n);

#endif
