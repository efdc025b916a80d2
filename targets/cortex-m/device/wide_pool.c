// Average and maximum over windows of an int16 image: vectors of channels on cores with Helium, two channels in a word with the
// DSP extension.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/wide_dot.h"

// What a window sees of the input; steps in elements.
struct wide_seen {
  int32_t rows, columns;
  int32_t row_step, column_step;
  // Of averages: a magnitude and `half` more, times `factor`, of which the upper word is the quotient by the number of
  // elements.
  uint32_t half, factor;
  int32_t low, high;
#if INTARSIA_HAS_MVE
  uint32_t vectors[4][4];  // half, factor, low, high
#endif
};

// Exact for magnitudes n of 255 elements: factor * taps is 2^32 and e < taps more, and n * e < 2^23 * 2^8 is less than
// 2^32 / taps. By one: (n + 1) * (2^32 - 1) >> 32.
static void wide_division(struct wide_seen *s) {
  const uint32_t taps = (uint32_t)(s->rows * s->columns);
  s->half = taps == 1 ? 1 : taps / 2;
  s->factor = taps == 1 ? UINT32_MAX : (uint32_t)(((UINT64_C(1) << 32) + taps - 1) / taps);
#if INTARSIA_HAS_MVE
  const uint32_t numbers[4] = {s->half, s->factor, (uint32_t)s->low, (uint32_t)s->high};
  for (int32_t i = 0; i < 4; ++i)
    for (int32_t lane = 0; lane < 4; ++lane) s->vectors[i][lane] = numbers[i];
#endif
}

