// The exponential function, the same on every machine. What a C library returns differs in the last bit
// from one to the next, and tables that are made with it become part of emitted models.
#pragma once

#include <cmath>

namespace intarsia::graph {

// e^x with a relative error below 2^-50, by additions and multiplications alone, which IEEE 754 rounds
// alike everywhere (without contraction into fused operations; see CMakeLists.txt). -1100 <= x <= 700.
inline double portable_exp(double x) {
  // x = k ln 2 + r with |r| <= ln(2) / 2. The first part of ln 2 has 32 bits, so that k times it is exact.
  constexpr double kLog2OfE = 1.4426950408889634, kLn2High = 0x1.62e42feep-1,
                   kLn2Low = 0x1.a39ef35793c76p-33;
  const double k = std::floor(x * kLog2OfE + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  // Taylor: the first term left out, r^15 / 15!, is below 2^-63.
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + r / n * sum;
  return std::ldexp(sum, static_cast<int>(k));
}

// The float nearest to e^x, except where e^x is within 2^-50 of the middle between two floats; there
// one of the two, the same everywhere. Infinity above, zero below what floats reach; NaN of NaN.
inline float rounded_exp(float x) {
  if (std::isnan(x)) return x;
  if (x > 89) return INFINITY;  // the largest float is e^88.7
  if (x < -105) return 0;       // half of the smallest is e^-103.97
  return static_cast<float>(portable_exp(x));
}

}  // namespace intarsia::graph
