// Rows of elements from one place to another: of tensors that are joined, taken apart or cut.
#include "intarsia/targets/cortex_m/copy_rows.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/mve_strip.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

#if INTARSIA_HAS_DSP_WORDS && !INTARSIA_HAS_MVE
enum { kFourWords = 16 };

// Their loads follow each other.
INTARSIA_INLINE void copy_four_words(int8_t *to, const int8_t *from) {
  uint32_t a, b, c, d;
  memcpy(&a, from, sizeof a), memcpy(&b, from + 4, sizeof b);
  memcpy(&c, from + 8, sizeof c), memcpy(&d, from + 12, sizeof d);
  memcpy(to, &a, sizeof a), memcpy(to + 4, &b, sizeof b);
  memcpy(to + 8, &c, sizeof c), memcpy(to + 12, &d, sizeof d);
}

INTARSIA_INLINE void copy_eight_words(int8_t *to, const int8_t *from) {
  copy_four_words(to, from), copy_four_words(to + kFourWords, from + kFourWords);
}

// The last ones overlap those before.
INTARSIA_INLINE void copy_long_row(int8_t *to, const int8_t *from, int32_t count) {
  for (; count > 4 * kFourWords; count -= 4 * kFourWords) {
    copy_eight_words(to, from), copy_eight_words(to + 2 * kFourWords, from + 2 * kFourWords);
    from += 4 * kFourWords, to += 4 * kFourWords;
  }
  if (count > 2 * kFourWords) {
    copy_eight_words(to, from);
    count -= 2 * kFourWords, from += 2 * kFourWords, to += 2 * kFourWords;
  }
  if (count > kFourWords) copy_four_words(to, from);
  copy_four_words(to + count - kFourWords, from + count - kFourWords);
}
#endif

// Counts and steps in bytes.
static void copy_rows(const void *from_bytes, void *to_bytes, int32_t rows, int32_t each,
                      int32_t from_step, int32_t to_step) {
  const int8_t *from = (const int8_t *)from_bytes;
  int8_t *to = (int8_t *)to_bytes;
#if INTARSIA_HAS_MVE
  if (each <= 2 * kStripLanes) {
    for (int32_t c = 0; c < each; c += kStripLanes)
      intarsia_strip_columns(from + c, to + c, rows, intarsia_clamp_i32(each - c, 0, kStripLanes),
                             from_step, to_step);
    return;
  }
#endif
#if INTARSIA_HAS_DSP_WORDS && !INTARSIA_HAS_MVE
  if (each >= 2 * kFourWords) {
    for (; rows > 0; --rows, from += from_step, to += to_step) copy_long_row(to, from, each);
    return;
  }
#endif
  for (; rows > 0; --rows, from += from_step, to += to_step) (void)intarsia_copy(to, from, each);
}

void intarsia_copy_rows_s8(const int8_t *from, int8_t *to, int32_t rows, int32_t count,
                           int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, count, from_step, to_step);
}
void intarsia_copy_rows_s16(const int16_t *from, int16_t *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, 2 * count, 2 * from_step, 2 * to_step);
}
void intarsia_copy_rows_s32(const int32_t *from, int32_t *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, 4 * count, 4 * from_step, 4 * to_step);
}
void intarsia_copy_rows_f32(const float *from, float *to, int32_t rows, int32_t count,
                            int32_t from_step, int32_t to_step) {
  copy_rows(from, to, rows, 4 * count, 4 * from_step, 4 * to_step);
}

// A word, from its first byte on, until so many bytes are full. With Helium a vector at a time; elsewhere words of at least one, the last
// of which overlaps the one before.
INTARSIA_INLINE void spread_word(uint32_t word, int8_t *to, int32_t bytes) {
#if INTARSIA_HAS_MVE
  __asm__ volatile(
      "vdup.32 q0, %[word]\n"
      "dlstp.8 lr, %[bytes]\n"
      "1: vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to)
      : [bytes] "r"(bytes), [word] "r"(word)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#else
  int8_t *const last = to + bytes - 4;
  for (; last - to > 16; to += 16) {
    memcpy(to, &word, sizeof word), memcpy(to + 4, &word, sizeof word);
    memcpy(to + 8, &word, sizeof word), memcpy(to + 12, &word, sizeof word);
  }
  for (; to < last; to += 4) memcpy(to, &word, sizeof word);
  memcpy(last, &word, sizeof word);
#endif
}

void intarsia_spread_s8(const int8_t *from, int8_t *to, int32_t count, int32_t times) {
  for (; count > 0; --count, ++from, to += times)
    if (INTARSIA_HAS_MVE || times >= 4)
      spread_word((uint8_t)*from * 0x01010101u, to, times);
    else
      for (int32_t i = 0; i < times; ++i) to[i] = *from;
}
void intarsia_spread_s16(const int16_t *from, int16_t *to, int32_t count, int32_t times) {
  for (; count > 0; --count, ++from, to += times)
    if (INTARSIA_HAS_MVE || times >= 2)
      spread_word((uint16_t)*from * 0x00010001u, (int8_t *)to, 2 * times);
    else
      *to = *from;
}
void intarsia_spread_f32(const float *from, float *to, int32_t count, int32_t times) {
  for (; count > 0; --count, ++from, to += times) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    spread_word(word, (int8_t *)to, 4 * times);
  }
}

