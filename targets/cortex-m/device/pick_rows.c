// With Helium a vector of places is loaded once for all rows; with the DSP extension places are read four at a time.
#include "intarsia/targets/cortex_m/pick_rows.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/dsp_dot.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#elif INTARSIA_HAS_DSP_LOOPS
// Loads that follow each other take a cycle each.
#define PICK_FOURS(load_place, load, store, size, offset)                                          \
  if (fours > 0) {                                                                                 \
    int32_t first, second, third, fourth, left = fours;                                            \
    __asm__ volatile(                                                                              \
        ".balign 4\n"                                                                              \
        "1: " load_place " %[first], [%[place]], #4*" size "\n" load_place                         \
        " %[second], [%[place], #-3*" size "]\n" load_place " %[third], [%[place], #-2*" size      \
        "]\n" load_place " %[fourth], [%[place], #-" size "]\n" load                               \
        " %[first], [%[from], %[first]" offset "]\n" load " %[second], [%[from], %[second]" offset \
        "]\n" load " %[third], [%[from], %[third]" offset "]\n" load                               \
        " %[fourth], [%[from], %[fourth]" offset "]\n" store " %[first], [%[to]], #4*" size        \
        "\n" store " %[second], [%[to], #-3*" size "]\n" store " %[third], [%[to], #-2*" size      \
        "]\n"                                                                                      \
        "subs.w %[left], %[left], #1\n" store " %[fourth], [%[to], #-" size                        \
        "]\n"                                                                                      \
        "bne.w 1b\n"                                                                               \
        : [place] "+r"(place), [to] "+r"(to), [left] "+r"(left), [first] "=&r"(first),             \
          [second] "=&r"(second), [third] "=&r"(third), [fourth] "=&r"(fourth)                     \
        : [from] "r"(from)                                                                         \
        : "cc", "memory");                                                                         \
  }
#endif

void intarsia_pick_rows_s8(const int8_t *from, int8_t *to, const int8_t *places, int32_t rows,
                           int32_t count, int32_t from_step) {
#if INTARSIA_HAS_MVE
  enum { kLanes = 16 };
  for (int32_t i = 0; i < count; i += kLanes) {
    const mve_pred16_t some = vctp8q((uint32_t)(count - i));
    const uint8x16_t offsets = vldrbq_z_u8((const uint8_t *)places + i, some);
    const int8_t *row = from;
    int8_t *result = to + i;
    for (int32_t left = rows; left > 0; --left, row += from_step, result += count)
      vstrbq_p_s8(result, vldrbq_gather_offset_z_s8(row, offsets, some), some);
  }
#else
  for (; rows > 0; --rows, from += from_step) {
    const uint8_t *place = (const uint8_t *)places, *const end = place + count;
#if INTARSIA_HAS_DSP_LOOPS
    const int32_t fours = count / 4;
    PICK_FOURS("ldrb", "ldrb", "strb", "1", "")
#endif
    for (; place < end; ++place) *to++ = from[*place];
  }
#endif
}

void intarsia_pick_rows_s16(const int16_t *from, int16_t *to, const int16_t *places, int32_t rows,
                            int32_t count, int32_t from_step) {
#if INTARSIA_HAS_MVE
  enum { kLanes = 8 };
  for (int32_t i = 0; i < count; i += kLanes) {
    const mve_pred16_t some = vctp16q((uint32_t)(count - i));
    const uint16x8_t offsets = vldrhq_z_u16((const uint16_t *)places + i, some);
    const int16_t *row = from;
    int16_t *result = to + i;
    for (int32_t left = rows; left > 0; --left, row += from_step, result += count)
      vstrhq_p_s16(result, vldrhq_gather_shifted_offset_z_s16(row, offsets, some), some);
  }
#else
  for (; rows > 0; --rows, from += from_step) {
    const uint16_t *place = (const uint16_t *)places, *const end = place + count;
#if INTARSIA_HAS_DSP_LOOPS
    const int32_t fours = count / 4;
    PICK_FOURS("ldrh", "ldrh", "strh", "2", ", lsl #1")
#endif
    for (; place < end; ++place) *to++ = from[*place];
  }
#endif
}
