// Pixels two by two for the kernels on cores with Helium: where the window of each lies, and which comes next.
#ifndef INTARSIA_CORTEX_M_MVE_PIXELS_H_
#define INTARSIA_CORTEX_M_MVE_PIXELS_H_

#include <stddef.h>

#include "intarsia/targets/cortex_m/mve_strip.h"

enum { kRunVector = 16 };

// Pixels whose results follow one another; the assembly knows the layout.
struct intarsia_pixels {
  const int8_t *runs[2];  // of the two under way
  uint32_t
      passes;  // through two steps each, doubled; one more where the first pass is its second step only
  int32_t apart;   // from a result of the first pixel to the second pixel's
  int8_t *output;  // of the first of the two
  const int8_t *end;
  const int8_t *at;  // the next run
  int32_t in_row;    // rows left until the gap
  int32_t step;      // from a run to the next
  int32_t gap;       // bytes more after the last run of a row
  int32_t row;       // pixels of a row
  int32_t count;     // of pixels to come, an even number
  int32_t skip;      // from the end of the first pixel's results to the next pair's
  const int8_t *weights;
  const int32_t *table;
  const int32_t *channel;  // of the table, where no register is left for it
  int32_t channels;        // bytes of a pixel's results that the weights are for
  int32_t pitch;           // bytes from a pixel's results to the next one's
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct intarsia_pixels, passes) == 8 &&
                   offsetof(struct intarsia_pixels, apart) == 12 &&
                   offsetof(struct intarsia_pixels, output) == 16 &&
                   offsetof(struct intarsia_pixels, at) == 24 &&
                   offsetof(struct intarsia_pixels, step) == 32 &&
                   offsetof(struct intarsia_pixels, row) == 40 &&
                   offsetof(struct intarsia_pixels, count) == 44 &&
                   offsetof(struct intarsia_pixels, skip) == 48 &&
                   offsetof(struct intarsia_pixels, weights) == 52 &&
                   offsetof(struct intarsia_pixels, channel) == 60 &&
                   offsetof(struct intarsia_pixels, channels) == 64,
               "the assembly's numbers");
#else
static __attribute__((unused)) void intarsia_next_pair(struct intarsia_pixels *p) {
  for (int32_t pixel = 0; pixel < 2; ++pixel) {
    p->runs[pixel] = p->at;
    p->at += p->step;
    if (--p->in_row == 0) p->in_row = p->row, p->at += p->gap;
  }
}
#endif

// `count` pixels, row by row from the beginning of a row on. Returns where their results end.
typedef int8_t *(*intarsia_pixels_function)(struct intarsia_pixels *p, int32_t count,
                                            int8_t *output, int32_t steps, bool general);

// The same, by what computes p->count pixels of them two by two; of an odd number the last pair is one pixel twice.
typedef void (*intarsia_pairs_function)(struct intarsia_pixels *p, int32_t steps, bool general);
INTARSIA_INLINE int8_t *intarsia_by_pairs(struct intarsia_pixels *p, int32_t count, int8_t *output,
                                          int32_t steps, bool general,
                                          intarsia_pairs_function all_pairs) {
  const int32_t single = count & 1;
  p->in_row = p->row;
  p->output = output;
  p->end = output + p->channels;
  p->count = count - single;
  if (p->count > 0) {
    p->apart = p->pitch;
    all_pairs(p, steps, general);
  }
  output += count * p->pitch;
  if (single != 0) {
    p->apart = 0;
    p->output = output - p->pitch;
    p->end = p->output + p->channels;
    p->step = p->gap = 0;
    p->count = 2;
    all_pairs(p, steps, general);
  }
  return output;
}

// Runs as they lie in the input. Those at its end that cannot be read to a multiple of 16 bytes are copied,
// last pixel first; the others stay an even number.
INTARSIA_INLINE int8_t *intarsia_runs_in_place(const struct intarsia_window *w, const int8_t *image,
                                               int8_t *output, int8_t *scratch,
                                               struct intarsia_pixels *p, int32_t steps,
                                               bool general, intarsia_pixels_function all_pixels) {
  const int32_t run = w->kernel_w * w->in_c, filled = steps * kRunVector;
  const int32_t step = w->stride_w * w->in_c, pitch = w->stride_h * w->in_w * w->in_c;
  const int32_t last = w->in_h * w->in_w * w->in_c - filled, count = w->out_h * w->out_w;
  int32_t copied = 0;
  for (int32_t y = w->out_h - 1, x = w->out_w - 1; copied < count; ++copied) {
    const int32_t at = y * pitch + x * step;
    if (at <= last && (copied == 0 || (count - copied) % 2 == 0)) break;
    intarsia_copy(scratch + copied * filled, image + at, run);
    if (--x < 0) x = w->out_w - 1, --y;
  }
  p->at = image;
  p->step = step;
  p->row = w->out_w;
  p->gap = pitch - w->out_w * step;
  output = all_pixels(p, count - copied, output, steps, general);
  p->at = scratch + (copied - 1) * filled;
  p->step = -filled;
  p->row = copied;
  p->gap = 0;
  return all_pixels(p, copied, output, steps, general);
}

INTARSIA_INLINE int8_t *intarsia_runs_of_strips(const struct intarsia_window *w,
                                                const int8_t *image, int8_t *output,
                                                int8_t *scratch, struct intarsia_pixels *p,
                                                int32_t steps, bool general, const uint8_t *offsets,
                                                intarsia_pixels_function all_pixels) {
  const int32_t column = w->kernel_h * w->in_c;
  for (int32_t oy = 0; oy < w->out_h; oy += w->strip_h) {
    const int32_t rows = w->out_h - oy < w->strip_h ? w->out_h - oy : w->strip_h;
    for (int32_t ox = 0; ox < w->out_w; ox += w->strip_w) {
      const int32_t in_row = w->out_w - ox < w->strip_w ? w->out_w - ox : w->strip_w;
      const int32_t columns = (in_row - 1) * w->stride_w + w->kernel_w;
      for (int32_t row = 0; row < rows; ++row)
        intarsia_strip(w, image, (oy + row) * w->stride_h - w->pad_top,
                       ox * w->stride_w - w->pad_left, columns, offsets,
                       scratch + row * columns * column);
      p->at = scratch;
      p->step = w->stride_w * column;
      p->row = in_row;
      p->gap = columns * column - in_row * p->step;
      output = all_pixels(p, rows * in_row, output, steps, general);
    }
  }
  return output;
}

// The channels of `p` of all images. `scratch` is for strips, or for runs that are copied.
INTARSIA_INLINE void intarsia_all_images(const struct intarsia_window *w, const int8_t *image,
                                         int8_t *output, int8_t *scratch, struct intarsia_pixels *p,
                                         int32_t steps, bool general,
                                         intarsia_pixels_function all_pixels) {
  uint8_t offsets[kStripLanes];
  const bool spread =
      w->strip_h > 0 && w->in_c <= kStripLanes / 2 && intarsia_strip_offsets(w, offsets);
  p->skip = 2 * p->pitch - p->channels;
  for (int32_t n = 0; n < w->batches; ++n, image += w->in_h * w->in_w * w->in_c) {
    if (w->strip_h > 0)
      output = intarsia_runs_of_strips(w, image, output, scratch, p, steps, general,
                                       spread ? offsets : NULL, all_pixels);
    else
      output = intarsia_runs_in_place(w, image, output, scratch, p, steps, general, all_pixels);
  }
}

#endif  // INTARSIA_CORTEX_M_MVE_PIXELS_H_
