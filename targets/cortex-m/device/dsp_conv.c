// Convolution and fully connected on cores with the DSP extension: the window of each pixel becomes
// a column of halfword pairs in scratch, and two output channels at once are dot products with four such
// columns. Pixels that are left over go one by one.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/dsp_by_four.h"
#include "intarsia/targets/cortex_m/dsp_four.h"
#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_expand.h"  // behind optimise.h, for its functions too

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too

// The same into one of four columns.
INTARSIA_INLINE uint32_t *expand_words(uint32_t *column, const int8_t *from, int32_t words) {
#if INTARSIA_HAS_DSP_WORDS
  uint32_t even, odd;
#define INTARSIA_WIDEN              \
  "ldr %[odd], [%[from]], #4\n"     \
  "sxtb16 %[even], %[odd]\n"        \
  "sxtb16 %[odd], %[odd], ror #8\n" \
  "str %[even], [%[to]], #16\n"     \
  "str %[odd], [%[to]], #16\n"
  __asm__ volatile(
      "subs %[words], #4\n"
      "blt 2f\n"
      "1:\n" INTARSIA_WIDEN INTARSIA_WIDEN INTARSIA_WIDEN INTARSIA_WIDEN
      "subs %[words], #4\n"
      "bge 1b\n"
      "2: adds %[words], #4\n"
      "beq 4f\n"
      "3:\n" INTARSIA_WIDEN
      "subs %[words], #1\n"
      "bne 3b\n"
      "4:\n"
      : [to] "+r"(column), [from] "+r"(from), [words] "+r"(words), [even] "=&r"(even),
        [odd] "=&r"(odd)
      :
      : "cc", "memory");
#undef INTARSIA_WIDEN
  return column;
#else
  return intarsia_expand(column, from, words, 4);
#endif
}

// Words of zero points.
INTARSIA_INLINE uint32_t *expand_zeros(uint32_t *column, uint32_t zero, int32_t words,
                                       int32_t pixels) {
  for (; words > 0; --words, column += 2 * pixels) column[0] = column[pixels] = zero;
  return column;
}

// Windows that become columns.
struct staging {
  const struct intarsia_window *w;
  struct intarsia_place at;
  uint32_t *columns;
  int8_t *window;  // one as it is, where it has to be copied first
  int32_t groups;
  int32_t
      row_bytes;  // of a window in the columns: those of the window, or with a filling up to a word
};

// A row of the window, of whose columns those from `first` to `last` are inside, if it is inside itself.
INTARSIA_INLINE int8_t *copy_row(const struct intarsia_window *w, int8_t *to, const int8_t *row,
                                 bool inside, int32_t first, int32_t last) {
  if (!inside) return intarsia_fill(to, w->in_zero, w->kernel_w * w->in_c);
  to = intarsia_fill(to, w->in_zero, first * w->in_c);
  to = intarsia_copy(to, row + first * w->in_c, (last - first) * w->in_c);
  return intarsia_fill(to, w->in_zero, (w->kernel_w - last) * w->in_c);
}

