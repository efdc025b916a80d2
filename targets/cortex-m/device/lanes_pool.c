// Means and pooling, sixteen channels at a time; the last sixteen overlap those before.
#include "intarsia/targets/cortex_m/lanes_elements.h"

#include "intarsia/targets/cortex_m/optimise.h"

// Behind optimise.h, for its functions too.
#include "intarsia/targets/cortex_m/lanes.h"

INTARSIA_INLINE int32_t sixteen_from(int32_t channel, int32_t channels) {
  return channel + kIntarsiaVector <= channels ? channel : channels - kIntarsiaVector;
}

// Of `count` elements, `step` apart, of each of sixteen channels.
INTARSIA_INLINE struct intarsia_sums added_up(struct intarsia_sums sums, const int8_t *element,
                                              int32_t count, int32_t step) {
  for (int32_t i = 0; i < count; ++i, element += step)
    sums = intarsia_added(sums, intarsia_widened(element));
  return sums;
}

INTARSIA_INLINE int8_t mean_of(const struct intarsia_mean *s, int32_t sum) {
  const int32_t value = intarsia_requantize(sum - s->zeros, s->multiplier, s->shift);
  return (int8_t)intarsia_clamp_i32(value + s->out_zero, -128, 127);
}

static int32_t sum_of_row(const int8_t *row, int32_t count) {
  const int32_t vectors = count / kIntarsiaVector;
  const struct intarsia_sums sums = added_up(intarsia_each(0), row, vectors, kIntarsiaVector);
  int32_t lanes[kIntarsiaVector], sum = 0;
  intarsia_store_sums(&sums, lanes);
  for (int32_t i = 0; i < kIntarsiaVector; ++i) sum += lanes[i];
  for (int32_t i = vectors * kIntarsiaVector; i < count; ++i) sum += row[i];
  return sum;
}

static void mean_of_channels(const struct intarsia_mean *s, const int8_t *input, int8_t *output) {
  for (int32_t channel = 0; channel < s->inner; channel += kIntarsiaVector) {
    const int32_t first = sixteen_from(channel, s->inner);
    const struct intarsia_sums sums = added_up(intarsia_each(0), input + first, s->count, s->inner);
    int32_t lanes[kIntarsiaVector];
    intarsia_store_sums(&sums, lanes);
    for (int32_t i = 0; i < kIntarsiaVector; ++i) output[first + i] = mean_of(s, lanes[i]);
  }
}

void intarsia_lanes_mean_s8(const struct intarsia_mean *mean, const int8_t *input, int8_t *output) {
  for (int32_t outer = 0; outer < mean->outer;
       ++outer, input += mean->count * mean->inner, output += mean->inner) {
    if (mean->inner == 1)
      *output = mean_of(mean, sum_of_row(input, mean->count));
    else
      mean_of_channels(mean, input, output);
  }
}

// What a window sees of the input.
struct seen {
  const int8_t *first;
  int32_t rows, columns;
  int32_t row_step, channels;
  struct intarsia_range range;
  struct intarsia_sums inverse;  // of averages
};

enum { kMostInverse = 2048 };  // elements of a window

// To the nearest, halves away from zero: the magnitude times 2^31 / elements, rounded up, which is exact. Let n be the elements and
// m <= 128 n the magnitude. The product is above m / n by less than m / 2^31, which is less than 1 / (2 n) for n <= 2048: not enough to
// reach the next half. By one element: (m * (2^31 - 1) + 2^30) / 2^31 is m.
static void prepare_inverse(struct seen *s) {
  const int64_t one = INT64_C(1) << 31, taps = s->rows * s->columns;
  s->inverse = intarsia_each((int32_t)(taps == 1 ? one - 1 : (one + taps - 1) / taps));
}

