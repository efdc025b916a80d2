// Convolution on cores with Helium whose runs are short (mve_conv.h): up to four steps of sixteen bytes. The weights of the
// first step stay in q0 to q3 for a whole row of pixels, so that there is time to load those of the others for each pixel
// of its own. Four sums are enough then: those of the first pixel become results (mve_results.h) among the products of the
// second one.
#ifndef INTARSIA_CORTEX_M_MVE_SHORT_RUNS_H_
#define INTARSIA_CORTEX_M_MVE_SHORT_RUNS_H_

#include <stddef.h>

#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
// The assembly knows the layout.
struct short_runs {
  const int8_t *runs[2];
  int32_t step;   // from a pair to the next
  int32_t pairs;  // of pixels
  int8_t *outputs[2];
  int32_t out_step;
  int32_t channels;  // left
  const int8_t *weights;
  const int32_t *table;
};
_Static_assert(offsetof(struct short_runs, step) == 8 && offsetof(struct short_runs, pairs) == 12 &&
                   offsetof(struct short_runs, outputs) == 16 &&
                   offsetof(struct short_runs, out_step) == 24 &&
                   offsetof(struct short_runs, channels) == 28 &&
                   offsetof(struct short_runs, weights) == 32 &&
                   offsetof(struct short_runs, table) == 36,
               "the assembly's numbers");
enum {
  kMostShort = 4,
  kFewestPixels = 6
};  // steps; of a row, whose beginning takes as long as a pair of pixels

// Sums r0, r2, r4, r6; pixels by r8 and r10, results to r1 and r3, weights of the second step by r12. Channels take turns
// as 0, 2, 1, 3, so that pairs of sums are moved early. `a` to `d` are what lies behind the products.
#define FIRST_STEP(pixel, a, b, c, d)                                   \
  "vmladav.s8 r0, q0, " pixel "\n" a "vmladav.s8 r4, q2, " pixel "\n" b \
  "vmladav.s8 r2, q1, " pixel "\n" c "vmladav.s8 r6, q3, " pixel "\n" d
#define PRODUCTS(sum, weights, pixel) "vmladava.s8 " sum ", " weights ", " pixel "\n"
#define OTHER_STEP(pixel, even, odd, a, b, c, d)           \
  PRODUCTS("r0", even, pixel) a PRODUCTS("r4", odd, pixel) \
  b PRODUCTS("r2", even, pixel)                            \
  c PRODUCTS("r6", odd, pixel) d
#define WEIGHTS(at, to) "vldrb.8 " to ", [r12, #" at "]\n"
#define PIXEL(run, at, to) "vldrb.8 " to ", [" run ", #" at "]\n"
#define SUMS_02 "vmov q6[2], q6[0], r0, r4\n"
#define SUMS_13 "vmov q6[3], q6[1], r2, r6\n"
#define BIASES "vldrw.32 q4, [r7]\n"
#define BIASED "vadd.i32 q6, q6, q4\n"
#define ONE_STEP                                                                                 \
  PIXEL("r8", "0", "q4")                                                                         \
  FIRST_STEP("q4", "add r8, r8, r12\n", PIXEL("r10", "0", "q5"), "add r10, r10, r12\n", SUMS_02) \
  FIRST_STEP("q5", SUMS_13, BIASES, "", BIASED)
#define TWO_STEPS                                                                                 \
  PIXEL("r8", "0", "q4")                                                                          \
  FIRST_STEP("q4", WEIGHTS("-96", "q5"), WEIGHTS("-64", "q7"), "", PIXEL("r8", "16", "q4"))       \
  OTHER_STEP("q4", "q5", "q7", WEIGHTS("-80", "q5"), WEIGHTS("-48", "q7"),                        \
             PIXEL("r10", "0", "q5"), SUMS_02)                                                    \
  FIRST_STEP("q5", SUMS_13, WEIGHTS("-96", "q4"), WEIGHTS("-64", "q7"), PIXEL("r10", "16", "q5")) \
  OTHER_STEP("q5", "q4", "q7", WEIGHTS("-80", "q4"), WEIGHTS("-48", "q7"), BIASES, BIASED)
// Of the second step of more, and of further ones.
#define SECOND_STEP(run, pixel, even)                                                             \
  OTHER_STEP(pixel, even, "q7", WEIGHTS("-80", even), WEIGHTS("-48", "q7"), WEIGHTS("-32", even), \
             PIXEL(run, "32", pixel))
#define THIRD_STEP(pixel, even, then) \
  OTHER_STEP(pixel, even, "q7", WEIGHTS("0", "q7"), WEIGHTS("-16", even), WEIGHTS("16", "q7"), then)
