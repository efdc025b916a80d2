// Staging of convolutions (staging.h): what happens once for some rows of results is compiled as the rest of the program is.
#include "intarsia/targets/cortex_m/staging.h"

#include "intarsia/targets/cortex_m/mve_strip.h"

enum { kStagingSlack = 16 };  // bytes behind a run that a convolution may read

// `count` runs of `each` bytes.
static void copy_runs(int8_t *to, const int8_t *from, int32_t count, int32_t each, int32_t to_step,
                      int32_t from_step) {
  if (count <= 0) return;
  if (to_step == each && from_step == each) {
    intarsia_copy(to, from, count * each);
    return;
  }
#if INTARSIA_HAS_MVE
  for (int32_t c = 0; c < each; c += kStripLanes)
    intarsia_strip_columns(from + c, to + c, count, intarsia_clamp_i32(each - c, 0, kStripLanes),
                           from_step, to_step);
#elif defined(__ARM_FEATURE_UNALIGNED) && defined(__OPTIMIZE__)
  const int32_t last = each - 4;
  if (last < 0) {
    for (; count > 0; --count, to += to_step, from += from_step)
      for (int32_t c = 0; c < each; ++c) to[c] = from[c];
    return;
  }
  for (; count > 0; --count, to += to_step, from += from_step) {
    for (int32_t c = 0; c < last; c += 4) memcpy(to + c, from + c, 4);
    memcpy(to + last, from + last, 4);
  }
#else
  // Words where all runs are made of some.
  if ((((uintptr_t)to | (uintptr_t)from | (uint32_t)each | (uint32_t)to_step |
        (uint32_t)from_step) &
       3u) == 0) {
    for (; count > 0; --count, to += to_step, from += from_step)
      for (int32_t c = 0; c < each; c += 4)
        *(int32_t *)(void *)(to + c) = *(const int32_t *)(const void *)(from + c);
    return;
  }
  for (; count > 0; --count, to += to_step, from += from_step) intarsia_copy(to, from, each);
#endif
}

static void fill_runs(int8_t *to, int32_t value, int32_t count, int32_t each, int32_t step) {
  if (step == each) {
    intarsia_fill(to, value, count * each);
    return;
  }
  for (; count > 0; --count, to += step) intarsia_fill(to, value, each);
}

// `columns` columns of the image from row y, column x on.
static void stage(const struct intarsia_staged *s, const int8_t *image, int32_t y, int32_t x,
                  int32_t columns, int8_t *to) {
  const int32_t each = s->group_in, step = s->kernel_h * each, between = s->tap_columns;
  // Columns to the left of the image, and those before its right end.
  int32_t before = x < 0 ? (between - 1 - x) / between : 0;
  if (before > columns) before = columns;
  int32_t end = x < s->in_w ? (s->in_w - x + between - 1) / between : 0;
  end = intarsia_clamp_i32(end, before, columns);
  for (int32_t tap = s->kernel_h; tap > 0; --tap, y += s->tap_rows, to += each) {
    if (y < 0 || y >= s->in_h) {
      fill_runs(to, s->in_zero, columns, each, step);
      continue;
    }
    const int8_t *from = image + (y * s->in_w + x + before * between) * s->in_c;
    fill_runs(to, s->in_zero, before, each, step);
    copy_runs(to + before * step, from, end - before, each, step, between * s->in_c);
    fill_runs(to + end * step, s->in_zero, columns - end, each, step);
  }
}

// Rows and columns that are still to be computed behind the place in them.
static int32_t rows_left(const struct intarsia_piece *p) {
  const struct intarsia_staged *s = p->s;
  return (s->out_h - s->row_first + s->row_step - 1) / s->row_step - p->row;
}
static int32_t columns_left(const struct intarsia_piece *p) {
  const struct intarsia_staged *s = p->s;
  return (s->out_w - s->column_first - p->phase + s->column_step - 1) / s->column_step - p->column;
}

