// Depthwise convolution of 3 x 3, channel by channel: nine weights and three columns of the image are in registers, and
// each result takes one or two columns more.
#include "intarsia/targets/cortex_m/rv32_depthwise.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/results.h"

// Where a row of windows reads: rows beside the image are the zero point, read again and again.
struct rows {
  const int8_t *row0, *row1, *row2;
  int32_t step0, step1, step2;  // from column to column
};

struct column {
  int32_t x0, x1, x2;
};

INTARSIA_INLINE struct column next_column(struct rows *rows) {
  const struct column column = {*rows->row0, *rows->row1, *rows->row2};
  rows->row0 += rows->step0, rows->row1 += rows->step1, rows->row2 += rows->step2;
  return column;
}

struct taps {
  int32_t t0, t1, t2, t3, t4, t5, t6, t7, t8;
};
INTARSIA_INLINE struct taps taps_of(const int8_t *weights) {
  return (struct taps){weights[0], weights[1], weights[2], weights[3], weights[4],
                       weights[5], weights[6], weights[7], weights[8]};
}

struct row {
  int8_t *output;
  int32_t step;     // from result to result
  int32_t left;     // results
  int32_t columns;  // of the image that are not loaded yet
  int32_t zero;     // what lies beside the image
  int32_t low, high;
};

INTARSIA_INLINE struct column take(struct rows *rows, struct row *row) {
  if (row->columns-- <= 0) return (struct column){row->zero, row->zero, row->zero};
  return next_column(rows);
}

INTARSIA_INLINE void put(struct row *row, const struct taps *taps,
                         const struct intarsia_channel *channel, struct column a, struct column b,
                         struct column c, enum intarsia_way way) {
  const int32_t sum = channel->bias + a.x0 * taps->t0 + a.x1 * taps->t3 + a.x2 * taps->t6 +
                      b.x0 * taps->t1 + b.x1 * taps->t4 + b.x2 * taps->t7 + c.x0 * taps->t2 +
                      c.x1 * taps->t5 + c.x2 * taps->t8;
  *row->output = intarsia_result(sum, channel, row->low, row->high, way);
  row->output += row->step;
}

// A row of results. Three by stride 1 go through the columns in each order once.
INTARSIA_INLINE void by_one(struct row row, struct rows rows, struct taps taps,
                            struct intarsia_channel channel, bool padded, enum intarsia_way way) {
  struct column a = {row.zero, row.zero, row.zero}, b, c;
  if (!padded) a = take(&rows, &row);
  b = take(&rows, &row);
  for (;;) {
    c = take(&rows, &row);
    put(&row, &taps, &channel, a, b, c, way);
    if (--row.left == 0) return;
    a = take(&rows, &row);
    put(&row, &taps, &channel, b, c, a, way);
    if (--row.left == 0) return;
    b = take(&rows, &row);
    put(&row, &taps, &channel, c, a, b, way);
    if (--row.left == 0) return;
  }
}

INTARSIA_INLINE void by_two(struct row row, struct rows rows, struct taps taps,
                            struct intarsia_channel channel, bool padded, enum intarsia_way way) {
  struct column a = {row.zero, row.zero, row.zero}, b;
  if (!padded) a = take(&rows, &row);
  for (;;) {
    b = take(&rows, &row);
    const struct column c = take(&rows, &row);
    put(&row, &taps, &channel, a, b, c, way);
    if (--row.left == 0) return;
    a = c;
  }
}

// The three rows of the image that row `y` of results sees, from `image` on, which is one channel.
INTARSIA_INLINE struct rows rows_of(const struct intarsia_window *w, const int8_t *image, int32_t y,
                                    int32_t pitch, int32_t step, const int8_t *zero) {
  const int32_t first = y * w->stride_h - w->pad_top, height = w->in_h;
  const int8_t *from = image + first * pitch;
  const bool inside0 = first >= 0 && first < height, inside1 = first >= -1 && first + 1 < height,
             inside2 = first >= -2 && first + 2 < height;
  return (struct rows){inside0 ? from : zero,
                       inside1 ? from + pitch : zero,
                       inside2 ? from + 2 * pitch : zero,
                       inside0 ? step : 0,
                       inside1 ? step : 0,
                       inside2 ? step : 0};
}

INTARSIA_INLINE void depthwise(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               const int8_t *weights, const int32_t *channel_words,
                               enum intarsia_way way) {
  const int8_t zero = (int8_t)w->in_zero;
  const int32_t channels = w->out_c;
  const bool turned = w->transposed != 0;  // rows and columns have changed places
  const int32_t pitch = turned ? channels : w->in_w * channels,
                step = turned ? w->in_h * channels : channels,
                out_pitch = turned ? channels : w->out_w * channels,
                out_step = turned ? w->out_h * channels : channels;
  for (int32_t batch = w->batches; batch > 0; --batch) {
    const struct intarsia_channel *channel = (const struct intarsia_channel *)channel_words;
    const int8_t *of_channel = weights;
    for (int32_t c = 0; c < channels; ++c, ++channel, of_channel += 9)
      for (int32_t y = 0; y < w->out_h; ++y) {
        const struct rows rows = rows_of(w, input + c, y, pitch, step, &zero);
        const struct row row = {
            output + y * out_pitch + c, out_step, w->out_w, w->in_w, zero, w->low, w->high};
        if (w->stride_w == 1)
          by_one(row, rows, taps_of(of_channel), *channel, w->pad_left != 0, way);
        else
          by_two(row, rows, taps_of(of_channel), *channel, w->pad_left != 0, way);
      }
    input += w->in_h * w->in_w * channels;
    output += w->out_h * w->out_w * channels;
  }
}

void intarsia_rv32_depthwise_3x3_s8(const struct intarsia_window *w, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels) {
  (void)scratch;
  depthwise(w, input, output, weights, channels, INTARSIA_WHOLE);
}

void intarsia_rv32_depthwise_3x3_limited_s8(const struct intarsia_window *w, const int8_t *input,
                                            int8_t *output, int8_t *scratch, const int8_t *weights,
                                            const int32_t *channels) {
  (void)scratch;
  depthwise(w, input, output, weights, channels, INTARSIA_LIMITED);
}

void intarsia_rv32_depthwise_3x3_any_s8(const struct intarsia_window *w, const int8_t *input,
                                        int8_t *output, int8_t *scratch, const int8_t *weights,
                                        const int32_t *channels) {
  (void)scratch;
  depthwise(w, input, output, weights, channels, INTARSIA_ANY);
}