#define FOURTH_STEP(pixel, even, then) \
  OTHER_STEP(pixel, even, "q7", WEIGHTS("64", "q7"), WEIGHTS("48", even), WEIGHTS("80", "q7"), then)
#define TWO_OF_MORE_STEPS_A                                                                 \
  PIXEL("r8", "0", "q4")                                                                    \
  FIRST_STEP("q4", WEIGHTS("-96", "q5"), WEIGHTS("-64", "q7"), "", PIXEL("r8", "16", "q4")) \
  SECOND_STEP("r8", "q4", "q5")
#define TWO_OF_MORE_STEPS_B                                                                       \
  FIRST_STEP("q5", SUMS_13, WEIGHTS("-96", "q4"), WEIGHTS("-64", "q7"), PIXEL("r10", "16", "q5")) \
  SECOND_STEP("r10", "q5", "q4")
#define THREE_STEPS                                                           \
  TWO_OF_MORE_STEPS_A THIRD_STEP("q4", "q5", PIXEL("r10", "0", "q5") SUMS_02) \
      TWO_OF_MORE_STEPS_B THIRD_STEP("q5", "q4", BIASES BIASED)
#define FOUR_STEPS                                                                                 \
  TWO_OF_MORE_STEPS_A THIRD_STEP("q4", "q5", PIXEL("r8", "48", "q4") WEIGHTS("32", "q5"))          \
      FOURTH_STEP("q4", "q5", PIXEL("r10", "0", "q5") SUMS_02)                                     \
          TWO_OF_MORE_STEPS_B THIRD_STEP("q5", "q4", PIXEL("r10", "48", "q5") WEIGHTS("32", "q4")) \
              FOURTH_STEP("q5", "q4", BIASES BIASED)
// Where r12 is the step already, and where it points to weights.
#define BY_STEP "ldr r12, [r11, #8]\n"
#define BY_WEIGHTS "add r12, r6, #160\n"
#define GONE ""
#define STEP_LOADED "ldr r0, [r11, #8]\n"
#define FIRST_ON "add r8, r8, r0\n"
#define SECOND_ON "add r10, r10, r0\n"

#define SHORT_RUNS(bytes, start, products, load, first_on, second_on, sign_a, minus_a, sign_b,   \
                   minus_b)                                                                      \
  __asm__ volatile(INTARSIA_SAVE_R7                                                              \
                   "ldr r7, [r11, #36]\n" /* Four channels. */                                   \
                   "1: ldrd r4, r6, [r11, #28]\n"                                                \
                   "ldr r2, [r11, #12]\n"                                                        \
                   "vldrb.8 q0, [r6]\n" start                                                    \
                   "vldrb.8 q1, [r6, #16]\n"                                                     \
                   "ldrd r8, r10, [r11]\n"                                                       \
                   "vldrb.8 q2, [r6, #32]\n"                                                     \
                   "vctp.32 r4\n"                                                                \
                   "vldrb.8 q3, [r6, #48]\n"                                                     \
                   "subs r4, r4, #4\n"                                                           \
                   "add r6, r6, #" bytes                                                         \
                   "\n"                                                                          \
                   "strd r4, r6, [r11, #28]\n"                                                   \
                   "dls lr, r2\n"                                                                \
                   "ldrd r0, r2, [r11, #16]\n"                                                   \
                   "ldr r5, [r11, #24]\n"                                                        \
                   "add r4, r0, #4\n"                                                            \
                   "add r6, r2, #4\n"                                                            \
                   "strd r4, r6, [r11, #16]\n"                                                   \
                   "sub r1, r0, r5\n"                                                            \
                   "sub r3, r2, r5\n" /* A pair of pixels. */                                    \
                   "2:\n" products                                                               \
                   "vldrw.32 q5, [r7, #16]\n"                                                    \
                   "vqrdmulh.s32 q6, q6, q5\n"                                                   \
                   "vmov q7[2], q7[0], r0, r4\n"                                                 \
                   "vmov q7[3], q7[1], r2, r6\n" load "vadd.i32 q7, q7, q4\n" sign_a             \
                   "vqrdmulh.s32 q7, q7, q5\n" minus_a "vldrw.32 q4, [r7, #32]\n" sign_b         \
                   "add r1, r1, r5\n"                                                            \
                   "vadd.i32 q6, q6, q4\n" minus_b                                               \
                   "vldrw.32 q5, [r7, #48]\n"                                                    \
                   "vadd.i32 q7, q7, q4\n" first_on                                              \
                   "vqshl.s32 q6, q6, q5\n"                                                      \
                   "add r3, r3, r5\n"                                                            \
                   "vqshl.s32 q7, q7, q5\n" second_on                                            \
                   "vshr.s32 q6, q6, #24\n"                                                      \
                   "vpst\n"                                                                      \
                   "vstrbt.32 q6, [r1]\n"                                                        \
                   "vshr.s32 q7, q7, #24\n"                                                      \
                   "vpst\n"                                                                      \
                   "vstrbt.32 q7, [r3]\n"                                                        \
                   "le lr, 2b\n"                                                                 \
                   "ldr r4, [r11, #28]\n"                                                        \
                   "add r7, r7, #64\n"                                                           \
                   "cmp r4, #0\n"                                                                \
                   "bgt.w 1b\n" INTARSIA_RESTORE_R7                                              \
                   : "+r"(r)                                                                     \
                   :                                                                             \
                   : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", \
                     "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6",                      \
                     "q7" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory")
