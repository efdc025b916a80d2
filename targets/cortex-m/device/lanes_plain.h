// Lanes of an array, for compilers whose vectors these kernels do not know.
#ifndef INTARSIA_CORTEX_M_LANES_PLAIN_H_
#define INTARSIA_CORTEX_M_LANES_PLAIN_H_

enum { kIntarsiaRaise = 0, kIntarsiaPixels = 1, kIntarsiaWidePixels = 1, kIntarsiaWideBlocks = 1 };

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

#endif  // INTARSIA_CORTEX_M_LANES_PLAIN_H_