// The column of one output pixel. Where pixels are words, its rows are expanded where they are; otherwise they are copied
// first.
INTARSIA_OUTLINE void gather(const struct staging *s, uint32_t *column, int32_t pixels) {
  const struct intarsia_window *w = s->w;
  const int32_t x = s->at.x * w->stride_w - w->pad_left, in_h = w->in_h;
  const int32_t left = x < 0 ? -x : 0,
                right = w->in_w - x < w->kernel_w ? w->in_w - x : w->kernel_w;
  const int32_t first = left < w->kernel_w ? left : w->kernel_w,
                last = right > first ? right : first;
  const int32_t pitch = w->dilation_h * w->in_w * w->in_c;
  int32_t y = s->at.y * w->stride_h - w->pad_top;
  const int8_t *row = s->at.image + (y * w->in_w + x) * w->in_c;
  const bool words_fit = first == 0 && last == w->kernel_w && s->row_bytes % 4 == 0 &&
                         x * w->in_c + s->row_bytes <= w->in_w * w->in_c;
  if (w->in_c % 4 == 0 || words_fit) {
    const uint32_t zero = ((uint32_t)w->in_zero & 0xffffu) * 0x10001u;
    const int32_t before = first * w->in_c / 4, all = s->row_bytes / 4,
                  behind = words_fit ? 0 : (w->kernel_w - last) * w->in_c / 4;
    const int32_t count = all - before - behind;
    row += 4 * before;
    for (int32_t ky = w->kernel_h; ky > 0; --ky, row += pitch, y += w->dilation_h) {
      const bool inside = y >= 0 && y < in_h;
      column = expand_zeros(column, zero, inside ? before : all, pixels);
      if (!inside) continue;
      column = pixels == 4 ? expand_words(column, row, count)
                           : intarsia_expand(column, row, count, pixels);
      column = expand_zeros(column, zero, behind, pixels);
    }
    return;
  }
  int8_t *to = s->window;
  const int32_t filling = s->row_bytes - w->kernel_w * w->in_c;
  for (int32_t ky = w->kernel_h; ky > 0; --ky, row += pitch, y += w->dilation_h)
    to = copy_row(w, to, row, y >= 0 && y < in_h, first, last) + filling;
  if (pixels == 4)
    (void)expand_words(column, s->window, s->groups);
  else
    (void)intarsia_expand(column, s->window, s->groups, pixels);
}

INTARSIA_INLINE void pixels_by_four(const struct intarsia_window *w, const uint32_t *columns,
                                    int8_t *output, const int8_t *weights,
                                    const struct intarsia_channel *channels, int32_t groups,
                                    enum intarsia_way way) {
  const int32_t out_c = w->out_c, low = w->low, high = w->high;
  for (int32_t left = out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    // Before the stores: the compiler cannot know that they leave the table alone.
    struct intarsia_channel both[2];
    both[0] = channels[0], both[1] = channels[1];
    int32_t sums[8];
    for (int32_t i = 0; i < 8; ++i) sums[i] = both[i / 4].bias;
    intarsia_dot_2x4(columns, weights, groups, sums);
    for (int32_t c = 0; c < 2 && c < left; ++c, ++output)
      for (int32_t pixel = 0; pixel < 4; ++pixel)
        output[pixel * out_c] = intarsia_result(sums[4 * c + pixel], &both[c], low, high, way);
  }
}

#if INTARSIA_HAS_DSP_LOOPS
// clang-format off
#define INTARSIA_FOUR(suffix, way, result, limit) \
  INTARSIA_OUTLINE void four_##suffix##_pushes_40( \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output, \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) { \
    const struct four_pixels work = intarsia_four_pixels(w, columns, columns + 8 * groups, output, channels, groups, 8); \
    INTARSIA_FOUR_PIXELS(work, weights, channels, INTARSIA_FOUR_FIRST_UNIT, INTARSIA_FOUR_UNITS, INTARSIA_FOUR_ENTRIES, result, limit, "strb.w", "1", "2"); \
  }
// clang-format on
#else
#define INTARSIA_FOUR(suffix, way, result, limit)                                       \
  INTARSIA_OUTLINE void four_##suffix##_pushes_40(                                      \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,         \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) { \
    pixels_by_four(w, columns, output, weights, channels, groups, way);                 \
  }
#endif

INTARSIA_FOUR(whole, INTARSIA_WHOLE, INTARSIA_FOUR_WHOLE, INTARSIA_FOUR_UNLIMITED)
INTARSIA_FOUR(rectified, INTARSIA_RECTIFIED, INTARSIA_FOUR_RECTIFIED, INTARSIA_FOUR_UNLIMITED)
INTARSIA_FOUR(limited, INTARSIA_LIMITED, INTARSIA_FOUR_WHOLE, INTARSIA_FOUR_LIMITED)
INTARSIA_OUTLINE void four_any_pushes_40(const struct intarsia_window *w, const uint32_t *columns,
                                         int8_t *output, const int8_t *weights,
                                         const struct intarsia_channel *channels, int32_t groups) {
  pixels_by_four(w, columns, output, weights, channels, groups, INTARSIA_ANY);
}