#define RECTIFIED(bytes, start, products, load, first_on, second_on) \
  SHORT_RUNS(bytes, start, products, load, first_on, second_on, "", "", "", "")
#define ROUNDED(bytes, start, products, load, first_on, second_on)                        \
  SHORT_RUNS(bytes, start, products, load, first_on, second_on, "vshr.s32 q4, q6, #31\n", \
             "vadd.i32 q6, q6, q4\n", "vshr.s32 q5, q7, #31\n", "vadd.i32 q7, q7, q5\n")
#define SHORT_FUNCTION(name, ...)                        \
  INTARSIA_OUTLINE void name(struct short_runs *runs) {  \
    register struct short_runs *r __asm__("r11") = runs; \
    __VA_ARGS__;                                         \
  }
SHORT_FUNCTION(one_step_rectified, RECTIFIED("64", BY_STEP, ONE_STEP, GONE, GONE, GONE))
SHORT_FUNCTION(one_step, ROUNDED("64", BY_STEP, ONE_STEP, GONE, GONE, GONE))
SHORT_FUNCTION(two_steps_rectified,
               RECTIFIED("128", BY_WEIGHTS, TWO_STEPS, STEP_LOADED, FIRST_ON, SECOND_ON))
SHORT_FUNCTION(two_steps, ROUNDED("128", BY_WEIGHTS, TWO_STEPS, STEP_LOADED, FIRST_ON, SECOND_ON))
SHORT_FUNCTION(three_steps_rectified,
               RECTIFIED("192", BY_WEIGHTS, THREE_STEPS, STEP_LOADED, FIRST_ON, SECOND_ON))
SHORT_FUNCTION(three_steps,
               ROUNDED("192", BY_WEIGHTS, THREE_STEPS, STEP_LOADED, FIRST_ON, SECOND_ON))
SHORT_FUNCTION(four_steps_rectified,
               RECTIFIED("256", BY_WEIGHTS, FOUR_STEPS, STEP_LOADED, FIRST_ON, SECOND_ON))
SHORT_FUNCTION(four_steps, ROUNDED("256", BY_WEIGHTS, FOUR_STEPS, STEP_LOADED, FIRST_ON, SECOND_ON))
#undef FIRST_STEP
#undef PRODUCTS
#undef OTHER_STEP
#undef WEIGHTS
#undef PIXEL
#undef SUMS_02
#undef SUMS_13
#undef BIASES
#undef BIASED
#undef ONE_STEP
#undef TWO_STEPS
#undef SECOND_STEP
#undef THIRD_STEP
#undef FOURTH_STEP
#undef TWO_OF_MORE_STEPS_A
#undef TWO_OF_MORE_STEPS_B
#undef THREE_STEPS
#undef FOUR_STEPS
#undef BY_STEP
#undef BY_WEIGHTS
#undef GONE
#undef STEP_LOADED
#undef FIRST_ON
#undef SECOND_ON
#undef SHORT_RUNS
#undef RECTIFIED
#undef ROUNDED
#undef SHORT_FUNCTION

INTARSIA_INLINE void intarsia_short_runs(struct short_runs *runs, int32_t steps, bool general) {
  if (steps == 1) {
    if (general)
      one_step(runs);
    else
      one_step_rectified(runs);
  } else if (steps == 2) {
    if (general)
      two_steps(runs);
    else
      two_steps_rectified(runs);
  } else if (steps == 3) {
    if (general)
      three_steps(runs);
    else
      three_steps_rectified(runs);
  } else {
    if (general)
      four_steps(runs);
    else
      four_steps_rectified(runs);
  }
}
#endif

#endif  // INTARSIA_CORTEX_M_MVE_SHORT_RUNS_H_
