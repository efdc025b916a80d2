// Windows of a convolution of int8 as columns of halfword pairs (dsp_dot.h), those of four pixels side by side or that of one: what happens
// around the loops that move words, once for four pixels, and is compiled as the rest of the program is. Included behind
// no_frame_pointer.h, before optimise.h.
#ifndef INTARSIA_CORTEX_M_DSP_WINDOWS_H_
#define INTARSIA_CORTEX_M_DSP_WINDOWS_H_

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/dsp_expand.h"

// The same into one of four columns.
INTARSIA_OUTLINE uint32_t *expand_words(uint32_t *column, const int8_t *from, int32_t words) {
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
  const int8_t *input;
  int32_t bytes;  // of all images, as far as windows see them
  struct intarsia_place at;
  uint32_t *columns;
  int8_t *window;  // one as it is, where it has to be copied first
  int32_t groups;
  int32_t
      row_bytes;  // of a window in the columns: those of the window, or with a filling up to a word
  int32_t step,
      pitch;  // bytes from a window to its neighbour's, and from a row of a window to the next
  // Windows of a row of outputs from `first` on and before `end` are beside no edge, of rows that are words; else there are none. So
  // many of four have to be in a row of outputs, for all of them to be made together.
  int32_t first, end, worth;
  // Of a row of outputs: where the first row inside of the image of its first window would begin, and how many rows lie above the image, in
  // it and below.
  int32_t from, above, seen, below;
};

// Zero points in the elements of a window's row from `from` on and before `to`.
INTARSIA_INLINE void put_zeros(uint32_t *column, int32_t from, int32_t to, uint32_t zero,
                               int32_t pixels) {
  for (; from % 4 == 0 && to - from >= 4; from += 4) {
    uint32_t *const group = column + from / 4 * 2 * pixels;
    group[0] = group[pixels] = zero;
  }
  for (; from < to; ++from) {
    uint32_t *const pair = column + (from / 4 * 2 + from % 2) * pixels;
    memcpy((int8_t *)pair + from % 4 / 2 * 2, &zero, sizeof zero / 2);
  }
}

// A window from column `x` of the image on was made of bytes beside the image where it reaches over its left and right edges: there become
// zero points.
INTARSIA_OUTLINE void mend_edges(const struct staging *s, uint32_t *column, int32_t x,
                                 int32_t above, int32_t seen, int32_t pixels) {
  const struct intarsia_window *w = s->w;
  const int32_t channels = w->in_c, run = w->kernel_w * channels;
  const int32_t before = intarsia_clamp_i32(-x * channels, 0, run),
                behind = intarsia_clamp_i32((w->in_w - x) * channels, before, run);
  const uint32_t zero = ((uint32_t)w->in_zero & 0xffffu) * 0x10001u;
  column += 2 * pixels * (s->row_bytes / 4) * above;
  for (; seen > 0; --seen, column += 2 * pixels * (s->row_bytes / 4)) {
    put_zeros(column, 0, before, zero, pixels);
    put_zeros(column, behind, run, zero, pixels);
  }
}

// The column of one output pixel. Where pixels are words, or rows are and lie in the input even beside an edge, its rows are expanded where
// they are; otherwise they are copied first.
INTARSIA_OUTLINE void gather(const struct staging *s, uint32_t *column, int32_t pixels) {
  const struct intarsia_window *w = s->w;
  const int32_t x = s->at.x * w->stride_w - w->pad_left, in_h = w->in_h, channels = w->in_c;
  int32_t y = s->at.y * w->stride_h - w->pad_top;
  const int32_t image = (int32_t)(s->at.image - s->input),
                end = y + (w->kernel_h - 1) * w->dilation_h;
  const int32_t upper = y < 0 ? 0 : y, lower = intarsia_min_i32(end, in_h - 1);
  const bool lies = channels % 4 != 0 && s->row_bytes % 4 == 0 &&
                    image + (upper * w->in_w + x) * channels >= 0 &&
                    image + (lower * w->in_w + x) * channels + s->row_bytes <= s->bytes;
  const int8_t *row = s->at.image + (y * w->in_w + x) * channels;
  if (channels % 4 == 0 || lies) {
    const uint32_t zero = ((uint32_t)w->in_zero & 0xffffu) * 0x10001u;
    const int32_t all = s->row_bytes / 4;
    const int32_t before = lies ? 0 : intarsia_clamp_i32(-x * channels / 4, 0, all),
                  last = lies ? all : intarsia_clamp_i32((w->in_w - x) * channels / 4, before, all);
    uint32_t *to = column;
    int32_t above = 0, seen = 0;
    for (int32_t ky = w->kernel_h; ky > 0; --ky, row += s->pitch, y += w->dilation_h) {
      const bool inside = y >= 0 && y < in_h;
      seen += inside, above += y < 0;
      to = expand_zeros(to, zero, inside ? before : all, pixels);
      if (!inside) continue;
      to = pixels == 4 ? expand_words(to, row + 4 * before, last - before)
                       : intarsia_expand(to, row + 4 * before, last - before, pixels);
      to = expand_zeros(to, zero, all - last, pixels);
    }
    if (lies && (x < 0 || x + w->kernel_w > w->in_w)) mend_edges(s, column, x, above, seen, pixels);
    return;
  }
  int8_t *to = s->window;
  const int32_t run = w->kernel_w * channels, filling = s->row_bytes - run;
  const bool whole = x >= 0 && x + w->kernel_w <= w->in_w && y >= 0 && end < in_h;
  for (int32_t ky = w->kernel_h; ky > 0; --ky, row += s->pitch, y += w->dilation_h)
    to = filling +
         (whole ? intarsia_copy(to, row, run) : intarsia_copy_row(w, s->at.image, y, x, to));
  if (pixels == 4)
    (void)expand_words(column, s->window, s->groups);
  else
    (void)intarsia_expand(column, s->window, s->groups, pixels);
}