// One for all ways from sums to results.
INTARSIA_OUTLINE void two_channels(const uint32_t *column, const int8_t *weights, int32_t groups,
                                   int32_t sums[2]) {
  intarsia_dot_2x1(column, weights, groups, sums);
}

INTARSIA_INLINE void one_pixel(const struct intarsia_window *w, const uint32_t *column,
                               int8_t *output, const int8_t *weights,
                               const struct intarsia_channel *channels, int32_t groups,
                               enum intarsia_way way) {
  const int32_t low = w->low, high = w->high;
  for (int32_t left = w->out_c; left > 0; left -= 2, channels += 2, weights += 8 * groups) {
    int32_t sums[2] = {channels[0].bias, channels[1].bias};
    two_channels(column, weights, groups, sums);
    *output++ = intarsia_result(sums[0], channels, low, high, way);
    if (left > 1) *output++ = intarsia_result(sums[1], channels + 1, low, high, way);
  }
}

// Four channels whose weights share halfwords. Biases of the second and fourth are doubled.
INTARSIA_OUTLINE void four_channels(const uint32_t *column, const int8_t *weights, int32_t groups,
                                    int32_t sums[4]) {
#if INTARSIA_HAS_DSP_LOOPS
  register int32_t a __asm__("r8") = sums[0];
  register int32_t b __asm__("r9") = sums[1];
  register int32_t c __asm__("r10") = sums[2];
  register int32_t d __asm__("r11") = sums[3];
  register int32_t left __asm__("r12") = groups;
  register const uint32_t *from __asm__("r0") = column;
  register const int8_t *shared __asm__("r1") = weights;
  // Two words of each: nineteen cycles for sixteen products.
  __asm__ volatile(
      ".balign 4\n"
      "1: ldr.w r2, [r1, #4]\n"
      "ldr.w r3, [r1, #8]\n"
      "ldr.w r4, [r1, #12]\n"
      "ldr.w r5, [r0, #4]\n"
      "ldr.w r6, [r0], #8\n"
      "ldr.w lr, [r1], #16\n"
      "smlad r11, r6, r2, r11\n"
      "sxtb16 r2, r2\n"
      "smlad r9, r5, r3, r9\n"
      "sxtb16 r3, r3\n"
      "smlad r10, r6, r2, r10\n"
      "smlad r8, r5, r3, r8\n"
      "smlad r11, r5, r4, r11\n"
      "sxtb16 r4, r4\n"
      "smlad r9, r6, lr, r9\n"
      "sxtb16 lr, lr\n"
      "smlad r10, r5, r4, r10\n"
      "smlad r8, r6, lr, r8\n"
      "subs.w r12, r12, #1\n"
      "bne.w 1b\n"
      : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(left), "+r"(from), "+r"(shared)
      :
      : "r2", "r3", "r4", "r5", "r6", "lr", "cc", "memory");
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
#else
  intarsia_shared_dot_4x1(column, 1, weights, groups, sums);
#endif
}

// Results of a block.
INTARSIA_INLINE void block_results(const struct intarsia_window *w, int8_t *output,
                                   const struct intarsia_channel *channels, const int32_t sums[4],
                                   enum intarsia_way way) {
  for (int32_t lane = 0; lane < 4; ++lane) {
    const int32_t sum =
        lane % 2 == 0 ? sums[lane]
                      : intarsia_shared_sum(sums[lane - 1], sums[lane], channels[lane].bias >> 1);
    output[lane] = intarsia_result(sum, &channels[lane], w->low, w->high, way);
  }
}