INTARSIA_INLINE void averages(const struct seen *s, struct intarsia_sums sums, int8_t *output) {
  const struct intarsia_sums one = intarsia_each(1), below = intarsia_shifted(sums, 31);
  const struct intarsia_sums sign = intarsia_added(intarsia_added(below, below), one);
  const struct intarsia_sums magnitude = intarsia_high(intarsia_multiplied(sums, sign), s->inverse);
  intarsia_narrowed(intarsia_multiplied(magnitude, sign), s->range, output);
}

INTARSIA_INLINE void long_averages(const struct seen *s, struct intarsia_sums sums,
                                   int8_t *output) {
  const int32_t taps = s->rows * s->columns, half = taps / 2;
  int32_t lanes[kIntarsiaVector];
  intarsia_store_sums(&sums, lanes);
  for (int32_t i = 0; i < kIntarsiaVector; ++i) {
    const int32_t quotient = (lanes[i] + (lanes[i] < 0 ? -half : half)) / taps;
    output[i] = (int8_t)intarsia_clamp_i32(quotient, s->range.low, s->range.high);
  }
}

INTARSIA_INLINE void average_pixel(const struct seen *s, int8_t *output) {
  for (int32_t channel = 0; channel < s->channels; channel += kIntarsiaVector) {
    const int32_t first = sixteen_from(channel, s->channels);
    struct intarsia_sums sums = intarsia_each(0);
    for (int32_t y = 0; y < s->rows; ++y)
      sums = added_up(sums, s->first + y * s->row_step + first, s->columns, s->channels);
    if (s->rows * s->columns <= kMostInverse)
      averages(s, sums, output + first);
    else
      long_averages(s, sums, output + first);
  }
}

INTARSIA_INLINE void max_pixel(const struct seen *s, int8_t *output) {
  for (int32_t channel = 0; channel < s->channels; channel += kIntarsiaVector) {
    const int32_t first = sixteen_from(channel, s->channels);
    int8_t most[kIntarsiaVector];
    memset(most, (uint8_t)s->range.low, sizeof most);
    for (int32_t y = 0; y < s->rows; ++y)
      for (int32_t x = 0; x < s->columns; ++x)
        intarsia_greater(s->first + y * s->row_step + x * s->channels + first, most);
    for (int32_t i = 0; i < kIntarsiaVector; ++i)
      output[first + i] = (int8_t)(most[i] > s->range.high ? s->range.high : most[i]);
  }
}

// How much of `count` elements from `first` on is inside of `size`; `first` becomes what it begins with.
INTARSIA_INLINE int32_t part_inside(int32_t *first, int32_t count, int32_t size) {
  const int32_t end = *first + count < size ? *first + count : size;
  if (*first < 0) *first = 0;
  return end - *first;
}

INTARSIA_INLINE void pool(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                          bool average) {
  struct seen s = {
      .row_step = w->in_w * w->in_c, .channels = w->in_c, .range = {w->low, w->high, false, false}};
  for (int32_t image = 0; image < w->batches; ++image, input += w->in_h * s.row_step)
    for (int32_t out_y = 0; out_y < w->out_h; ++out_y)
      for (int32_t out_x = 0; out_x < w->out_w; ++out_x, output += w->in_c) {
        int32_t y = out_y * w->stride_h - w->pad_top, x = out_x * w->stride_w - w->pad_left;
        const int32_t rows = part_inside(&y, w->kernel_h, w->in_h),
                      columns = part_inside(&x, w->kernel_w, w->in_w);
        const bool same = rows == s.rows && columns == s.columns;
        s.rows = rows, s.columns = columns;
        if (average && !same) prepare_inverse(&s);
        s.first = input + y * s.row_step + x * s.channels;
        if (average)
          average_pixel(&s, output);
        else
          max_pixel(&s, output);
      }
}

void intarsia_lanes_average_pool_s8(const struct intarsia_window *window, const int8_t *input,
                                    int8_t *output) {
  pool(window, input, output, true);
}

void intarsia_lanes_max_pool_s8(const struct intarsia_window *window, const int8_t *input,
                                int8_t *output) {
  pool(window, input, output, false);
}
