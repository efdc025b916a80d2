#include "intarsia/kernels/signal.h"

// The transform of real samples as a complex one of half as many points (Cooley and Tukey, Math. Comp. 19, 1965; Press et
// al., Numerical Recipes, section 12.3), in passes of four that halve twice. Sums that do not fit wrap around, as those of
// the transform do that TFLite Micro uses.

struct pair {
  int32_t real;
  int32_t imaginary;
};

// What stores to 16 bits keep.
static int16_t narrow(int32_t value) {
  return (int16_t)(uint16_t)((uint32_t)value & 0xffffu);
}

static int32_t round_q15(int32_t product) {
  return (int32_t)narrow((product + (1 << 14)) >> 15);
}

// As pairs in memory are.
static struct pair narrow_pair(int32_t real, int32_t imaginary) {
  const struct pair result = {(int32_t)narrow(real), (int32_t)narrow(imaginary)};
  return result;
}

static struct pair load(const int16_t* at) {
  const struct pair result = {(int32_t)at[0], (int32_t)at[1]};
  return result;
}

static void store(int16_t* at, int32_t real, int32_t imaginary) {
  at[0] = narrow(real);
  at[1] = narrow(imaginary);
}

// 32767 / parts in Q15: not quite the part.
static struct pair divided(struct pair x, int32_t parts) {
  const int32_t factor = 32767 / parts;
  const struct pair result = {round_q15(x.real * factor), round_q15(x.imaginary * factor)};
  return result;
}

// Two products of 2^30 are 2^31 at most when both numbers are the least; the sum is computed without a sign there.
static int32_t sum_q15(int32_t a, int32_t b) {
  return (int32_t)narrow((int32_t)(((int64_t)a + (int64_t)b + (1 << 14)) >> 15));
}

static struct pair turned(struct pair x, struct pair by) {
  const struct pair result = {sum_q15(x.real * by.real, -(x.imaginary * by.imaginary)),
                              sum_q15(x.real * by.imaginary, x.imaginary * by.real)};
  return result;
}

// Where the point is before the first pass: its digits in the reverse order, to base 4, and the last to base 2 where `points`
// is no power of four.
static int32_t place_of(int32_t point, int32_t points) {
  int32_t place = 0;
  int32_t span = points;
  while (span > 1) {
    const int32_t digits = span % 4 == 0 ? 2 : 1; /* bits */
    span >>= digits;
    place += (point & ((1 << digits) - 1)) * span;
    point >>= digits;
  }
  return place;
}

static void pass_of_two(int16_t* x, const int16_t* turns, int32_t points) {
  for (int32_t at = 0; at < points; at += 2) {
    const struct pair a = divided(load(&x[2 * at]), 2);
    const struct pair b = turned(divided(load(&x[2 * at + 2]), 2), load(turns));
    store(&x[2 * at], a.real + b.real, a.imaginary + b.imaginary);
    store(&x[2 * at + 2], a.real - b.real, a.imaginary - b.imaginary);
  }
}

// Four transforms of `quarter` points become one.
static void join_four(int16_t* x, const int16_t* turns, int32_t quarter, int32_t stride,
                      int32_t sign) {
  for (int32_t k = 0; k < quarter; ++k) {
    int16_t* at[4];
    struct pair p[4];
    for (int32_t i = 0; i < 4; ++i) {
      at[i] = &x[2 * (k + i * quarter)];
      p[i] = divided(load(at[i]), 4);
      if (i > 0) p[i] = turned(p[i], load(&turns[2 * i * k * stride]));
    }
    const struct pair sum = narrow_pair(p[0].real + p[2].real, p[0].imaginary + p[2].imaginary);
    const struct pair rest = narrow_pair(p[0].real - p[2].real, p[0].imaginary - p[2].imaginary);
    const struct pair odd = narrow_pair(p[1].real + p[3].real, p[1].imaginary + p[3].imaginary);
    const struct pair gap = narrow_pair(p[1].real - p[3].real, p[1].imaginary - p[3].imaginary);
    store(at[0], sum.real + odd.real, sum.imaginary + odd.imaginary);
    store(at[1], rest.real + sign * gap.imaginary, rest.imaginary - sign * gap.real);
    store(at[2], sum.real - odd.real, sum.imaginary - odd.imaginary);
    store(at[3], rest.real - sign * gap.imaginary, rest.imaginary + sign * gap.real);
  }
}