INTARSIA_INLINE void one_by_four(const struct intarsia_window *w, const uint32_t *column,
                                 int8_t *output, const int8_t *weights,
                                 const struct intarsia_channel *channels, int32_t groups,
                                 enum intarsia_way way) {
  for (int32_t next = 0; next < w->out_c; next += 4, channels += 4, weights += 16 * groups) {
    const int32_t first = next + 4 <= w->out_c ? next : w->out_c - 4;
    int32_t sums[4] = {channels[0].bias, channels[0].bias, channels[2].bias, channels[2].bias};
    four_channels(column, weights, groups, sums);
    block_results(w, output + first, channels, sums, way);
  }
}

#if INTARSIA_HAS_DSP_LOOPS
#define INTARSIA_BLOCKS(suffix, way, result, limit)                                   \
  INTARSIA_OUTLINE void blocks_##suffix##_pushes_56(                                  \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,       \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups, \
      int32_t blocks) {                                                               \
    const struct by_four work =                                                       \
        intarsia_by_four(w, columns, output, weights, channels, groups, blocks);      \
    INTARSIA_BY_FOUR(work, result, limit);                                            \
  }
#else
#define INTARSIA_BLOCKS(suffix, way, result, limit)                                   \
  INTARSIA_OUTLINE void blocks_##suffix##_pushes_56(                                  \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,       \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups, \
      int32_t blocks) {                                                               \
    for (; blocks > 0; --blocks, output += 4, weights += 16 * groups, channels += 4)  \
      for (int32_t pixel = 0; pixel < 4; ++pixel) {                                   \
        int32_t sums[4] = {channels[0].bias, channels[0].bias, channels[2].bias,      \
                           channels[2].bias};                                         \
        intarsia_shared_dot_4x1(columns + pixel, 4, weights, groups, sums);           \
        block_results(w, output + pixel * w->out_c, channels, sums, way);             \
      }                                                                               \
  }
#endif

// The last block overlaps the one before where channels are no multiple of four.
#define INTARSIA_PIXELS_BY_FOUR(suffix, way, result, limit)                                      \
  INTARSIA_BLOCKS(suffix, way, result, limit)                                                    \
  INTARSIA_OUTLINE void by_four_##suffix(                                                        \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,                  \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) {          \
    const int32_t blocks = w->out_c / 4;                                                         \
    blocks_##suffix##_pushes_56(w, columns, output, weights, channels, groups, blocks);          \
    if (w->out_c % 4 != 0)                                                                       \
      blocks_##suffix##_pushes_56(w, columns, output + w->out_c - 4,                             \
                                  weights + 16 * blocks * groups, channels + 4 * blocks, groups, \
                                  1);                                                            \
  }

INTARSIA_PIXELS_BY_FOUR(whole, INTARSIA_WHOLE, INTARSIA_BY_FOUR_WHOLE, INTARSIA_BY_FOUR_UNLIMITED)
INTARSIA_PIXELS_BY_FOUR(rectified, INTARSIA_RECTIFIED, INTARSIA_BY_FOUR_RECTIFIED,
                        INTARSIA_BY_FOUR_UNLIMITED)
INTARSIA_PIXELS_BY_FOUR(limited, INTARSIA_LIMITED, INTARSIA_BY_FOUR_WHOLE, INTARSIA_BY_FOUR_LIMITED)

typedef void pixels_function(const struct intarsia_window *w, const uint32_t *columns,
                             int8_t *output, const int8_t *weights,
                             const struct intarsia_channel *channels, int32_t groups);

// The number of pixels.
INTARSIA_OUTLINE int32_t start(struct staging *s, const struct intarsia_window *w,
                               const int8_t *input, int8_t *scratch) {
  const int32_t pixels = w->batches * w->out_h * w->out_w;
  s->w = w;
  s->at = (struct intarsia_place){input, 0, 0};
  s->columns = (uint32_t *)(void *)scratch;
  s->row_bytes = w->strip_w;
  s->groups = (w->kernel_h * w->strip_w + 3) / 4;
  s->window = scratch + (pixels < 4 ? 8 : 32) * s->groups;
  return pixels;
}