#if INTARSIA_HAS_MVE
INTARSIA_OUTLINE void wide_average_vector(const struct wide_seen *s, const int16_t *row,
                                          int16_t *output, int32_t lanes) {
  const int16_t *element;
  int32_t rows = s->rows;
  __asm__ volatile(
      "vmov.i32 q0, #0\n"
      "vctp.32 %[lanes]\n"
      "2: mov %[element], %[row]\n"
      "dls lr, %[columns]\n"
      "1: vpst\n"
      "vldrht.s32 q1, [%[element]]\n"
      "add %[element], %[element], %[column_step]\n"
      "vadd.i32 q0, q0, q1\n"
      "le lr, 1b\n"
      "add %[row], %[row], %[row_step]\n"
      "subs %[rows], %[rows], #1\n"
      "bne 2b\n"
      "vldrw.u32 q2, [%[vectors]]\n"
      "vabs.s32 q1, q0\n"
      "vadd.i32 q1, q1, q2\n"
      "vldrw.u32 q2, [%[vectors], #16]\n"
      "vmulh.u32 q1, q1, q2\n"
      "vldrw.u32 q2, [%[vectors], #32]\n"
      "vpt.s32 lt, q0, zr\n"
      "vnegt.s32 q1, q1\n"
      "vmax.s32 q1, q1, q2\n"
      "vldrw.u32 q2, [%[vectors], #48]\n"
      "vmin.s32 q1, q1, q2\n"
      "vctp.32 %[lanes]\n"
      "vpst\n"
      "vstrht.32 q1, [%[output]]\n"
      : [row] "+r"(row), [rows] "+r"(rows), [element] "=&l"(element)
      : [columns] "r"(s->columns), [column_step] "r"(2 * s->column_step),
        [row_step] "r"(2 * s->row_step), [lanes] "r"(lanes), [vectors] "r"(s->vectors),
        [output] "l"(output)
      : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}

INTARSIA_OUTLINE void wide_max_vector(const struct wide_seen *s, const int16_t *row,
                                      int16_t *output, int32_t lanes) {
  const int16_t *element;
  int32_t rows = s->rows;
  uint32_t range = (uint32_t)s->high << 16 | ((uint32_t)s->low & 0xffffu);
  __asm__ volatile(
      "vdup.16 q0, %[range]\n"
      "lsrs %[range], %[range], #16\n"
      "vdup.16 q2, %[range]\n"
      "vctp.16 %[lanes]\n"
      "2: mov %[element], %[row]\n"
      "dls lr, %[columns]\n"
      "1: vpst\n"
      "vldrht.u16 q1, [%[element]]\n"
      "add %[element], %[element], %[column_step]\n"
      "vmax.s16 q0, q0, q1\n"
      "le lr, 1b\n"
      "add %[row], %[row], %[row_step]\n"
      "subs %[rows], %[rows], #1\n"
      "bne 2b\n"
      "vmin.s16 q0, q0, q2\n"
      "vpst\n"
      "vstrht.16 q0, [%[output]]\n"
      : [row] "+r"(row), [rows] "+r"(rows), [element] "=&r"(element), [range] "+r"(range)
      : [columns] "r"(s->columns), [column_step] "r"(2 * s->column_step),
        [row_step] "r"(2 * s->row_step), [lanes] "r"(lanes), [output] "r"(output)
      : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}

INTARSIA_INLINE void wide_pixel(const struct wide_seen *s, const int16_t *first, int16_t *output,
                                int32_t channels, bool average) {
  for (int32_t c = 0; average && c < channels; c += 4)
    wide_average_vector(s, first + c, output + c, channels - c);
  for (int32_t c = 0; !average && c < channels; c += 8)
    wide_max_vector(s, first + c, output + c, channels - c);
}
#else
INTARSIA_INLINE int16_t wide_average_of(const struct wide_seen *s, int32_t sum) {
  const uint32_t magnitude = (uint32_t)(sum < 0 ? -sum : sum) + s->half;
  const int32_t quotient = (int32_t)(((uint64_t)magnitude * s->factor) >> 32);
  return (int16_t)intarsia_clamp_i32(sum < 0 ? -quotient : quotient, s->low, s->high);
}

INTARSIA_INLINE uint32_t wide_larger(uint32_t a, uint32_t b) {
#if INTARSIA_HAS_DSP
  uint32_t difference;
  __asm__("ssub16 %0, %2, %1\nsel %1, %2, %1" : "=&r"(difference), "+r"(a) : "r"(b));
  return a;
#else
  const uint32_t low = (int16_t)a > (int16_t)b ? a : b;
  const uint32_t high = (int32_t)a >> 16 > (int32_t)b >> 16 ? a : b;
  return (low & 0xffffu) | (high & 0xffff0000u);
#endif
}

// Channels by twos; of an odd number the last pair overlaps the one before.
INTARSIA_INLINE void wide_pixel(const struct wide_seen *s, const int16_t *first, int16_t *output,
                                int32_t channels, bool average) {
  for (int32_t next = 0; next < channels; next += 2) {
    const int32_t c = next + 2 <= channels ? next : channels - 2;
    const int16_t *row = first + c;
    int32_t low = 0, high = 0;
    uint32_t most = 0x80008000u;
    for (int32_t y = s->rows; y > 0; --y, row += s->row_step) {
      const int16_t *element = row;
      for (int32_t x = s->columns; x > 0; --x, element += s->column_step) {
        const uint32_t pair = intarsia_load_halves(element);
        if (average)
          low += (int16_t)pair, high += (int32_t)pair >> 16;
        else
          most = wide_larger(most, pair);
      }
    }
    output[c] = average ? wide_average_of(s, low)
                        : (int16_t)intarsia_clamp_i32((int16_t)most, s->low, s->high);
    output[c + 1] = average ? wide_average_of(s, high)
                            : (int16_t)intarsia_clamp_i32((int32_t)most >> 16, s->low, s->high);
  }
}
#endif

INTARSIA_INLINE void wide_pool(const struct intarsia_window *w, const int16_t *input,
                               int16_t *output, bool average) {
  const int32_t channels = w->in_c;
  struct wide_seen s = {
      .row_step = w->in_w * channels, .column_step = channels, .low = w->low, .high = w->high};
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * channels) {
    for (int32_t oy = 0; oy < w->out_h; ++oy) {
      const int32_t y = oy * w->stride_h - w->pad_top, top = y < 0 ? 0 : y;
      const int32_t rows = intarsia_min_i32(y + w->kernel_h, w->in_h) - top;
      for (int32_t ox = 0; ox < w->out_w; ++ox, output += channels) {
        const int32_t x = ox * w->stride_w - w->pad_left, left = x < 0 ? 0 : x;
        const int32_t columns = intarsia_min_i32(x + w->kernel_w, w->in_w) - left;
        const bool differs = rows != s.rows || columns != s.columns;
        s.rows = rows, s.columns = columns;
        if (average && differs) wide_division(&s);
        wide_pixel(&s, input + (top * w->in_w + left) * channels, output, channels, average);
      }
    }
  }
}

void intarsia_average_pool_s16(const struct intarsia_window *window, const int16_t *input,
                               int16_t *output) {
  wide_pool(window, input, output, true);
}

void intarsia_max_pool_s16(const struct intarsia_window *window, const int16_t *input,
                           int16_t *output) {
  wide_pool(window, input, output, false);
}