static void begin_piece(struct intarsia_piece *p) {
  const struct intarsia_staged *s = p->s;
  int32_t rows = rows_left(p), count = columns_left(p);
  if (rows > s->band) rows = s->band;
  if (count > s->pixels) count = s->pixels;
  const int32_t columns = (count - 1) * s->column_stride + s->kernel_w;
  const int32_t column = s->kernel_h * s->group_in;
  // Windows of one column do not care where rows end.
  const bool flat = s->kernel_w == 1 && s->column_stride == 1;
  p->rows = rows, p->count = count;
  p->w.out_h = (int16_t)(flat ? 1 : rows), p->w.out_w = (int16_t)(flat ? rows * count : count);
  p->w.in_h = (int16_t)(p->w.out_h + kStagingSlack);  // what lies behind is of no account
  p->w.in_w = (int16_t)(flat ? rows * count : columns);
  const int32_t x =
      s->left + p->phase * s->phase_shift + p->column * s->column_stride * s->tap_columns;
  int32_t y = s->top + p->row * s->row_stride;
  const int8_t *image = p->input + p->group * s->group_in;
  // Rows of the image that follow one another can be read where they lie; windows of one pixel of a group as well, by
  // longer strides.
  p->from = p->scratch;
  p->w.stride_w = s->column_stride;
  const int32_t all = rows * columns, apart = s->kernel_w == 1 ? s->groups : 1;
  const bool follow = rows == 1 || (flat && columns == s->in_w && s->row_stride == 1);
  const bool lies = follow && s->kernel_h == 1 && s->tap_columns == 1 &&
                    apart * s->group_in == s->in_c && all * apart <= INT16_MAX && y >= 0 &&
                    y + rows <= s->in_h && x >= 0 && x + columns <= s->in_w;
  const int8_t *there = lies ? image + (y * s->in_w + x) * s->in_c : image;
  if (lies && p->end - there >= (all - 1) * s->in_c + column + kStagingSlack) {
    p->from = there;
    p->w.stride_w = (int16_t)(s->column_stride * apart);
    p->w.in_w = (int16_t)(p->w.in_w * apart);
  } else {
    for (int32_t row = 0; row < rows; ++row, y += s->row_stride)
      stage(s, image, y, x, columns, p->scratch + row * columns * column);
  }
  p->to = p->output + p->group * s->group_out +
          ((s->row_first + p->row * s->row_step) * s->out_w + s->column_first + p->phase +
           p->column * s->column_step) *
              s->out_c;
  p->together = s->group_out == s->out_c && s->column_step == 1 &&
                (rows == 1 || (s->row_step == 1 && count == s->out_w));
  p->results = p->together ? p->to : p->scratch + s->results_at;
}

void intarsia_begin_staging(struct intarsia_piece *p, const struct intarsia_staged *s,
                            const int8_t *input, int8_t *output, int8_t *scratch,
                            const int8_t *weights, const int32_t *channels) {
  const int32_t image = s->in_h * s->in_w * s->in_c;
  *p = (struct intarsia_piece){.s = s,
                               .input = input,
                               .end = input + s->batches * image,
                               .output = output,
                               .scratch = scratch,
                               .weights = weights,
                               .channels = channels,
                               .w = {.batches = 1,
                                     .in_c = (int16_t)(s->kernel_h * s->group_in),
                                     .out_c = s->group_out,
                                     .kernel_h = 1,
                                     .kernel_w = s->kernel_w,
                                     .stride_h = 1,
                                     .stride_w = s->column_stride,
                                     .dilation_h = 1,
                                     .in_zero = s->in_zero,
                                     .out_zero = s->out_zero,
                                     .low = s->low,
                                     .high = s->high,
                                     .dilation_w = 1,
                                     .strip_w = s->row_bytes}};
  begin_piece(p);
}

bool intarsia_next_piece(struct intarsia_piece *p) {
  const struct intarsia_staged *s = p->s;
  const int32_t rows = p->rows, count = p->count;
  const int8_t *results = p->results;
  const int32_t group = s->group_out, run = s->row_out;
  const int32_t pitch = s->out_w * s->out_c, step = s->column_step * s->out_c;
  for (int32_t row = p->together ? rows : 0; row < rows; ++row) {
    int8_t *to = p->to;
    for (int32_t part = 0; part < group; part += run, to += pitch)
      copy_runs(to, results + part, count, run, step, group);
    results += count * group, p->to += s->row_step * pitch;
  }
  p->column += count;
  if (columns_left(p) <= 0) {
    p->column = 0, p->row += rows;
    if (rows_left(p) <= 0) {
      p->row = 0;
      if (++p->phase == s->phases) {
        p->phase = 0;
        const int32_t weights = 4 * s->weights_step;
        p->weights += weights, p->channels += s->channels_step;
        if (++p->group == s->groups) {
          p->group = 0;
          p->weights -= s->groups * weights, p->channels -= s->groups * s->channels_step;
          p->input += s->in_h * s->in_w * s->in_c;
          p->output += s->out_h * s->out_w * s->out_c;
          if (++p->batch == s->batches) return false;
        }
      }
    }
  }
  begin_piece(p);
  return true;
}