// Four windows of one row of outputs whose rows are words and beside no edge have their columns made together.
INTARSIA_OUTLINE bool stage_together(struct staging *s) {
  const struct intarsia_window *w = s->w;
  const int32_t step = w->stride_w * w->in_c, words = s->row_bytes / 4;
  const int32_t x = s->at.x * w->stride_w - w->pad_left, in_row = w->in_w * w->in_c;
  if (s->row_bytes % 4 != 0 || s->at.x + 4 > w->out_w || x < 0 ||
      (x * w->in_c) + 3 * step + s->row_bytes > in_row)
    return false;
  const uint32_t zero = ((uint32_t)w->in_zero & 0xffffu) * 0x10001u;
  int32_t y = s->at.y * w->stride_h - w->pad_top;
  const int8_t *row = s->at.image + (y * w->in_w + x) * w->in_c;
  uint32_t *columns = s->columns;
  for (int32_t ky = w->kernel_h; ky > 0; --ky, y += w->dilation_h, row += w->dilation_h * in_row)
    columns = y >= 0 && y < w->in_h ? intarsia_expand_four(columns, row, step, words)
                                    : expand_zeros(columns, zero, 4 * words, 1);
  s->at.x += 3;
  intarsia_advance(w, &s->at);
  return true;
}

INTARSIA_OUTLINE void stage_four(struct staging *s) {
  if (stage_together(s)) return;
  for (int32_t i = 0; i < 4; ++i, intarsia_advance(s->w, &s->at)) gather(s, s->columns + i, 4);
}

INTARSIA_OUTLINE void stage_one(struct staging *s) {
  gather(s, s->columns, 1);
  intarsia_advance(s->w, &s->at);
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              pixels_function *four, pixels_function *one) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  struct staging s;
  int32_t pixels = start(&s, w, input, scratch);
  for (; pixels >= 4; pixels -= 4, output += 4 * w->out_c) {
    stage_four(&s);
    four(w, s.columns, output, weights, channels, s.groups);
  }
  for (; pixels > 0; --pixels, output += w->out_c) {
    stage_one(&s);
    one(w, s.columns, output, weights, channels, s.groups);
  }
}

#define INTARSIA_KERNEL(name, suffix, way, single, four)                                  \
  INTARSIA_OUTLINE void single##_##suffix(                                                \
      const struct intarsia_window *w, const uint32_t *columns, int8_t *output,           \
      const int8_t *weights, const struct intarsia_channel *channels, int32_t groups) {   \
    single(w, columns, output, weights, channels, groups, way);                           \
  }                                                                                       \
  void name(const struct intarsia_window *window, const int8_t *input, int8_t *output,    \
            int8_t *scratch, const int8_t *weights, const int32_t *channels) {            \
    convolve(window, input, output, scratch, weights, channels, four, single##_##suffix); \
  }

INTARSIA_KERNEL(intarsia_dsp_conv_s8, whole, INTARSIA_WHOLE, one_pixel, four_whole_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_rectified_s8, rectified, INTARSIA_RECTIFIED, one_pixel,
                four_rectified_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_limited_s8, limited, INTARSIA_LIMITED, one_pixel,
                four_limited_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_any_s8, any, INTARSIA_ANY, one_pixel, four_any_pushes_40)
INTARSIA_KERNEL(intarsia_dsp_conv_by_four_s8, whole, INTARSIA_WHOLE, one_by_four, by_four_whole)
INTARSIA_KERNEL(intarsia_dsp_conv_by_four_rectified_s8, rectified, INTARSIA_RECTIFIED, one_by_four,
                by_four_rectified)
INTARSIA_KERNEL(intarsia_dsp_conv_by_four_limited_s8, limited, INTARSIA_LIMITED, one_by_four,
                by_four_limited)