// Points at their places become their transform; `sign` is -1 for the inverse.
static void transform(int16_t* x, const int16_t* turns, int32_t points, int32_t sign) {
  int32_t done = 1;
  while (4 * done <= points) done *= 4;
  const int32_t begins_with_two = done != points;
  if (begins_with_two != 0) pass_of_two(x, turns, points);
  for (int32_t quarter = begins_with_two != 0 ? 2 : 1; quarter < points; quarter *= 4)
    for (int32_t at = 0; at < points; at += 4 * quarter)
      join_four(&x[2 * at], turns, quarter, points / (4 * quarter), sign);
}

void intarsia_signal_rfft_s16(const int16_t* input, int16_t* output, const int16_t* turns,
                              const int16_t* halves, int32_t count, int32_t length) {
  const int32_t points = length / 2;
  for (int32_t point = 0; point < points; ++point) {
    int16_t* at = &output[2 * place_of(point, points)];
    at[0] = 2 * point < count ? input[2 * point] : (int16_t)0;
    at[1] = 2 * point + 1 < count ? input[2 * point + 1] : (int16_t)0;
  }
  transform(output, turns, points, 1);

  const struct pair first = divided(load(output), 2);
  store(&output[0], first.real + first.imaginary, 0);
  store(&output[2 * points], first.real - first.imaginary, 0);
  for (int32_t k = 1; k <= points / 2; ++k) {
    int16_t* low = &output[2 * k];
    int16_t* high = &output[2 * (points - k)];
    const struct pair a = divided(load(low), 2);
    const struct pair mirrored = load(high);
    const struct pair b = divided(narrow_pair(mirrored.real, -mirrored.imaginary), 2);
    const struct pair even = narrow_pair(a.real + b.real, a.imaginary + b.imaginary);
    const struct pair odd =
        turned(narrow_pair(a.real - b.real, a.imaginary - b.imaginary), load(&halves[2 * (k - 1)]));
    store(low, (even.real + odd.real) >> 1, (even.imaginary + odd.imaginary) >> 1);
    store(high, (even.real - odd.real) >> 1, (odd.imaginary - even.imaginary) >> 1);
  }
}

void intarsia_signal_irfft_s16(const int16_t* input, int16_t* output, const int16_t* turns,
                               const int16_t* halves, int32_t length) {
  const int32_t points = length / 2;
  const int32_t first = (int32_t)input[0];
  const int32_t last = (int32_t)input[2 * points];
  const struct pair zero = divided(narrow_pair(first + last, first - last), 2);
  store(&output[0], zero.real, zero.imaginary); /* its place is its own */
  for (int32_t k = 1; k <= points / 2; ++k) {
    const struct pair a = divided(load(&input[2 * k]), 2);
    const struct pair mirrored = load(&input[2 * (points - k)]);
    const struct pair b = divided(narrow_pair(mirrored.real, -mirrored.imaginary), 2);
    const struct pair even = narrow_pair(a.real + b.real, a.imaginary + b.imaginary);
    const struct pair odd =
        turned(narrow_pair(a.real - b.real, a.imaginary - b.imaginary), load(&halves[2 * (k - 1)]));
    store(&output[2 * place_of(k, points)], even.real + odd.real, even.imaginary + odd.imaginary);
    const struct pair high = narrow_pair(even.real - odd.real, even.imaginary - odd.imaginary);
    store(&output[2 * place_of(points - k, points)], high.real, -high.imaginary);
  }
  transform(output, turns, points, -1);
}