INTARSIA_OUTLINE void see_rows(struct staging *s, const struct intarsia_place *at) {
  const struct intarsia_window *w = s->w;
  const int32_t in_h = w->in_h, dilation = w->dilation_h;
  int32_t rows = w->kernel_h, y = at->y * w->stride_h - w->pad_top, above = 0, seen = 0;
  for (; rows > 0 && y < 0; --rows, y += dilation) ++above;
  s->from = (int32_t)(at->image - s->input) + (y * w->in_w - w->pad_left) * w->in_c;
  for (; rows > 0 && y < in_h; --rows, y += dilation) ++seen;
  s->above = above, s->seen = seen, s->below = rows;
}

INTARSIA_INLINE int32_t start(struct staging *s, const struct intarsia_window *w,
                              const int8_t *input, int8_t *scratch) {
  // By the costs of windows that are made together and alone: of few words one by itself is, of many three.
  enum { kFewGroups = 6, kManyGroups = 32, kNone = 5 };
  const int32_t pixels = w->batches * w->out_h * w->out_w, row = w->in_w * w->in_c;
  const int32_t last =
      (w->out_h - 1) * w->stride_h - w->pad_top + (w->kernel_h - 1) * w->dilation_h;
  s->w = w;
  s->input = input;
  s->bytes = ((w->batches - 1) * w->in_h + intarsia_min_i32(last + 1, w->in_h)) * row;
  s->at = (struct intarsia_place){input, 0, 0};
  s->columns = (uint32_t *)(void *)scratch;
  s->row_bytes = w->strip_w;
  s->groups = (w->kernel_h * w->strip_w + 3) / 4;
  s->window = scratch + (pixels < 4 ? 8 : 32) * s->groups;
  s->step = w->stride_w * w->in_c;
  s->pitch = w->dilation_h * row;
  s->first = (w->pad_left + w->stride_w - 1) / w->stride_w;
  const int32_t room = (w->in_w + w->pad_left) * w->in_c - s->row_bytes;
  const bool words = s->row_bytes % 4 == 0;
  s->end = words && room >= 0 ? intarsia_min_i32(room / s->step + 1, w->out_w) : 0;
  s->worth = !words ? kNone : s->groups <= kFewGroups ? 1 : s->groups <= kManyGroups ? 2 : 3;
  see_rows(s, &s->at);
  return pixels;
}

// Of four pixels.
INTARSIA_OUTLINE uint32_t *zero_rows(const struct staging *s, uint32_t *columns, int32_t rows) {
  return expand_zeros(columns, ((uint32_t)s->w->in_zero & 0xffffu) * 0x10001u, s->row_bytes * rows,
                      1);
}

// From the window of pixel `x` of the row on, which may be beside an edge if bytes are read there that belong to the input.
INTARSIA_INLINE void stage_together(struct staging *s, int32_t x) {
  uint32_t *columns = s->columns;
  if (s->above > 0) columns = zero_rows(s, columns, s->above);
  if (s->seen > 0)
    columns = intarsia_expand_four(columns, s->input + s->from + x * s->step, s->step,
                                   s->row_bytes / 4, s->seen, s->pitch);
  if (s->below > 0) (void)zero_rows(s, columns, s->below);
}

// Whether four windows from `x` on are worth making together, some of which lie beside an edge or in another row of outputs, and read
// nothing else than the input.
INTARSIA_INLINE bool worth_together(const struct staging *s, int32_t x) {
  const int32_t begin = x > 0 ? x : 0, end = intarsia_min_i32(x + 4, s->w->out_w);
  const int32_t from = s->from + x * s->step;
  return end - begin >= s->worth &&
         (s->seen == 0 ||
          (from >= 0 && from + (s->seen - 1) * s->pitch + 3 * s->step + s->row_bytes <= s->bytes));
}

// Some of four windows are beside an edge, or in the next row of outputs.
INTARSIA_OUTLINE void stage_apart(struct staging *s) {
  const struct intarsia_window *w = s->w;
  const int32_t out_w = w->out_w;
  int32_t x = s->at.x;
  bool together = worth_together(s, x);
  if (!together && x + 4 > out_w) {
    struct intarsia_place next = {s->at.image, s->at.y, out_w - 1};
    intarsia_advance(w, &next);
    see_rows(s, &next);
    x -= out_w;
    together = worth_together(s, x);
  }
  if (together) stage_together(s, x);
  for (int32_t i = 0; i < 4; ++i, ++x, intarsia_advance(w, &s->at)) {
    uint32_t *column = s->columns + i;
    if (!together || x < 0 || x >= out_w)
      gather(s, column, 4);
    else if (x < s->first || x >= s->end)
      mend_edges(s, column, x * w->stride_w - w->pad_left, s->above, s->seen, 4);
  }
  see_rows(s, &s->at);
}

INTARSIA_OUTLINE void stage_four(struct staging *s) {
  const int32_t x = s->at.x;
  if (x < s->first || x + 4 > s->end) {
    stage_apart(s);
    return;
  }
  stage_together(s, x);
  s->at.x = x + 3;
  intarsia_advance(s->w, &s->at);
  if (s->at.x == 0) see_rows(s, &s->at);
}

INTARSIA_OUTLINE void stage_one(struct staging *s) {
  gather(s, s->columns, 1);
  intarsia_advance(s->w, &s->at);
}

#endif  // INTARSIA_CORTEX_M_DSP_WINDOWS_H_