// With Helium a vector of a row that is read, whose elements are scattered, or one of a row that is written, whose elements are gathered:
// whichever is longer. Elsewhere four elements of it.
#if INTARSIA_HAS_MVE
#define TURN(lanes, context, steps, load, store, gather, scatter)                                 \
  if (rows > columns)                                                                             \
    for (int32_t c = 0; c < columns; ++c)                                                         \
      for (int32_t r = 0; r < rows; r += (lanes))                                                 \
        scatter(to + r * to_step + c, steps(to_step),                                             \
                load(from + c * from_step + r, context((uint32_t)(rows - r))),                    \
                context((uint32_t)(rows - r)));                                                   \
  else                                                                                            \
    for (int32_t r = 0; r < rows; ++r)                                                            \
      for (int32_t c = 0; c < columns; c += (lanes))                                              \
        store(                                                                                    \
            to + r * to_step + c,                                                                 \
            gather(from + c * from_step + r, steps(from_step), context((uint32_t)(columns - c))), \
            context((uint32_t)(columns - c)));
INTARSIA_INLINE uint16x8_t eight_steps(int32_t step) {
  return vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)step);
}
#if __ARM_FEATURE_MVE & 2
INTARSIA_INLINE uint32x4_t four_steps(int32_t step) {
  return vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
}
#endif
#else
#define TURN(TYPE)                                                                \
  if (rows > columns)                                                             \
    for (int32_t c = 0; c < columns; ++c, from += from_step, ++to) {              \
      TYPE *each = to;                                                            \
      int32_t r = 0;                                                              \
      for (; r + 4 <= rows; r += 4, each += 4 * to_step) {                        \
        const TYPE first = from[r], second = from[r + 1];                         \
        const TYPE third = from[r + 2], fourth = from[r + 3];                     \
        each[0] = first, each[to_step] = second;                                  \
        each[2 * to_step] = third, each[3 * to_step] = fourth;                    \
      }                                                                           \
      for (; r < rows; ++r, each += to_step) *each = from[r];                     \
    }                                                                             \
  else                                                                            \
    for (int32_t r = 0; r < rows; ++r, ++from, to += to_step) {                   \
      const TYPE *each = from;                                                    \
      int32_t c = 0;                                                              \
      for (; c + 4 <= columns; c += 4, each += 4 * from_step) {                   \
        const TYPE first = each[0], second = each[from_step];                     \
        const TYPE third = each[2 * from_step], fourth = each[3 * from_step];     \
        to[c] = first, to[c + 1] = second, to[c + 2] = third, to[c + 3] = fourth; \
      }                                                                           \
      for (; c < columns; ++c, each += from_step) to[c] = *each;                  \
    }
#endif

void intarsia_turn_s8(const int8_t *from, int8_t *to, int32_t rows, int32_t columns,
                      int32_t from_step, int32_t to_step) {
#if INTARSIA_HAS_MVE
  TURN(8, vctp16q, eight_steps, vldrbq_z_s16, vstrbq_p_s16, vldrbq_gather_offset_z_s16,
       vstrbq_scatter_offset_p_s16)
#else
  TURN(int8_t)
#endif
}
void intarsia_turn_s16(const int16_t *from, int16_t *to, int32_t rows, int32_t columns,
                       int32_t from_step, int32_t to_step) {
#if INTARSIA_HAS_MVE
  TURN(8, vctp16q, eight_steps, vldrhq_z_s16, vstrhq_p_s16, vldrhq_gather_shifted_offset_z_s16,
       vstrhq_scatter_shifted_offset_p_s16)
#else
  TURN(int16_t)
#endif
}
void intarsia_turn_f32(const float *from, float *to, int32_t rows, int32_t columns,
                       int32_t from_step, int32_t to_step) {
#if INTARSIA_HAS_MVE && (__ARM_FEATURE_MVE & 2)
  TURN(4, vctp32q, four_steps, vldrwq_z_f32, vstrwq_p_f32, vldrwq_gather_shifted_offset_z_f32,
       vstrwq_scatter_shifted_offset_p_f32)
#elif INTARSIA_HAS_MVE
  for (int32_t r = 0; r < rows; ++r)
    for (int32_t c = 0; c < columns; ++c) to[r * to_step + c] = from[c * from_step + r];
#else
  TURN(float)
#endif
}
