// The Gaussian error function, and the activation that is made of it.
#include "intarsia/kernels/float_functions.h"

// exp(x * x) * erfc(x) from 1 on: the polynomial in t = 1 / (1 + x / 2) through its values at the eight Chebyshev nodes of
// the interval of t that belongs to x = 1 .. 10. The relative error is below 4e-7.
static float scaled_complement(float x) {
  const float t = 1.0f / (1.0f + 0.5f * x);
  return -3.653625248e-5f +
         t * (0.2829754333f +
              t * (0.2731584377f +
                   t * (0.2965558715f +
                        t * (0.01153085328f +
                             t * (0.4104816368f + t * (-0.3603059082f + t * 0.08537092265f))))));
}

// Taylor's series of erf for |x| <= 1: 2 / sqrt(pi) * sum of (-1)^n x^(2n+1) / (n! (2n+1)). The first term left out is
// below 1e-8.
static float near_zero(float x) {
  const float y = x * x;
  return x *
         (1.128379167f +
          y * (-0.3761263890f +
               y * (0.1128379167f +
                    y * (-0.02686617064f +
                         y * (0.005223977625f +
                              y * (-0.0008548327023f +
                                   y * (0.0001205533226f +
                                        y * (-1.492565036e-5f +
                                             y * (1.646211437e-6f + y * -1.636584471e-7f)))))))));
}

// 1 - erf(x) for x >= 0, with its own bits where it is small.
static float complement(float x) {
  if (x < 1.0f) return 1.0f - near_zero(x);
  return x > 10.0f ? 0.0f : intarsia_exp_f32(-x * x) * scaled_complement(x);
}

float intarsia_erf_f32(float x) {
  if (x != x) return x;
  if (x > -1.0f && x < 1.0f) return near_zero(x);
  return x < 0.0f ? complement(-x) - 1.0f : 1.0f - complement(x);
}

// x / 2 * erfc(-x / sqrt(2)): the part of a normal distribution below x, times x.
float intarsia_gelu_f32(float x) {
  if (x != x) return x;
  if (x < -14.0f) return -0.0f;  // minus infinity times zero is no number
  const float z = 0.70710678f * x;
  const float below = z < 0.0f ? complement(-z) : 2.0f - complement(z);
  return 0.5f * x * below;
}

float intarsia_gelu_tanh_f32(float x) {
  if (x < -14.0f) return -0.0f;
  // (1 + tanh(u)) / 2 = logistic(2 u) with u = sqrt(2 / pi) * (x + 0.044715 x^3).
  return x * intarsia_logistic_f32(1.595769122f * x * (1.0f + 0.044715f * x * x));
}
