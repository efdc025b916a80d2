#include "intarsia/targets/cortex_m/pool_softmax.h"

#include <string.h>

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

enum {
  kExponentialFraction = 12,
  kResult = 23
};  // bits that are dropped: of exponentials in the sum, of results at least

#define INTARSIA_BY_WORDS (INTARSIA_HAS_DSP_LOOPS && INTARSIA_HAS_DSP_WORDS && !INTARSIA_HAS_MVE)

// On cores with Helium four at a time, whose exponentials are gathered.
#if INTARSIA_HAS_MVE
int32_t intarsia_largest_of(const int8_t *input, int32_t count) {
  register int32_t largest __asm__("r4") = -128;  // VMAXV takes even registers
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[input]], #16\n"
      "vmaxv.s8 %[largest], q0\n"
      "letp lr, 1b\n"
      : [input] "+r"(input), [largest] "+r"(largest)
      : [count] "r"(count)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return (int8_t)largest;
}

uint32_t intarsia_sum_of_exponentials(const int8_t *input, const int32_t *exponentials,
                                      int32_t largest, int32_t count) {
  register uint32_t sum __asm__("r4") = 0;  // VADDVA as well
  __asm__ volatile(
      "vdup.32 q3, %[largest]\n"
      "dlstp.32 lr, %[count]\n"
      "1: vldrb.s32 q0, [%[input]], #4\n"
      "vsub.i32 q1, q3, q0\n"
      "vldrw.u32 q2, [%[exponentials], q1, uxtw #2]\n"
      "vrshr.u32 q2, q2, #12\n"
      "vaddva.u32 %[sum], q2\n"
      "letp lr, 1b\n"
      : [input] "+l"(input), [sum] "+r"(sum)
      : [exponentials] "r"(exponentials), [largest] "r"(largest), [count] "r"(count)
      : "q0", "q1", "q2", "q3", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return sum;
}

#else
#if INTARSIA_BY_WORDS
enum { kWord = 4 };

INTARSIA_INLINE uint32_t larger_bytes(uint32_t a, uint32_t b) {
  uint32_t difference;
  __asm__ volatile("ssub8 %1, %2, %0\nsel %0, %2, %0" : "+r"(a), "=&r"(difference) : "r"(b));
  return a;
}

INTARSIA_INLINE uint32_t word_at(const int8_t *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// Words, the last of which overlaps the one before.
INTARSIA_INLINE int32_t largest_of_words(const int8_t *input, int32_t count) {
  uint32_t most = word_at(input + count - kWord);
  for (; count > kWord; count -= kWord, input += kWord) most = larger_bytes(most, word_at(input));
  most = larger_bytes(most, most >> 16 | most << 16);
  return (int8_t)larger_bytes(most, most >> 8 | most << 24);
}

// Four elements at a time, of four at least. Returns how many are done.
INTARSIA_INLINE int32_t sum_by_fours(const int8_t *input, const int32_t *exponentials,
                                     int32_t largest, int32_t count, uint32_t *total) {
  int32_t fours = count / kWord;
  uint32_t sum = 0, first, second, third, fourth;
#define AS_PLACE(value) "sub.w %[" value "], %[largest], %[" value "]\n"
#define LOOK_UP(value) "ldr.w %[" value "], [%[exponentials], %[" value "], lsl #2]\n"
#define ADD_ROUNDED(value)       \
  "add.w %[" value "], %[" value \
  "], #2048\n"                   \
  "add.w %[sum], %[sum], %[" value "], lsr #12\n"
  __asm__ volatile(
      ".balign 4\n"
      "1: ldrsb %[first], [%[input]], #4\n"
      "ldrsb %[second], [%[input], #-3]\n"
      "ldrsb %[third], [%[input], #-2]\n"
      "ldrsb %[fourth], [%[input], #-1]\n" AS_PLACE("first") AS_PLACE("second") AS_PLACE("third")
          AS_PLACE("fourth") LOOK_UP("first") LOOK_UP("second") LOOK_UP("third") LOOK_UP("fourth")
              ADD_ROUNDED("first") ADD_ROUNDED("second") ADD_ROUNDED("third") ADD_ROUNDED("fourth")
      "subs.w %[fours], %[fours], #1\n"
      "bne.w 1b\n"
      : [input] "+r"(input), [sum] "+r"(sum), [fours] "+r"(fours), [first] "=&r"(first),
        [second] "=&r"(second), [third] "=&r"(third), [fourth] "=&r"(fourth)
      : [exponentials] "r"(exponentials), [largest] "r"(largest)
      : "cc", "memory");
  *total = sum;
  return count / kWord * kWord;
}
#endif

INTARSIA_INLINE int32_t largest_one_by_one(const int8_t *input, int32_t count) {
  int32_t largest = input[0];
  for (int32_t i = 1; i < count; ++i)
    if (input[i] > largest) largest = input[i];
  return largest;
}

INTARSIA_INLINE uint32_t sum_one_by_one(const int8_t *input, const int32_t *exponentials,
                                        int32_t largest, int32_t count) {
  uint32_t sum = 0;
  for (int32_t i = 0; i < count; ++i)
    sum += ((uint32_t)exponentials[largest - input[i]] + (1u << (kExponentialFraction - 1))) >>
           kExponentialFraction;
  return sum;
}

int32_t intarsia_largest_of(const int8_t *input, int32_t count) {
#if INTARSIA_BY_WORDS
  if (count >= kWord) return largest_of_words(input, count);
#endif
  return largest_one_by_one(input, count);
}

uint32_t intarsia_sum_of_exponentials(const int8_t *input, const int32_t *exponentials,
                                      int32_t largest, int32_t count) {
  uint32_t sum = 0;
#if INTARSIA_BY_WORDS
  if (count >= kWord) {
    const int32_t done = sum_by_fours(input, exponentials, largest, count, &sum);
    input += done, count -= done;
  }
#endif
  return sum + sum_one_by_one(input, exponentials, largest, count);
}
#endif

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

enum { kShortRow = 8 };  // elements for each row that is beside others

INTARSIA_INLINE void results_of(const int8_t *input, int8_t *output, const int32_t *exponentials,
                                int32_t largest, int32_t reciprocal, int32_t shift, int32_t count) {
  if (shift > 31) reciprocal = 0, shift = 31;  // below one half
  __asm__ volatile(
      "vdup.32 q3, %[largest]\n"
      "vmov.i32 q4, #255\n"
      "dlstp.32 lr, %[count]\n"
      "1: vldrb.s32 q0, [%[input]], #4\n"
      "vsub.i32 q1, q3, q0\n"
      "vldrw.u32 q2, [%[exponentials], q1, uxtw #2]\n"
      "vqrdmulh.s32 q2, q2, %[reciprocal]\n"
      "vrshl.u32 q2, %[shift]\n"
      "vmin.u32 q2, q2, q4\n"
      "vsub.i32 q2, q2, %[middle]\n"
      "vstrb.32 q2, [%[output]], #4\n"
      "letp lr, 1b\n"
      : [input] "+l"(input), [output] "+l"(output)
      : [exponentials] "r"(exponentials), [largest] "r"(largest), [count] "r"(count),
        [reciprocal] "r"(reciprocal), [shift] "r"(-shift), [middle] "r"(128)
      : "q0", "q1", "q2", "q3", "q4", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
}
#else
#if INTARSIA_BY_WORDS
// Two elements at a time. Both roundings are one addend of the 64-bit product: as the first one only cuts bits off that the second one has no
// use for, they add up. 1 < shift < 32, count > 1. Returns how many are done.
INTARSIA_INLINE int32_t results_by_twos(const int8_t *input, int8_t *output,
                                        const int32_t *exponentials, int32_t largest,
                                        int32_t reciprocal, int32_t shift, int32_t count) {
  int32_t twos = count / 2;
  uint32_t first, second, low, high;
#define SCALED(value)               \
  "mov.w %[low], %[low_half]\n"     \
  "mov.w %[high], %[high_half]\n"   \
  "umlal %[low], %[high], %[" value \
  "], %[reciprocal]\n"              \
  "lsr.w %[" value "], %[high], %[shift]\n"
#define TO_BYTE(value) \
  "usat %[" value "], #8, %[" value "]\nsub.w %[" value "], %[" value "], #128\n"
  __asm__ volatile(
      ".balign 4\n"
      "1: ldrsb %[first], [%[input]], #2\n"
      "ldrsb %[second], [%[input], #-1]\n" AS_PLACE("first") AS_PLACE("second") LOOK_UP("first")
          LOOK_UP("second") SCALED("first") SCALED("second") TO_BYTE("first") TO_BYTE("second")
      "strb %[first], [%[output]], #2\n"
      "subs.w %[twos], %[twos], #1\n"
      "strb %[second], [%[output], #-1]\n"
      "bne.w 1b\n"
      : [input] "+r"(input), [output] "+r"(output), [twos] "+r"(twos), [first] "=&r"(first),
        [second] "=&r"(second), [low] "=&r"(low), [high] "=&r"(high)
      : [exponentials] "r"(exponentials), [largest] "r"(largest), [reciprocal] "r"(reciprocal),
        [low_half] "r"(1 << 30), [high_half] "r"(1 << (shift - 2)), [shift] "r"(shift - 1)
      : "cc", "memory");
  return count & ~1;
}
#endif

INTARSIA_INLINE void results_of(const int8_t *input, int8_t *output, const int32_t *exponentials,
                                int32_t largest, int32_t reciprocal, int32_t shift, int32_t count) {
  const uint32_t half = shift > 31 ? 0 : 1u << (shift - 1);
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t product =
        (uint32_t)intarsia_mul_q31(reciprocal, exponentials[largest - input[i]]);
    const uint32_t result = shift > 31 ? 0 : (product + half) >> shift;  // beyond: below one half
    output[i] = (int8_t)((int32_t)(result > 255 ? 255 : result) - 128);
  }
}
#endif

#if INTARSIA_HAS_MVE
// As intarsia_reciprocal_of_one_plus_q31.
INTARSIA_INLINE int32x4_t reciprocals_of(int32x4_t x) {
  const int32x4_t d = vaddq_n_s32(vshrq_n_s32(x, 1), 1 << 30);
  int32x4_t r = vaddq_n_s32(vqrdmulhq_n_s32(d, -1010580540), 1515870810);
  for (int32_t step = 0; step < 3; ++step) {
    const int32x4_t error = vsubq_s32(vdupq_n_s32(1 << 29), vqrdmulhq_s32(d, r));
    r = vaddq_s32(r, vqshlq_n_s32(vqrdmulhq_s32(r, error), 2));
  }
  return vqshlq_n_s32(r, 1);
}

// Up to four rows, each in a lane: what happens once for a row is shared.
static void four_rows(const int8_t *input, int8_t *output, const int32_t *exponentials,
                      int32_t rows, int32_t count) {
  const mve_pred16_t some = vctp32q((uint32_t)rows);
  const uint32x4_t first = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)count);
  int32x4_t largest = vdupq_n_s32(-128);
  for (int32_t i = 0; i < count; ++i)
    largest = vmaxq_s32(largest, vldrbq_gather_offset_z_s32(input + i, first, some));
  uint32x4_t sum = vdupq_n_u32(0);
#define EXPONENTIALS(i)                                                              \
  vldrwq_gather_shifted_offset_z_s32(                                                \
      exponentials,                                                                  \
      vreinterpretq_u32_s32(                                                         \
          vsubq_s32(largest, vldrbq_gather_offset_z_s32(input + (i), first, some))), \
      some)
  for (int32_t i = 0; i < count; ++i)
    sum =
        vaddq_u32(sum, vrshrq_n_u32(vreinterpretq_u32_s32(EXPONENTIALS(i)), kExponentialFraction));
  const int32x4_t zeros = vreinterpretq_s32_u32(vclzq_u32(sum));
  const int32x4_t reciprocal = reciprocals_of(
      vreinterpretq_s32_u32(vsubq_n_u32(vshlq_u32(sum, zeros), UINT32_C(0x80000000))));
  const int32x4_t shift = vsubq_n_s32(zeros, kExponentialFraction + kResult);
  for (int32_t i = 0; i < count; ++i) {
    const uint32x4_t product = vreinterpretq_u32_s32(vqrdmulhq_s32(EXPONENTIALS(i), reciprocal));
    const uint32x4_t result = vminq_u32(vrshlq_u32(product, shift), vdupq_n_u32(255));
    vstrbq_scatter_offset_p_s32(output + i, first, vsubq_n_s32(vreinterpretq_s32_u32(result), 128),
                                some);
  }
#undef EXPONENTIALS
}
#endif

