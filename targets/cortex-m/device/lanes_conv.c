// Some pixels of an output row by some blocks of sixteen channels at a time: each element of the pixels' windows and each weight is loaded
// once for all of them.
#include "intarsia/targets/cortex_m/lanes_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/lanes_rows.h"  // behind optimise.h, for its functions too

enum { kMostRows = 32, kPointwisePixels = 8, kMostDots = 16 };

// The windows of pixels that lie side by side.
struct windows {
  const int8_t *const *rows;
  int32_t count, run;  // rows, and elements of each: a multiple of four
  int32_t step;        // from a pixel's elements to the next one's
};

// What the pixels of one call have in common.
struct layer {
  const int8_t *weights;
  const int32_t *table;
  struct intarsia_range range;
  int32_t channels;
};

// `pixels` and `blocks` are constants. `at`: where the first pixel is in each row.
INTARSIA_INLINE void tile(const struct layer *layer, const struct windows *windows, int32_t at,
                          int32_t channel, int8_t *output, int32_t pixels, int32_t blocks) {
  const int32_t block = windows->count * windows->run * kIntarsiaVector;
  const int8_t *weights = layer->weights + channel / kIntarsiaVector * block;
  const int32_t *table = layer->table + channel / kIntarsiaVector * kIntarsiaTable;
  struct intarsia_dots dots[kMostDots];
  INTARSIA_WRITTEN_OUT
  for (int32_t b = 0; b < blocks; ++b) {
    INTARSIA_WRITTEN_OUT
    for (int32_t p = 0; p < pixels; ++p)
      dots[b * pixels + p] = intarsia_dots_begin(table + b * kIntarsiaTable);
  }
  for (int32_t row = 0; row < windows->count; ++row) {
    const int8_t *from = windows->rows[row] + at;
    for (int32_t k = 0; k < windows->run; k += 4, weights += 4 * kIntarsiaVector) {
      struct intarsia_elements elements[kPointwisePixels];
      INTARSIA_WRITTEN_OUT
      for (int32_t p = 0; p < pixels; ++p)
        elements[p] = intarsia_elements(from + p * windows->step + k);
      INTARSIA_WRITTEN_OUT
      for (int32_t b = 0; b < blocks; ++b) {
        const struct intarsia_weights scales = intarsia_weights(weights + b * block);
        INTARSIA_WRITTEN_OUT
        for (int32_t p = 0; p < pixels; ++p)
          intarsia_dot(&dots[b * pixels + p], elements[p], scales);
      }
    }
  }
  INTARSIA_WRITTEN_OUT
  for (int32_t b = 0; b < blocks; ++b) {
    const int32_t left = layer->channels - channel - b * kIntarsiaVector;
    const int32_t count = left < kIntarsiaVector ? left : kIntarsiaVector;
    const struct intarsia_scales scales =
        intarsia_scales(table + b * kIntarsiaTable, kIntarsiaVector, layer->range);
    INTARSIA_WRITTEN_OUT
    for (int32_t p = 0; p < pixels; ++p)
      intarsia_results(&dots[b * pixels + p], &scales,
                       output + p * layer->channels + channel + b * kIntarsiaVector, count);
  }
}

INTARSIA_INLINE int32_t tiles(const struct layer *layer, const struct windows *windows, int32_t at,
                              int32_t count, int32_t channel, int8_t *output, int32_t pixels,
                              int32_t blocks) {
  int32_t done = 0;
  for (; done + pixels <= count; done += pixels)
    tile(layer, windows, at + done * windows->step, channel, output + done * layer->channels,
         pixels, blocks);
  return done;
}

// `count` pixels by `blocks` blocks of channels, `pixels` at a time.
INTARSIA_INLINE void some_blocks(const struct layer *layer, const struct windows *windows,
                                 int32_t count, int32_t channel, int8_t *output, int32_t pixels,
                                 int32_t blocks) {
  const int32_t done = tiles(layer, windows, 0, count, channel, output, pixels, blocks);
  tiles(layer, windows, done * windows->step, count - done, channel,
        output + done * layer->channels, 1, blocks);
}

// `count` pixels by all channels.
static void some_pixels(const struct layer *layer, const struct windows *windows, int32_t count,
                        int8_t *output) {
  enum { kWide = kIntarsiaWideBlocks * kIntarsiaVector, kTwo = 2 * kIntarsiaVector };
  int32_t channel = 0;
  for (; kIntarsiaWideBlocks > 1 && channel + kWide <= layer->channels; channel += kWide)
    some_blocks(layer, windows, count, channel, output, kIntarsiaWidePixels, kIntarsiaWideBlocks);
  for (; kIntarsiaTwoBlocks > 0 && channel + kTwo <= layer->channels; channel += kTwo)
    some_blocks(layer, windows, count, channel, output, kIntarsiaTwoBlocks, 2);
  for (; channel < layer->channels; channel += kIntarsiaVector)
    some_blocks(layer, windows, count, channel, output, kIntarsiaPixels, 1);
}

// The image is one row of pixels.
static void pointwise(const struct intarsia_window *w, const struct layer *layer,
                      const int8_t *input, int8_t *output, int8_t *scratch) {
  const int8_t *staged = scratch;
  const struct windows windows = {&staged, 1, (w->in_c + 3) / 4 * 4, w->in_c};
  int32_t left = w->batches * w->out_h * w->out_w;
  while (left > 0) {
    const int32_t count = left < kPointwisePixels ? left : kPointwisePixels;
    intarsia_stage(scratch, input, count * w->in_c);
    some_pixels(layer, &windows, count, output);
    input += count * w->in_c;
    output += count * w->out_c;
    left -= count;
  }
}

static void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                     int8_t *scratch, const struct layer *layer) {
  if (w->kernel_h * w->kernel_w * w->stride_h * w->stride_w == 1 && w->out_h == w->in_h &&
      w->out_w == w->in_w && w->pad_top == 0 && w->pad_left == 0) {
    pointwise(w, layer, input, output, scratch);
    return;
  }
  const int8_t *found[kMostRows];
  const struct windows windows = {found, w->kernel_h, (w->kernel_w * w->in_c + 3) / 4 * 4,
                                  w->stride_w * w->in_c};
  struct intarsia_rows rows = intarsia_make_rows(w, scratch, 0);
  for (int32_t image = 0; image < w->batches; ++image, input += w->in_h * w->in_w * w->in_c) {
    rows.next = 0;
    for (int32_t y = 0; y < w->out_h; ++y, output += w->out_w * w->out_c) {
      intarsia_find_rows(&rows, input, y, found);
      some_pixels(layer, &windows, w->out_w, output);
    }
  }
}

void intarsia_lanes_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                            int8_t *scratch, const int8_t *weights, const int32_t *table) {
  const struct layer layer = {weights, table, intarsia_range_of(w, false), w->out_c};
  convolve(w, input, output, scratch, &layer);
}

void intarsia_lanes_conv_any_s8(const struct intarsia_window *w, const int8_t *input,
                                int8_t *output, int8_t *scratch, const int8_t *weights,
                                const int32_t *table) {
  const struct layer layer = {weights, table, intarsia_range_of(w, true), w->out_c};
  convolve(w, input, output, scratch, &layer);
}
