// Lanes of an array, for compilers whose vectors these kernels do not know.
#ifndef INTARSIA_CORTEX_M_LANES_PLAIN_H_
#define INTARSIA_CORTEX_M_LANES_PLAIN_H_

enum {
  kIntarsiaRaise = 0,
  kIntarsiaPixels = 1,
  kIntarsiaWidePixels = 1,
  kIntarsiaWideBlocks = 1,
  kIntarsiaTwoBlocks = 0
};

struct intarsia_sums {
  int32_t lanes[kIntarsiaVector];
};
struct intarsia_dots {
  int32_t lanes[kIntarsiaVector];
};
struct intarsia_elements {
  const int8_t *fours;
};
struct intarsia_weights {
  const int8_t *fours;
};

INTARSIA_INLINE void intarsia_stage(int8_t *to, const int8_t *from, int32_t count) {
  memcpy(to, from, (size_t)count);
}

INTARSIA_INLINE struct intarsia_dots intarsia_dots_begin(const int32_t *table) {
  struct intarsia_dots dots;
  memcpy(dots.lanes, table, sizeof dots.lanes);
  return dots;
}

INTARSIA_INLINE struct intarsia_elements intarsia_elements(const int8_t *staged) {
  return (struct intarsia_elements){staged};
}

INTARSIA_INLINE struct intarsia_weights intarsia_weights(const int8_t *weights) {
  return (struct intarsia_weights){weights};
}

INTARSIA_INLINE void intarsia_dot(struct intarsia_dots *dots, struct intarsia_elements elements,
                                  struct intarsia_weights weights) {
  const int8_t *from = elements.fours, *scales = weights.fours;
  for (int32_t lane = 0; lane < kIntarsiaVector; ++lane, scales += 4)
    dots->lanes[lane] +=
        from[0] * scales[0] + from[1] * scales[1] + from[2] * scales[2] + from[3] * scales[3];
}

INTARSIA_INLINE void intarsia_four_taps(struct intarsia_dots *dots, const int8_t *a,
                                        const int8_t *b, const int8_t *c, const int8_t *d,
                                        const int8_t *weights) {
  for (int32_t lane = 0; lane < kIntarsiaVector; ++lane, weights += 4)
    dots->lanes[lane] +=
        a[lane] * weights[0] + b[lane] * weights[1] + c[lane] * weights[2] + d[lane] * weights[3];
}

INTARSIA_INLINE struct intarsia_sums intarsia_dots_end(const struct intarsia_dots *dots,
                                                       const int32_t *table) {
  (void)table;
  struct intarsia_sums sums;
  memcpy(sums.lanes, dots->lanes, sizeof sums.lanes);
  return sums;
}

INTARSIA_INLINE void intarsia_store_sums(const struct intarsia_sums *sums, int32_t *to) {
  memcpy(to, sums->lanes, sizeof sums->lanes);
}

INTARSIA_INLINE void intarsia_finish(const struct intarsia_sums *sums, const int32_t *table,
                                     struct intarsia_range range, int8_t *output) {
  for (int32_t lane = 0; lane < kIntarsiaVector; ++lane) {
    const struct intarsia_channel channel = {0,
                                             table[kIntarsiaMultipliers * kIntarsiaVector + lane],
                                             table[kIntarsiaRoundings * kIntarsiaVector + lane],
                                             table[kIntarsiaShifts * kIntarsiaVector + lane]};
    output[lane] =
        intarsia_result(sums->lanes[lane], &channel, range.low, range.high, INTARSIA_LIMITED);
  }
}

// Each lane by an expression.
#define BY_LANES(arguments, name, expression)                                   \
  INTARSIA_INLINE struct intarsia_sums name arguments {                         \
    struct intarsia_sums made;                                                  \
    for (int32_t i = 0; i < kIntarsiaVector; ++i) made.lanes[i] = (expression); \
    return made;                                                                \
  }
BY_LANES((int32_t value), intarsia_each, value)
BY_LANES((const int8_t *bytes), intarsia_widened, bytes[i])
BY_LANES((struct intarsia_sums a, struct intarsia_sums b), intarsia_added, a.lanes[i] + b.lanes[i])
BY_LANES((struct intarsia_sums a, struct intarsia_sums b), intarsia_multiplied,
         a.lanes[i] * b.lanes[i])
BY_LANES((struct intarsia_sums a, int32_t right), intarsia_shifted, a.lanes[i] >> right)
BY_LANES((struct intarsia_sums a, struct intarsia_sums b), intarsia_high,
         intarsia_high_product(2 * a.lanes[i], b.lanes[i]))
#undef BY_LANES

INTARSIA_INLINE void intarsia_narrowed(struct intarsia_sums a, struct intarsia_range range,
                                       int8_t *bytes) {
  for (int32_t i = 0; i < kIntarsiaVector; ++i)
    bytes[i] = (int8_t)intarsia_clamp_i32(a.lanes[i], range.low, range.high);
}

struct intarsia_pairs {
  const int8_t *a, *b;
};

INTARSIA_INLINE struct intarsia_pairs intarsia_paired(const int8_t *a, const int8_t *b) {
  return (struct intarsia_pairs){a, b};
}

INTARSIA_INLINE struct intarsia_sums intarsia_pair_products(struct intarsia_pairs pairs,
                                                            int32_t factors) {
  const int32_t a_factor = (int16_t)factors, b_factor = factors >> 16;
  struct intarsia_sums sums;
  for (int32_t i = 0; i < kIntarsiaVector; ++i)
    sums.lanes[i] = pairs.a[i] * a_factor + pairs.b[i] * b_factor;
  return sums;
}

INTARSIA_INLINE void intarsia_greater(const int8_t *bytes, int8_t *most) {
  for (int32_t i = 0; i < kIntarsiaVector; ++i)
    if (bytes[i] > most[i]) most[i] = bytes[i];
}

#endif  // INTARSIA_CORTEX_M_LANES_PLAIN_H_
