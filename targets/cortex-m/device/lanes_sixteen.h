// What backends whose registers hold less than 64 bytes have in common: lines of sixteen elements, and results through sums.
#ifndef INTARSIA_CORTEX_M_LANES_SIXTEEN_H_
#define INTARSIA_CORTEX_M_LANES_SIXTEEN_H_

enum { kIntarsiaLine = kIntarsiaVector };

// How sums of sixteen channels are scaled: by their table, whose rows are `width` words apart.
struct intarsia_scales {
  const int32_t *table;
  struct intarsia_range range;
};

INTARSIA_INLINE struct intarsia_scales intarsia_scales(const int32_t *table, int32_t width,
                                                       struct intarsia_range range) {
  (void)width;  // of one block here
  return (struct intarsia_scales){table, range};
}

INTARSIA_INLINE void intarsia_results(const struct intarsia_dots *dots,
                                      const struct intarsia_scales *scales, int8_t *output,
                                      int32_t count) {
  const struct intarsia_sums sums = intarsia_dots_end(dots, scales->table);
  int8_t some[kIntarsiaVector];
  int8_t *to = count == kIntarsiaVector ? output : some;
  if (scales->range.any) {
    int32_t words[kIntarsiaVector];
    intarsia_store_sums(&sums, words);
    intarsia_finish_any(words, scales->table, kIntarsiaVector, scales->range, to, count);
  } else {
    intarsia_finish(&sums, scales->table, scales->range, to);
  }
  if (to == output) return;
  for (int32_t i = 0; i < count; ++i) output[i] = some[i];
}

// `count` elements behind `at` of each tap, four of which share a step.
INTARSIA_INLINE void intarsia_line(const int8_t *const *taps, int32_t at, int32_t steps,
                                   const int8_t *weights, const int32_t *table,
                                   struct intarsia_range range, int8_t *output, int32_t count) {
  struct intarsia_dots dots = intarsia_dots_begin(table);
  for (int32_t step = 0; step < steps; ++step, taps += 4, weights += 4 * kIntarsiaVector)
    intarsia_four_taps(&dots, taps[0] + at, taps[1] + at, taps[2] + at, taps[3] + at, weights);
  const struct intarsia_scales scales = intarsia_scales(table, kIntarsiaVector, range);
  intarsia_results(&dots, &scales, output, count);
}

#endif  // INTARSIA_CORTEX_M_LANES_SIXTEEN_H_