// A sum is (1 + x) * 2^(31 - zeros) with x in Q0.31, and its reciprocal that of 1 + x, shifted.
INTARSIA_INLINE int32_t reciprocal_of(uint32_t sum) {
  const int32_t zeros = intarsia_leading_zeros(sum);
  return intarsia_reciprocal_of_one_plus_q31((int32_t)((sum << zeros) - UINT32_C(0x80000000)));
}

INTARSIA_INLINE int32_t shift_of(uint32_t sum) {
  return kExponentialFraction - intarsia_leading_zeros(sum) + kResult;
}

#if INTARSIA_BY_WORDS
// A row of fewer elements is sooner done one by one.
enum { kLongRow = 8 };

INTARSIA_OUTLINE void long_row(const int8_t *input, int8_t *output, const int32_t *exponentials,
                               int32_t count) {
  const int32_t largest = intarsia_largest_of(input, count);
  const uint32_t sum = intarsia_sum_of_exponentials(input, exponentials, largest, count);
  const int32_t reciprocal = reciprocal_of(sum), shift = shift_of(sum);
  int32_t done = 0;
  if (shift <= 31)
    done = results_by_twos(input, output, exponentials, largest, reciprocal, shift, count);
  results_of(input + done, output + done, exponentials, largest, reciprocal, shift, count - done);
}
#endif

void intarsia_softmax_table_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                               int32_t rows, int32_t count) {
  for (; rows > 0; --rows, input += count, output += count) {
#if INTARSIA_HAS_MVE
    const int32_t largest = intarsia_largest_of(input, count);
    const uint32_t sum = intarsia_sum_of_exponentials(input, exponentials, largest, count);
#else
    const int32_t largest = largest_one_by_one(input, count);
    const uint32_t sum = sum_one_by_one(input, exponentials, largest, count);
#endif
    results_of(input, output, exponentials, largest, reciprocal_of(sum), shift_of(sum), count);
  }
}

void intarsia_softmax_rows_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                              int32_t rows, int32_t count) {
#if INTARSIA_HAS_MVE
  // Longer rows are sooner done alone.
  for (; rows > 1 && count <= kShortRow * (rows < 4 ? rows : 4); rows -= 4) {
    four_rows(input, output, exponentials, rows, count);
    input += 4 * count, output += 4 * count;
  }
#elif INTARSIA_BY_WORDS
  if (count >= kLongRow) {
    for (; rows > 0; --rows, input += count, output += count)
      long_row(input, output, exponentials, count);
    return;
  }
#endif
  intarsia_softmax_table_s8(input, output, exponentials, rows, count);
}
