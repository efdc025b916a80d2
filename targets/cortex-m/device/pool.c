// Pooling, several channels at a time: 16 (or 8 sums) in a vector on cores with Helium, four in a word with the DSP
// extension; the last four then overlap those before. Elsewhere one by one.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

// What a window sees of the input.
struct seen {
  const int8_t *first;
  int32_t rows, columns;
  int32_t row_step, column_step;
  // Of averages: a magnitude below 2^15, and `half` more, times `factor` >> `shift` is the quotient by the number of
  // elements.
  uint32_t factor;
  int32_t half, shift;
  int32_t low, high;
#if INTARSIA_HAS_MVE
  uint16_t vectors[5][8];  // half, factor, shift as VSHL takes it behind VMULH, low, high
#endif
};

#if INTARSIA_HAS_MVE
static void average_vector(const struct seen *s, const int8_t *row, int8_t *output, int32_t lanes) {
  const int8_t *element;
  int32_t rows = s->rows;
  __asm__ volatile(
      "vmov.i16 q0, #0\n"
      "vctp.16 %[lanes]\n"
      "2: mov %[element], %[row]\n"
      "dls lr, %[columns]\n"
      "1: vpst\n"
      "vldrbt.s16 q1, [%[element]]\n"
      "vadd.i16 q0, q0, q1\n"
      "add %[element], %[element], %[column_step]\n"
      "le lr, 1b\n"
      "add %[row], %[row], %[row_step]\n"
      "subs %[rows], %[rows], #1\n"
      "bne 2b\n"
      "vldrh.u16 q2, [%[vectors]]\n"
      "vabs.s16 q1, q0\n"
      "vadd.i16 q1, q1, q2\n"
      "vldrh.u16 q2, [%[vectors], #16]\n"
      "vmulh.u16 q1, q1, q2\n"
      "vldrh.u16 q2, [%[vectors], #32]\n"
      "vshl.u16 q1, q1, q2\n"
      "vpt.s16 lt, q0, zr\n"
      "vnegt.s16 q1, q1\n"
      "vldrh.u16 q2, [%[vectors], #48]\n"
      "vmax.s16 q1, q1, q2\n"
      "vldrh.u16 q2, [%[vectors], #64]\n"
      "vmin.s16 q1, q1, q2\n"
      "vctp.16 %[lanes]\n"
      "vpst\n"
      "vstrbt.16 q1, [%[output]]\n"
      : [row] "+r"(row), [rows] "+r"(rows), [element] "=&l"(element)
      : [columns] "r"(s->columns), [column_step] "r"(s->column_step), [row_step] "r"(s->row_step),
        [lanes] "r"(lanes), [vectors] "r"(s->vectors), [output] "l"(output)
      : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}

static void max_vector(const struct seen *s, const int8_t *row, int8_t *output, int32_t lanes) {
  const int8_t *element;
  int32_t rows = s->rows;
  __asm__ volatile(
      "vdup.8 q0, %[low]\n"
      "vdup.8 q2, %[high]\n"
      "vctp.8 %[lanes]\n"
      "2: mov %[element], %[row]\n"
      "dls lr, %[columns]\n"
      "1: vpst\n"
      "vldrbt.8 q1, [%[element]]\n"
      "vmax.s8 q0, q0, q1\n"
      "add %[element], %[element], %[column_step]\n"
      "le lr, 1b\n"
      "add %[row], %[row], %[row_step]\n"
      "subs %[rows], %[rows], #1\n"
      "bne 2b\n"
      "vmin.s8 q0, q0, q2\n"
      "vpst\n"
      "vstrbt.8 q0, [%[output]]\n"
      : [row] "+r"(row), [rows] "+r"(rows), [element] "=&r"(element)
      : [columns] "r"(s->columns), [column_step] "r"(s->column_step), [row_step] "r"(s->row_step),
        [lanes] "r"(lanes), [low] "r"(s->low), [high] "r"(s->high), [output] "r"(output)
      : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}

#else
INTARSIA_INLINE int8_t average_of(const struct seen *s, int32_t sum) {
  const uint32_t magnitude = (uint32_t)((sum < 0 ? -sum : sum) + s->half);
  const int32_t quotient = (int32_t)(magnitude * s->factor >> s->shift);
  return (int8_t)intarsia_clamp_i32(sum < 0 ? -quotient : quotient, s->low, s->high);
}
#endif

#if INTARSIA_HAS_DSP && !INTARSIA_HAS_MVE
// Sums of channels 0, 2 and of 1, 3 in halfwords.
INTARSIA_INLINE void average_word(const struct seen *s, const int8_t *row, int8_t *output) {
  uint32_t even = 0, odd = 0;
  for (int32_t y = s->rows; y > 0; --y, row += s->row_step) {
    const int8_t *element = row;
    for (int32_t x = s->columns; x > 0; --x, element += s->column_step) {
      const uint32_t word = intarsia_load_word(element);
      __asm__("sxtab16 %0, %0, %1" : "+r"(even) : "r"(word));
      __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(odd) : "r"(word));
    }
  }
  output[0] = average_of(s, (int16_t)even);
  output[1] = average_of(s, (int16_t)odd);
  output[2] = average_of(s, (int32_t)even >> 16);
  output[3] = average_of(s, (int32_t)odd >> 16);
}

INTARSIA_INLINE void max_word(const struct seen *s, const int8_t *row, int8_t *output) {
  uint32_t most = 0x80808080u;
  for (int32_t y = s->rows; y > 0; --y, row += s->row_step) {
    const int8_t *element = row;
    for (int32_t x = s->columns; x > 0; --x, element += s->column_step) {
      const uint32_t word = intarsia_load_word(element);
      uint32_t difference;
      __asm__("ssub8 %0, %2, %1\nsel %1, %2, %1" : "=&r"(difference), "+r"(most) : "r"(word));
    }
  }
  for (int32_t lane = 0; lane < 4; ++lane, most >>= 8)
    output[lane] = (int8_t)intarsia_clamp_i32((int8_t)most, s->low, s->high);
}
#endif

// One pixel of the output.
INTARSIA_INLINE void average_pixel(const struct seen *s, int8_t *output, int32_t channels) {
#if INTARSIA_HAS_MVE
  for (int32_t c = 0; c < channels; c += 8)
    average_vector(s, s->first + c, output + c, channels - c);
#elif INTARSIA_HAS_DSP
  for (int32_t c = 0; c < channels; c += 4) {
    const int32_t block = c + 4 <= channels ? c : channels - 4;
    average_word(s, s->first + block, output + block);
  }
#else
  for (int32_t c = 0; c < channels; ++c) {
    int32_t sum = 0;
    for (int32_t y = 0; y < s->rows; ++y)
      for (int32_t x = 0; x < s->columns; ++x)
        sum += s->first[y * s->row_step + x * s->column_step + c];
    output[c] = average_of(s, sum);
  }
#endif
}

INTARSIA_INLINE void max_pixel(const struct seen *s, int8_t *output, int32_t channels) {
#if INTARSIA_HAS_MVE
  for (int32_t c = 0; c < channels; c += 16) max_vector(s, s->first + c, output + c, channels - c);
#elif INTARSIA_HAS_DSP
  for (int32_t c = 0; c < channels; c += 4) {
    const int32_t block = c + 4 <= channels ? c : channels - 4;
    max_word(s, s->first + block, output + block);
  }
#else
  for (int32_t c = 0; c < channels; ++c) {
    int32_t most = s->low;
    for (int32_t y = 0; y < s->rows; ++y)
      for (int32_t x = 0; x < s->columns; ++x) {
        const int32_t element = s->first[y * s->row_step + x * s->column_step + c];
        if (element > most) most = element;
      }
    output[c] = (int8_t)(most > s->high ? s->high : most);
  }
#endif
}

// Division by an invariant number as a product: exact for magnitudes of 15 bits. By one: (n + 1) * 65535 >> 16.
static void prepare_division(struct seen *s) {
  const int32_t taps = s->rows * s->columns;
  int32_t bits = 0;
  while (1 << bits < taps) ++bits;
  s->half = taps == 1 ? 1 : taps / 2;
  s->shift = taps == 1 ? 16 : 15 + bits;
  s->factor = taps == 1 ? 65535 : ((1u << s->shift) + (uint32_t)taps - 1) / (uint32_t)taps;
#if INTARSIA_HAS_MVE
  const int32_t numbers[5] = {s->half, (int32_t)s->factor, 16 - s->shift, s->low, s->high};
  for (int32_t i = 0; i < 5; ++i)
    for (int32_t lane = 0; lane < 8; ++lane) s->vectors[i][lane] = (uint16_t)numbers[i];
#endif
}

INTARSIA_INLINE void pool(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                          bool average) {
  const int32_t channels = w->in_c;
  struct seen s = {
      .row_step = w->in_w * channels, .column_step = channels, .low = w->low, .high = w->high};
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * channels) {
    for (int32_t oy = 0; oy < w->out_h; ++oy) {
      const int32_t y = oy * w->stride_h - w->pad_top, top = y < 0 ? 0 : y;
      const int32_t rows = (y + w->kernel_h < w->in_h ? y + w->kernel_h : w->in_h) - top;
      for (int32_t ox = 0; ox < w->out_w; ++ox, output += channels) {
        const int32_t x = ox * w->stride_w - w->pad_left, left = x < 0 ? 0 : x;
        const int32_t columns = (x + w->kernel_w < w->in_w ? x + w->kernel_w : w->in_w) - left;
        s.first = input + (top * w->in_w + left) * channels;
        if (average && (rows != s.rows || columns != s.columns)) {
          s.rows = rows, s.columns = columns;
          prepare_division(&s);
        }
        s.rows = rows, s.columns = columns;
        if (average)
          average_pixel(&s, output, channels);
        else
          max_pixel(&s, output, channels);
      }
    }
  }
}

void intarsia_average_pool_s8(const struct intarsia_window *window, const int8_t *input,
                              int8_t *output) {
  pool(window, input, output, true);
}

void intarsia_max_pool_s8(const struct intarsia_window *window, const int8_t *input,
                          int8_t *output) {
  pool(window, input, output, false);
}
