// Lines of as many elements as a register holds. What neighbouring pixels read through a tap lies side by side in a staged row: where the
// channels of some pixels fill a line it holds these pixels, and else some channels of one.
#include "intarsia/targets/cortex_m/lanes_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/lanes_rows.h"  // behind optimise.h, for its functions too

enum { kMostTaps = 64, kMostLine = 64, kMostSteps = kMostTaps / 4 };

// Constants of the elements of a line, in the order in which intarsia_line() has them: elements 4 r .. 4 r + 3 of each sixteen are in
// register r.
struct line {
  int32_t table[kIntarsiaTableRows * kMostLine];
  int8_t weights[kMostSteps * kMostLine * 4];
};

static int32_t place_in_line(int32_t element) {
  const int32_t sixteens = kIntarsiaLine / 16;
  return (element % 16 / 4 * sixteens + element / 16) * 4 + element % 4;
}

// Elements of channels `first` and following; behind the last one it begins again at `first` if pixels share a line.
static void prepare(const struct intarsia_window *w, const int8_t *weights, const int32_t *table,
                    int32_t first, int32_t steps, struct line *line) {
  for (int32_t element = 0; element < kIntarsiaLine; ++element) {
    const int32_t place = place_in_line(element);
    const int32_t channel = first + element < w->out_c ? first + element : element % w->out_c;
    const int32_t block = channel / kIntarsiaVector, lane = channel % kIntarsiaVector;
    for (int32_t row = 0; row < kIntarsiaTableRows; ++row)
      line->table[row * kIntarsiaLine + place] =
          table[block * kIntarsiaTable + row * kIntarsiaVector + lane];
    for (int32_t step = 0; step < steps; ++step)
      memcpy(line->weights + (step * kIntarsiaLine + place) * 4,
             weights + ((block * steps + step) * kIntarsiaVector + lane) * 4, 4);
  }
}

// Those that fill the last step have no weight, and may be any.
static void find_taps(const struct intarsia_rows *rows, const int8_t *const *found, int32_t steps,
                      const int8_t **taps) {
  const struct intarsia_window *w = rows->w;
  int32_t count = 0;
  for (int32_t ky = 0; ky < w->kernel_h; ++ky)
    for (int32_t kx = 0; kx < w->kernel_w; ++kx) {
      const int32_t column = kx * w->dilation_w;
      taps[count++] = found[ky] + column % rows->parts * rows->part_bytes +
                      column / rows->parts * rows->channels;
    }
  for (; count < 4 * steps; ++count) taps[count] = taps[0];
}

// A row of pixels that share lines.
static void shared_lines(const struct intarsia_window *w, const int8_t *const *taps, int32_t steps,
                         const struct line *line, struct intarsia_range range, int8_t *output) {
  const int32_t count = w->out_w * w->out_c;
  for (int32_t at = 0; at < count; at += kIntarsiaLine)
    intarsia_line(taps, at, steps, line->weights, line->table, range, output + at,
                  count - at < kIntarsiaLine ? count - at : kIntarsiaLine);
}

// Channels `first` and following of a row of pixels.
static void own_lines(const struct intarsia_window *w, const int8_t *const *taps, int32_t steps,
                      int32_t first, const struct line *line, struct intarsia_range range,
                      int8_t *output) {
  const int32_t left = w->out_c - first, count = left < kIntarsiaLine ? left : kIntarsiaLine;
  for (int32_t x = 0; x < w->out_w; ++x)
    intarsia_line(taps, x * w->out_c + first, steps, line->weights, line->table, range,
                  output + x * w->out_c + first, count);
}

static void all_rows(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                     int8_t *slots, int32_t first, const struct line *line, bool shared,
                     struct intarsia_range range) {
  const int8_t *found[kMostTaps], *taps[kMostTaps];
  const int32_t steps = (w->kernel_h * w->kernel_w + 3) / 4;
  struct intarsia_rows rows = intarsia_make_rows(w, slots, w->stride_w);
  for (int32_t image = 0; image < w->batches; ++image, input += w->in_h * w->in_w * w->in_c) {
    rows.next = 0;
    for (int32_t y = 0; y < w->out_h; ++y, output += w->out_w * w->out_c) {
      intarsia_find_rows(&rows, input, y, found);
      find_taps(&rows, found, steps, taps);
      if (shared)
        shared_lines(w, taps, steps, line, range, output);
      else
        own_lines(w, taps, steps, first, line, range, output);
    }
  }
}

static void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                     int8_t *scratch, const int8_t *weights, const int32_t *table, bool any) {
  struct line *line = (struct line *)(void *)scratch;
  const int32_t steps = (w->kernel_h * w->kernel_w + 3) / 4;
  const struct intarsia_range range = intarsia_range_of(w, any);
  const bool shared = kIntarsiaLine % w->out_c == 0;
  for (int32_t first = 0; first < w->out_c; first += kIntarsiaLine) {
    prepare(w, weights, table, first, steps, line);
    all_rows(w, input, output, scratch + sizeof *line, first, line, shared, range);
  }
}

void intarsia_lanes_depthwise_s8(const struct intarsia_window *w, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *table) {
  convolve(w, input, output, scratch, weights, table, false);
}

void intarsia_lanes_depthwise_any_s8(const struct intarsia_window *w, const int8_t *input,
                                     int8_t *output, int8_t *scratch, const int8_t *weights,
                                     const int32_t *table) {
  convolve(w, input, output, scratch, weights, table, true);
}
